"""Single ops on many random inputs: the kernel pack against TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import run
from tests.tensorflow.checking import difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

    from tests.tensorflow.process import TensorFlow


@dataclass(frozen=True)
class Case:
    """One call of an op.

    Attributes:
        inputs: Its inputs by name, in the op's order.
        attributes: Its attributes.
        constants: The positions of the inputs that are constants of the model.
    """

    inputs: dict[str, npt.NDArray[Any]]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    constants: tuple[int, ...] = ()

    def __str__(self) -> str:
        shown = {name: value if value.size < 10 else (value.dtype, value.shape) for name, value in self.inputs.items()}
        return f"{shown} {self.attributes} constants {self.constants}"


def draw(cases: SearchStrategy[Case], count: int = 80) -> list[Case]:
    """The same ``count`` or fewer different cases in every run, to be sent to TensorFlow in one call."""
    drawn: list[Case] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases)
    def collect(case: Case) -> None:
        drawn.append(case)

    collect()
    return drawn


def numbers(shape: Sequence[int], dtype: npt.DTypeLike, seed: int, *, low: int = -20, high: int = 20) -> Any:
    """Random numbers of any dtype; complex ones have both parts, unsigned ones wrap around."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        values: Any = random.uniform(low, high, shape) + 1j * random.uniform(low, high, shape)
    elif dtype.kind in "iub":
        values = random.integers(low, high, shape)
    else:
        values = random.uniform(low, high, shape)
    return values.astype(dtype)


def evaluate(tf: Any, op: str, cases: Sequence[Case]) -> list[npt.NDArray[Any] | None]:
    """What TensorFlow gives for each case; None where it refuses."""
    results: list[npt.NDArray[Any] | None] = []
    for case in cases:
        inputs = {name: tf.convert_to_tensor(value) for name, value in case.inputs.items()}
        try:
            results.append(getattr(tf.raw_ops, op)(**inputs, **case.attributes).numpy())
        except tf.errors.InvalidArgumentError:
            results.append(None)
    return results


def check_cases(
    tensorflow: TensorFlow,
    op: str,
    cases: Sequence[Case],
    *,
    form: str,
    tolerances: dict[str, float] | None = None,
) -> int:
    """Runs the cases in TensorFlow and with the kernel; both must refuse, or give the same.

    Args:
        tensorflow: The process that has TensorFlow.
        op: The op.
        cases: Its inputs.
        form: The form of the kernel.
        tolerances: By the output's dtype, the error that is allowed relative to the largest absolute value; other
            dtypes must be equal.

    Returns:
        How many cases were refused.
    """
    refused = 0
    for case, expected in zip(cases, tensorflow.call(evaluate, op, cases), strict=True):
        inputs = list(case.inputs.values())
        if expected is None:
            refused += 1
            with pytest.raises(KernelError):
                run(op, inputs, [inputs[0].dtype], case.attributes, form=form, constants=case.constants)
            continue
        (actual,) = run(op, inputs, [expected.dtype], case.attributes, form=form, constants=case.constants)
        problem = difference(actual, expected, rtol=(tolerances or {}).get(expected.dtype.name, 0.0))
        assert not problem, f"{op} {case}: {problem}"
    return refused
