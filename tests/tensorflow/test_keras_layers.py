"""Every layer of Keras 3 that infers: with an open batch, and builtin ops only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check
from tests.tensorflow.keras_layers import GROUPS, INPUTS, build

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def inputs(group: str) -> list[dict[str, npt.NDArray[Any]]]:
    """Batches of 1 and 3, and other sizes where they are open."""
    random = np.random.default_rng(7)

    def value(shape: tuple[int | None, ...], dtype: str, batch: int, size: int) -> npt.NDArray[Any]:
        known = (batch, *(size if each is None else each for each in shape))
        if dtype == "string":
            return random.choice(np.array([b"a", b"b", b"x"], object), known)
        if dtype == "int32":
            return random.integers(0, 20, known).astype(np.int32)
        return (random.uniform(0, 1, known) if "images" in group else random.standard_normal(known)).astype(np.float32)

    return [
        {f"x{number}": value(shape, dtype, batch, size) for number, (shape, dtype) in enumerate(INPUTS[group])}
        for batch, size in ((1, 12), (3, 12), (2, 15))
    ]


@pytest.mark.parametrize("group", GROUPS)
def test_layers(tensorflow: TensorFlow, group: str) -> None:
    check(tensorflow, tensorflow.save(build, group), inputs(group))


@pytest.mark.parametrize(
    ("policy", "group"),
    [
        *(("mixed_float16", group) for group in ("vectors", "images", "two")),
        *(("mixed_bfloat16", group) for group in ("vectors", "sequences", "films")),
    ],
)
def test_layers_of_mixed_precision(tensorflow: TensorFlow, policy: str, group: str) -> None:
    """litefuse rounds once where TensorFlow does after every op: they agree in all but the last two or three bits."""
    tolerance = 2**-8 if policy == "mixed_float16" else 2**-5
    check(tensorflow, tensorflow.save(build, group, policy), inputs(group), rtol=tolerance)
