"""Cross, Cumprod, Erf, LinSpace, Roll and UnravelIndex, in both forms."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import FORMS, run

pytestmark = pytest.mark.parametrize("form", FORMS)

FLOATS: list[Any] = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def int32(value: Any) -> Any:
    return np.array(value, np.int32)


def test_cross(form: str) -> None:
    a, b = np.array([[1, 2, 3], [1, 0, 0]], np.uint8), np.array([[3, 2, 1], [0, 1, 0]], np.uint8)

    (product,) = run("Cross", [a, b], [np.uint8], form=form)

    assert product.tolist() == [[252, 8, 252], [0, 0, 1]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([np.ones((2, 3)), np.ones(3)], "a and b must be alike"),
        ([np.ones((2, 2)), np.ones((2, 2))], "vectors of three elements"),
        ([np.array(1.0), np.array(1.0)], "vectors of three elements"),
        ([np.ones(3), np.ones(3, np.float32)], "float64.*float32|float32.*float64"),
        ([np.ones(3, bool), np.ones(3, bool)], "a must be of real numbers, not bool"),
    ],
)
def test_wrong_vectors(form: str, inputs: list[Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("Cross", inputs, [inputs[0].dtype], form=form)


@pytest.mark.parametrize(
    ("exclusive", "reverse", "expected"),
    [
        (False, False, [1, 2, 6, 4, 20, 120]),
        (True, False, [1, 1, 2, 1, 4, 20]),
        (False, True, [6, 6, 3, 120, 30, 6]),
        (True, True, [6, 3, 1, 30, 6, 1]),
    ],
)
def test_cumprod(form: str, exclusive: bool, reverse: bool, expected: list[float]) -> None:
    options = {"exclusive": exclusive, "reverse": reverse}

    (products,) = run("Cumprod", [X, int32(-1)], [np.float32], options, form=form)

    assert products.ravel().tolist() == expected


def test_integers_wrap_around(form: str) -> None:
    (products,) = run("Cumprod", [np.full(6, 3, np.int8), int32(0)], [np.int8], form=form)

    assert products.tolist() == [3, 9, 27, 81, -13, -39]


@pytest.mark.parametrize(
    ("x", "axis", "message"),
    [
        (X, int32(2), "axis must be from -2 to 1 .*, not 2"),
        (X, int32(-3), "axis must be from -2 to 1 .*, not -3"),
        (np.float32(1), int32(0), "axis must be from"),
        (X, int32([0]), "axis must be a scalar"),
        (X, np.array(0, np.int16), "axis .*of .*int16"),
        (np.ones(2, bool), int32(0), "x must be of .*numbers, not bool"),
    ],
)
def test_wrong_axes(form: str, x: Any, axis: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("Cumprod", [x, axis], [x.dtype], form=form)


@pytest.mark.parametrize("dtype", FLOATS)
def test_erf(form: str, dtype: Any) -> None:
    x = np.linspace(-5, 5, 41).astype(dtype).reshape(1, 41)

    (result,) = run("Erf", [x], [dtype], form=form)

    expected = np.array([[math.erf(value) for value in x[0].astype(np.float64).tolist()]]).astype(dtype)
    error = np.abs(result.astype(np.float64) - expected.astype(np.float64)).max()
    assert error <= (1e-7 if dtype == np.float32 else 2e-16)


def test_erf_of_integers(form: str) -> None:
    with pytest.raises(KernelError, match=r"x .*of .*int32"):
        run("Erf", [int32([1])], [np.int32], form=form)


@pytest.mark.parametrize("constants", [[], [2]])
@pytest.mark.parametrize("dtype", FLOATS)
def test_lin_space(form: str, dtype: Any, constants: list[int]) -> None:
    def lin_space(num: int) -> list[float]:
        inputs = [np.array(1, dtype), np.array(2.5, dtype), int32(num)]
        return run("LinSpace", inputs, [dtype], form=form, constants=constants)[0].tolist()

    assert lin_space(4) == [1, 1.5, 2, 2.5]
    assert lin_space(1) == [1]
    assert lin_space(2) == [1, 2.5]


def test_the_last_number_is_exactly_stop(form: str) -> None:
    inputs = [np.float32(0.1), np.float32(7.3), int32(50)]

    (numbers,) = run("LinSpace", inputs, [np.float32], form=form)

    assert (numbers[0], numbers[-1]) == (np.float32(0.1), np.float32(7.3))
    np.testing.assert_allclose(numbers, np.linspace(0.1, 7.3, 50), rtol=1e-6)


@pytest.mark.parametrize("constants", [[], [2]])
def test_wrong_ends(form: str, constants: list[int]) -> None:
    one = np.float32(1)
    for inputs, message in [
        ([one, one, int32(0)], "num must be positive.*, not 0"),
        ([one, one, int32([3])], "num must be a scalar"),
        ([np.ones(1, np.float32), one, int32(3)], "start must be a .*scalar"),
        ([one, np.ones(1, np.float32), int32(3)], "stop must be a scalar"),
    ]:
        with pytest.raises(KernelError, match=message):
            run("LinSpace", inputs, [np.float32], form=form, constants=constants)


@pytest.mark.parametrize(
    ("shift", "axis", "expected"),
    [
        (1, 1, [3, 1, 2, 6, 4, 5]),
        ([-1, 1], [1, 0], [5, 6, 4, 2, 3, 1]),
        ([1, 1], [1, -1], [2, 3, 1, 5, 6, 4]),
        ([-7], [-2], [4, 5, 6, 1, 2, 3]),
        ([], [], [1, 2, 3, 4, 5, 6]),
    ],
)
def test_roll(form: str, shift: Any, axis: Any, expected: list[float]) -> None:
    (rolled,) = run("Roll", [X, int32(shift), int32(axis)], [np.float32], form=form)

    assert rolled.ravel().tolist() == expected


@pytest.mark.parametrize(
    ("values", "shift", "axis", "message"),
    [
        (X, [1], [2], r"axis must be from -2 to 1 .*2"),
        (X, [1, 2], [1], "shift and axis must have the same shape"),
        (X, [1], 1, "shift and axis must have the same shape"),
        (X, [[1]], [[1]], "shift .*must be .*n"),
        (np.float32(1), [0], [0], "input must be of rank 1 or more"),
    ],
)
def test_wrong_rolls(form: str, values: Any, shift: Any, axis: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("Roll", [values, int32(shift), int32(axis)], [np.float32], form=form)


@pytest.mark.parametrize("shape", [(2, 3), (6,), (0, 3)])
def test_strings(form: str, shape: tuple[int, ...]) -> None:
    values = np.array([b"a", b"", b"\0c\0", "ü".encode(), b"long" * 100, b"f"], object)[: math.prod(shape)]

    (rolled,) = run("Roll", [values.reshape(shape), int32([1]), int32([-1])], [object], form=form)

    assert rolled.tolist() == np.roll(values.reshape(shape), 1, -1).tolist()


def test_unravel_index(form: str) -> None:
    def unravel(indices: Any, dims: Any) -> Any:
        return run("UnravelIndex", [int32(indices), int32(dims)], [np.int32], form=form)[0].tolist()

    assert unravel([2, 5, 7], [3, 3]) == [[0, 1, 2], [2, 2, 1]]
    assert unravel(5, [3, 3]) == [1, 2]
    assert unravel([], [3, 3]) == [[], []]
    assert unravel([0], []) == []


@pytest.mark.parametrize(
    ("indices", "dims", "message"),
    [
        ([9], [3, 3], "indices must be from 0 to 8"),
        ([0, -1], [3, 3], "indices must be from 0 to 8"),
        ([0], [3, 0], "dims must be positive"),
        ([0], [-1], "dims must be positive"),
        ([1], [65536, 65536], "product that is too large for int32"),
        ([[1]], [3, 3], "indices must be"),
        ([1], 3, "dims"),
    ],
)
def test_wrong_indices(form: str, indices: Any, dims: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("UnravelIndex", [int32(indices), int32(dims)], [np.int32], form=form)
