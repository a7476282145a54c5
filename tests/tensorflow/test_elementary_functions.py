"""Rewritten functions against their definitions in float64: relative errors, where digits are easily lost."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import run_calls
from tests.tensorflow.converted_ops import ops

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

COUNT = 400
TINY = np.geomspace(1e-30, 1.0, COUNT // 2)
AROUND_ZERO = np.concatenate([-TINY[::-1], TINY])
LARGE = np.concatenate([-np.geomspace(1e-6, 1e30, COUNT // 2)[::-1], np.geomspace(1e-6, 1e30, COUNT // 2)])


def vectorized(function: Callable[[float], float]) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    return lambda values: np.array([function(float(value)) for value in values])


FUNCTIONS: list[tuple[str, npt.NDArray[Any], Callable[[npt.NDArray[Any]], npt.NDArray[Any]], float]] = [
    ("Log1p", AROUND_ZERO * 0.99, np.log1p, 1e-6),
    ("Log1p", np.abs(LARGE), np.log1p, 1e-6),
    ("Expm1", AROUND_ZERO, np.expm1, 1e-6),
    ("Expm1", np.linspace(-30, 80, COUNT), np.expm1, 1e-5),
    ("Asinh", AROUND_ZERO, np.arcsinh, 2e-6),
    ("Asinh", LARGE, np.arcsinh, 2e-6),
    ("Acosh", 1 + np.geomspace(1e-7, 1e30, COUNT), np.arccosh, 2e-6),
    ("Atanh", AROUND_ZERO * 0.999, np.arctanh, 2e-6),
    ("Sinh", AROUND_ZERO, np.sinh, 1e-6),
    ("Sinh", np.linspace(-89, 89, COUNT), np.sinh, 1e-5),
    ("Cosh", np.linspace(-89, 89, COUNT), np.cosh, 1e-5),
    ("Asin", AROUND_ZERO, np.arcsin, 1e-6),
    ("Atan", LARGE, np.arctan, 1e-6),
    ("Erfc", np.linspace(-5, 3, COUNT), vectorized(math.erfc), 2e-6),
    ("Erfc", np.linspace(3, 9, COUNT), vectorized(math.erfc), 1e-5),
    ("Ndtri", np.geomspace(1e-37, 0.4, COUNT), vectorized(NormalDist().inv_cdf), 2e-6),
    ("Ndtri", 1 - np.geomspace(1e-6, 0.4, COUNT), vectorized(NormalDist().inv_cdf), 2e-6),
    ("Lgamma", np.geomspace(0.01, 1e6, COUNT), vectorized(math.lgamma), 0.0),
]


@pytest.fixture(scope="module")
def model(tensorflow: TensorFlow) -> bytes:
    path = tensorflow.save(ops, [(name, [((len(values),), "float32")], {}) for name, values, _, _ in FUNCTIONS])
    return litefuse.convert(path, allow_custom_ops="never").model_bytes


@pytest.mark.parametrize("number", range(len(FUNCTIONS)), ids=[f"{name}-{n}" for n, (name, *_) in enumerate(FUNCTIONS)])
def test_precision(model: bytes, number: int) -> None:
    name, points, definition, relative = FUNCTIONS[number]
    values = points.astype(np.float32)
    expected = definition(values.astype(np.float64))
    (answer,) = run_calls(model, [(f"c{number}", {"x0": values})])
    actual = answer["y0"].astype(np.float64)
    # The logarithm of the gamma function has zeros: there, 5e-6 of 1 counts.
    size = np.abs(expected) if relative else np.maximum(np.abs(expected), 1.0)
    limit = relative or 5e-6
    # Results that float32 cannot hold in full precision do not count.
    counted = (size > 1.2e-38) & (size < 3.4e38)
    error = np.abs(actual - expected)[counted] / size[counted]
    assert counted.sum() > 50
    worst = int(np.argmax(error))
    assert error[worst] <= limit, f"{name}({values[counted][worst]}): {error[worst]:.3g}"


def test_ends_of_domains(tensorflow: TensorFlow) -> None:
    points = {
        "Acos": [-1, 1, 1.5],
        "Acosh": [1, 0.5, -1, -5],
        "Atanh": [1, -1, 2],
        "Erfinv": [1, -1, 2],
        "Log1p": [-1, -2],
        "Ndtri": [0, 1, 2],
    }
    path = tensorflow.save(ops, [(name, [((len(values),), "float32")], {}) for name, values in points.items()])
    calls = [(f"c{n}", {"x0": np.array(values, np.float32)}) for n, values in enumerate(points.values())]
    expected = tensorflow.run_calls(path, calls)
    actual = run_calls(litefuse.convert(path, allow_custom_ops="never").model_bytes, calls)
    for name, ours, theirs in zip(points, actual, expected, strict=True):
        assert np.array_equal(ours["y0"].astype(np.float32), theirs["y0"], equal_nan=True) or np.allclose(
            ours["y0"], theirs["y0"], rtol=1e-6, atol=1e-7, equal_nan=True
        ), (name, ours, theirs)
