"""Which inputs are tried until a model takes them."""

from __future__ import annotations

import numpy as np
import pytest

from litefuse.litert.inputs.drawer import LEVELS
from litefuse.litert.runtime.model_reader import Tensor
from litefuse.tools.benchmarking.jobs import ModelJob
from litefuse.tools.benchmarking.subject import _tried_inputs  # pyright: ignore[reportPrivateUsage]

REAL, NUMBERS, TEXTS = (np.dtype(kind) for kind in ("float32", "int32", "object"))


@pytest.mark.parametrize(
    ("dtypes", "limits"),
    [
        ([REAL], LEVELS[:1]),
        ([NUMBERS], LEVELS),
        ([TEXTS], LEVELS),
        ([REAL, NUMBERS], LEVELS),
        ([NUMBERS, REAL], LEVELS),
    ],
)
def test_integers_are_bounded_beside_real_numbers(
    dtypes: list[np.dtype[np.generic]], limits: tuple[int | None]
) -> None:
    """A model with one input of ids takes only those within its tables, whatever the others are."""
    inputs = [Tensor(f"x{number}", dtype, (1, 3)) for number, dtype in enumerate(dtypes)]
    assert [limit for _, limit in _tried_inputs(inputs, ModelJob(b"", None))] == [*limits]
