"""Rewritings of arithmetic, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.passes.legalize.one_op import Constant, check, converted, normal

F = np.float32


def test_cross_products() -> None:
    a, b = normal(2, 4, 3)
    check("Cross", [a, b], np.cross(a, b), rtol=1e-5, atol=1e-6)


def test_the_angle_of_broadcast_numbers() -> None:
    y, x = normal(3, 1), normal(4)
    check("Atan2", [y, x], np.arctan2(y, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", ["DivNoNan", "MulNoNan", "Xdivy"])
def test_zeros_win(op: str) -> None:
    x, y = np.array([0, 1, 2, -3], F), np.array([0, 0, math.inf, 4], F)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = {
            "DivNoNan": np.where(y == 0, 0, x / y),
            "MulNoNan": np.where(y == 0, 0, x * y),
            "Xdivy": np.where(x == 0, 0, x / y),
        }
    check(op, [x, y], expected[op].astype(F), rtol=1e-6)


def test_infinities_are_found() -> None:
    x = np.array([0, math.inf, -math.inf, math.nan, 3e38], F)
    check("IsInf", [x], np.isinf(x))


def test_exponentials_near_0() -> None:
    x = np.array([0, 1e-20, -1e-7, 1e-3, 0.5, 3, -20], F)
    check("Expm1", [x], np.expm1(x), rtol=1e-6)
    check("Log1p", [x[:-1]], np.log1p(x[:-1]), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("op", ["FloorMod", "TruncateMod", "Mod"])
def test_remainders_of_the_smallest_number(op: str, dtype: str) -> None:
    x, y = np.array([np.iinfo(dtype).min, -7, 7], dtype), np.array([-1, -1, -2], dtype)
    model = converted(op, [x, y], [(dtype, 1)], dynamic=True)
    np.testing.assert_array_equal(model(x, y)[0], [0, 0, -1 if op == "FloorMod" else 1])


@pytest.mark.parametrize("op", ["TruncateDiv", "FloorDiv", "TruncateMod"])
def test_quotients_of_int64(op: str) -> None:
    x = np.array([7, -7, 2**40 + 1, -(2**40) - 1, -(2**63), 2**63 - 1, -(2**63), 2**62])
    y = np.array([2, 2, -3, 5, 3, -7, 2**62 + 1, -(2**63)])
    truncated = np.array(
        [-(-a // b) if (a < 0) != (b < 0) else a // b for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    )
    expected = {"TruncateDiv": truncated, "FloorDiv": x // y, "TruncateMod": x - truncated * y}
    check(op, [x, y], expected[op])


def test_powers_of_int64() -> None:
    x = np.array([3, -3, 0, 0, -1, -1, 1, 2, -2, 10, 7, 2**31 - 1])
    y = np.array([39, 39, 0, 128, 2**40 + 1, 2**40, 65, 62, 63, 18, 1, 2])
    check("Pow", [x, y], x**y)
    check("Pow", [x[:4, None], y[None, :3]], x[:4, None] ** y[None, :3])


def test_quotients_by_zero() -> None:
    x, y = np.array([7, -7, 1, -1, 0, 5], F), np.array([2, 2, 0, 0, 0, math.inf], F)
    check("FloorDiv", [x, y], np.array([3, -4, math.inf, -math.inf, math.nan, 0], F))


def test_bits() -> None:
    x, y = np.array([0b1100, -1, 7], np.int32), np.array([0b1010, 5, -8], np.int32)
    check("PopulationCount", [x], np.array([2, 32, 3], np.uint8))
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64):
        limits = np.iinfo(dtype)
        one = np.append(x.astype(dtype), np.array([limits.max, limits.min, limits.max], dtype))
        other = np.append(y.astype(dtype), np.array([limits.max, limits.min, limits.max - 1], dtype))
        check("BitwiseAnd", [one, other], one & other, dynamic=[False])
        check("BitwiseOr", [one, other], one | other, dynamic=[dtype == np.int32])


def test_the_discrete_fourier_transform() -> None:
    x = normal(2, 6)
    check("RFFT", [x, Constant(np.array([6], np.int32))], np.fft.rfft(x).astype(np.complex64), rtol=1e-4, atol=1e-5)


def test_running_products() -> None:
    x = normal(3, 5)
    expected = np.cumprod(x[:, ::-1], axis=1, dtype=F)[:, ::-1]
    check(
        "Cumprod",
        [x, Constant(1)],
        expected,
        form="composite",
        dynamic=[False],
        rtol=1e-5,
        attributes={"reverse": True},
    )
    check("Cumprod", [x, Constant(1)], expected, dynamic=[True], rtol=1e-5, attributes={"reverse": True})


@pytest.mark.parametrize("op", ["BesselI0", "BesselI1e", "BesselJ0", "BesselJ1"])
def test_bessel_functions(op: str) -> None:
    x = np.array([0, 1e-3, -0.7, 2.4048255, -2.9999, 3, 3.75, -12.5, 80], F)
    functions = {"BesselI0": special.i0, "BesselI1e": special.i1e, "BesselJ0": special.j0, "BesselJ1": special.j1}
    expected = functions[op](x.astype(np.float64))
    check(op, [x], expected.astype(F), rtol=1e-6, atol=3e-7)


def complex_numbers() -> Any:
    """Ordinary, large and tiny ones, and those at which functions are 0 or have a large part."""
    random = np.random.default_rng(1)
    scales = np.repeat([[1, 1], [20, 5], [1e-4, 1e-4]], [40, 20, 20], axis=0)
    parts = random.normal(size=scales.shape) * scales
    special_ones = [0, 1, -1, 1j, -1j, 60 + 1j, -60 + 1j, 1 + 60j, 1 - 60j]
    return np.concatenate([parts[:, 0] + 1j * parts[:, 1], special_ones]).astype(np.complex64)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Expm1": np.expm1,
    "Log1p": np.log1p,
    "Rsqrt": lambda z: 1 / np.sqrt(z),
    "Sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Tan": np.tan,
    "Tanh": np.tanh,
}


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_of_complex_numbers(op: str) -> None:
    numbers = complex_numbers()
    with np.errstate(all="ignore"):
        wide = FUNCTIONS[op](numbers.astype(np.complex128))
    usable = np.isfinite(wide) & (np.abs(wide) < 1e38)
    check(op, [numbers[usable]], wide[usable].astype(np.complex64), rtol=2e-5, atol=1e-9)


def test_powers_of_complex_numbers() -> None:
    numbers = complex_numbers()
    parts = np.random.default_rng(4).normal(size=(2, len(numbers)))
    exponents: Any = (parts[0] + 1j * parts[1]).astype(np.complex64)
    exponents[numbers == 0] = 2
    expected = np.power(numbers.astype(np.complex128), exponents).astype(np.complex64)
    check("Pow", [numbers, exponents], expected, rtol=1e-4)
    zero = np.zeros(3, np.complex64)
    check("Pow", [zero, np.array([0, 2, 0.5j + 1], np.complex64)], np.array([1, 0, 0], np.complex64))
    other = numbers[::-1].copy()
    check("SquaredDifference", [numbers, other], (np.abs(numbers - other) ** 2).astype(np.complex64), rtol=1e-5)


def test_conjugate_transposes() -> None:
    real = normal(2, 3, 4)
    for x in (real, (real + 1j * real[::-1]).astype(np.complex64)):
        order = Constant(np.array([2, 0, 1], np.int32))
        check("ConjugateTranspose", [x, order], np.conj(x).transpose(2, 0, 1))
