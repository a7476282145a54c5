# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of arithmetic, against numpy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from litefuse.errors import LitefuseError
from litefuse.ir.builder import Builder
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, maximum, minimum
from tests.passes.legalize.one_op import Constant, Static, check, converted, normal

F = np.float32


def test_cross_products() -> None:
    a, b = normal(2, 4, 3)
    check("Cross", [a, b], np.cross(a, b), rtol=1e-5, atol=1e-6)


def test_the_angle_of_broadcast_numbers() -> None:
    y, x = normal(3, 1), normal(4)
    check("Atan2", [y, x], np.arctan2(y, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", ["DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy"])
def test_zeros_win(op: str) -> None:
    x, y = np.array([[0], [1], [2], [-3]], F), np.array([0, 0.5, math.inf, -1, 4], F)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = {
            "DivNoNan": np.where(y == 0, 0, x / y),
            "MulNoNan": np.where(y == 0, 0, x * y),
            "Xdivy": np.where(x == 0, 0, x / y),
            "Xlog1py": np.where(x == 0, 0, x * np.log1p(y)),
            "Xlogy": np.where(x == 0, 0, x * np.log(y)),
        }
    check(op, [x, y], expected[op].astype(F), rtol=1e-6)
    check(op, [x, Constant(y)], expected[op].astype(F), rtol=1e-6, dynamic=[True])


def on_both_sides(last: float) -> Any:
    """Numbers of all sizes up to one, with 0."""
    sizes = np.geomspace(1e-6, last, 120)
    return np.concatenate([-sizes, [0], sizes, np.linspace(-last, last, 80)]).astype(F)


NEAR_ONE = 1 - np.geomspace(2**-24, 1, 150)
LARGE = np.geomspace(1, 1e30, 150)
REAL: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "Acos": (np.arccos, np.linspace(-1.1, 1, 121)),
    "Acosh": (np.arccosh, np.concatenate([[-2, 0.5], LARGE])),
    "Asin": (np.arcsin, np.linspace(-1, 1.1, 121)),
    "Asinh": (np.arcsinh, np.concatenate([-LARGE, on_both_sides(2)])),
    "Atan": (np.arctan, on_both_sides(1e6)),
    "Atanh": (np.arctanh, np.concatenate([-NEAR_ONE, NEAR_ONE, [1, -1, 0.5, -0.5]])),
    "Cosh": (np.cosh, on_both_sides(89)),
    "Digamma": (special.digamma, np.concatenate([np.linspace(0.4, 30, 90), [-0.25, -1.6, -2, -7.3]])),
    "Erf": (special.erf, on_both_sides(5)),
    "Erfc": (special.erfc, np.linspace(-4, 4, 161)),
    "Erfinv": (special.erfinv, np.concatenate([-NEAR_ONE, NEAR_ONE, [1, -1, 0]])),
    "Lgamma": (special.gammaln, np.concatenate([np.linspace(0.4, 40, 120), [-0.25, -1.6, -2, -7.3, 1e5]])),
    "Ndtri": (special.ndtri, np.concatenate([np.geomspace(1e-37, 0.5, 200), np.linspace(0, 1, 41)])),
    "Reciprocal": (lambda x: 1 / x, on_both_sides(1e6)[:, None]),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), np.concatenate([[0, math.inf, -1], np.geomspace(1e-30, 1e30)])),
    "Sinh": (np.sinh, on_both_sides(89)),
    "Softplus": (lambda x: np.logaddexp(0, x), np.linspace(-15, 100, 116)),
    "Tan": (np.tan, np.linspace(-1.5, 1.5, 101)),
}


@pytest.mark.parametrize("op", REAL)
def test_functions_of_real_numbers(op: str) -> None:
    function, numbers = REAL[op]
    x = np.asarray(numbers).astype(F)
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64))
        small = np.abs(expected) < 1 if op in {"Digamma", "Lgamma", "Softplus"} else False
        atol = np.where(small, 5e-6, 1e-30).max()  # these are exact beside 1
    check(op, [x], expected.astype(F), dynamic=[True], rtol=1e-5, atol=float(atol))


def test_powers_of_constant_exponents() -> None:
    x = np.array([0, 0.25, 1, 1.5, 300], F)
    for exponent in (-0.5, 0.5, 1, 2, 3, 4):
        with np.errstate(divide="ignore"):
            expected = x ** F(exponent)
        for shape in ((5,), (1, 1, 5, 1, 1)):  # LiteRT's op takes four dimensions
            operands = [x.reshape(shape), Constant(F(exponent))]
            form = "rewritten" if exponent < 0 or len(shape) > 4 else None
            check("Pow", operands, expected.reshape(shape), dynamic=[True], rtol=1e-6, form=form)


def test_neighbors_of_floats() -> None:
    numbers = np.array([0, -0.0, 1e-45, -1e-45, 1, -1, 3e38, math.inf, -math.inf, math.nan], F)
    x, y = numbers[:, None], numbers[None]
    check("NextAfter", [x, y], np.nextafter(x, y), dynamic=[True])


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_numbers_that_are_nearly_equal(dtype: str) -> None:
    x, y = np.array([1, -3, 8, 5], dtype), np.array([3, -4, 10, 5], dtype)
    check("ApproximateEqual", [x, y], [False, True, False, True], attributes={"tolerance": 2.0}, dynamic=[True])


def test_kinds_of_numbers() -> None:
    x = np.array([0, -1, math.inf, -math.inf, math.nan, 3.4028234e38, -3.4028234e38], F)
    for op, function in (("IsFinite", np.isfinite), ("IsInf", np.isinf), ("IsNan", np.isnan)):
        check(op, [x], function(x), dynamic=[True], form="rewritten" if op == "IsInf" else None)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_evenly_spaced_numbers(count: int) -> None:
    start, stop = np.array(0.3, F), np.array(-1.7, F)
    expected = np.linspace(start, stop, count, dtype=F)
    for number in (Constant(np.int32(count)), np.array(count, np.int64)):
        check("LinSpace", [start, stop, number], expected, rtol=1e-6, atol=1e-7, dynamic=[True])


def test_clipped_numbers() -> None:
    x = np.array([[-7, 3, 8], [6, 0, 7]])
    for dtype in (np.float32, np.int32, np.int64):
        low, high = (np.array(bound, dtype) for bound in (-1, 5))
        check("ClipByValue", [x.astype(dtype), low, high], np.clip(x, -1, 5).astype(dtype), dynamic=[True])
        check("ClipByValue", [x.astype(dtype), high, low], np.full_like(x, 5, dtype), dynamic=[True])
    for dtype in (np.int8, np.int32, np.int64):
        check("Relu6", [x.astype(dtype)], np.clip(x, 0, 6).astype(dtype), dynamic=[True])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_means_of_integers_are_truncated(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(max(limits.min, -300), min(limits.max, 300), (2, 1, 3, 1, 2, 1, 2), dtype)
    for axes, keep in (((2, -1), False), ((-3, 0, 2), True)):
        expected = np.trunc(x.mean(axes, keepdims=keep)).astype(dtype)
        check("Mean", [x, Constant(np.array(axes, np.int32))], expected, attributes={"keep_dims": keep})


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
    expected = np.array([3, -4, math.inf, -math.inf, math.nan, 0], F)
    check("FloorDiv", [x, y], expected)
    check("FloorDiv", [x, Constant(y)], expected, dynamic=[True])
    for op in ("Mod", "TruncateMod"):
        check(op, [x[:2], y[:2]], np.array([1, -1], F), dynamic=[True])


def test_bits() -> None:
    x, y = np.array([0b1100, -1, 7], np.int32), np.array([0b1010, 5, -8], np.int32)
    check("PopulationCount", [x], np.array([2, 32, 3], np.uint8))
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64):
        limits = np.iinfo(dtype)
        one = np.append(x.astype(dtype), np.array([limits.max, limits.min, limits.max], dtype))
        other = np.append(y.astype(dtype), np.array([limits.max, limits.min, limits.max - 1], dtype))
        check("BitwiseAnd", [one, other], one & other, dynamic=[False])
        check("BitwiseOr", [one, other], one | other, dynamic=[dtype == np.int32])


def complex_normal(*shape: int) -> Any:
    return (normal(2, *shape)[0] + 1j * normal(2, *shape)[1]).astype(np.complex64)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_fourier_transforms(rank: int, *, inverse: bool) -> None:
    x = complex_normal(2, 3, 4, 5)
    function = np.fft.ifftn if inverse else np.fft.fftn
    expected = function(x, axes=range(4 - rank, 4)).astype(np.complex64)
    check(f"{'I' if inverse else ''}FFT{f'{rank}D' if rank > 1 else ''}", [x], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", [(6,), (5,), (4, 6), (3, 5), (1, 1)])
def test_fourier_transforms_of_real_numbers(lengths: tuple[int, ...]) -> None:
    axes, suffix = range(3 - len(lengths), 3), "2D" if len(lengths) == 2 else ""
    x, y = normal(2, 4, 6), complex_normal(2, 4, 6)
    forward = np.fft.rfftn(x, lengths, axes).astype(np.complex64)
    back = np.fft.irfftn(y, lengths, axes).astype(F)
    numbers = np.array(lengths, np.int32)
    for given in (Constant(numbers), Static(numbers)):
        dynamic = isinstance(given, Static)
        check(f"RFFT{suffix}", [x, given], forward, rtol=1e-4, atol=1e-5, dynamic=[dynamic], form="any")
        form = "any"
        check(f"IRFFT{suffix}", [y, given], back, rtol=1e-4, atol=1e-5, dynamic=[dynamic], form=form)


def test_lengths_that_no_transform_has() -> None:
    for length in (0, 4097):
        with pytest.raises(LitefuseError, match="must be from 1 to 4096"):
            converted("RFFT", [normal(2, 5000), Constant(np.array([length], np.int32))], [("complex64", 2)])
    with pytest.raises(LitefuseError, match="has 5 elements, and fft_length needs 6"):
        converted("RFFT", [normal(2, 5), Constant(np.array([6], np.int32))], [("complex64", 2)])
    with pytest.raises(LitefuseError, match="must be at most 4096"):
        converted("FFT", [np.zeros((2, 4097), np.complex64)], [("complex64", 2)])


def test_arithmetic_of_complex_numbers() -> None:
    x, y = complex_normal(3, 1), complex_normal(2, 4)[1]
    x[0], y[1] = y[1], x[0, 0]
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "AddV2": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "RealDiv": np.divide,
        "Equal": np.equal,
        "NotEqual": np.not_equal,
    }
    for op, function in operations.items():
        check(op, [x, y], function(x, y), rtol=1e-5, form="any")
    functions: dict[str, Callable[[Any], Any]] = {
        "Neg": np.negative,
        "Exp": np.exp,
        "Square": np.square,
        "Reciprocal": np.reciprocal,
        "Conj": np.conj,
        "Angle": np.angle,
        "Log": np.log,
        "Sqrt": np.sqrt,
    }
    several = np.concatenate([complex_normal(4, 3).reshape(-1), [1, -1, 1j, -4 + 0j, -1e30 + 1e25j, 1e-30j]])
    for op, function in functions.items():
        usable = several.astype(np.complex64)[: None if op in {"Sqrt", "Log"} else 15]
        check(
            op, [usable], function(usable.astype(np.complex128)).astype(function(usable).dtype), rtol=1e-5, form="any"
        )
    check("Sqrt", [np.zeros(2, np.complex64)], np.zeros(2, np.complex64), form="any")


def test_complex_numbers_and_their_parts() -> None:
    real, imaginary = normal(3, 1), normal(2, 4)[1]
    check("Complex", [real, imaginary], (real + 1j * imaginary).astype(np.complex64), form="any")
    for x in (complex_normal(2, 3), complex_normal(1)[0]):
        pairs = np.stack([x.real, x.imag], -1)
        check("Bitcast", [x], pairs, dynamic=[False], form="any")
        check("Bitcast", [pairs], np.asarray(x), dynamic=[False], form="any")


@pytest.mark.parametrize("axes", [[0], [-1, 0]])
def test_sums_of_complex_numbers(axes: list[int]) -> None:
    x = complex_normal(2, 3, 4)
    for keep in (False, True):
        numbers, options = Constant(np.array(axes, np.int32)), {"keep_dims": keep}
        check("Sum", [x, numbers], x.sum(tuple(axes), keepdims=keep), rtol=1e-4, attributes=options)
        check("Mean", [x, numbers], x.mean(tuple(axes), keepdims=keep), rtol=1e-4, attributes=options)
    for reverse in (False, True):
        sums = np.flip(np.cumsum(np.flip(x, -1), -1), -1) if reverse else np.cumsum(x, -1)
        options = {"exclusive": reverse, "reverse": reverse}
        check(
            "Cumsum",
            [x, Constant(np.int32(-1))],
            sums - x if reverse else sums,
            rtol=1e-4,
            atol=1e-5,
            attributes=options,
        )


def test_moved_complex_numbers() -> None:
    x = complex_normal(2, 3)
    check("BroadcastTo", [x, Constant(np.array([4, 2, 3], np.int32))], np.broadcast_to(x, (4, 2, 3)))
    expected = np.zeros((4, 3), np.complex64)
    expected[2] = x.sum(0)
    operands = [Constant(np.array([[2], [2]], np.int32)), x, Constant(np.array([4, 3], np.int32))]
    check("ScatterNd", operands, expected, rtol=1e-5)


@pytest.mark.parametrize("adjoint", [*itertools.product((False, True), repeat=2)])
def test_products_of_complex_matrices(adjoint: tuple[bool, bool]) -> None:
    x, y = complex_normal(2, 3, 4), complex_normal(2, 4, 5)
    pairs = [*zip((x, y), adjoint, strict=True)]
    turned = [np.conj(each.swapaxes(1, 2)) if turn else each for each, turn in pairs]
    options = {"adj_x": adjoint[0], "adj_y": adjoint[1]}
    check("BatchMatMulV2", turned, x @ y, rtol=1e-4, atol=1e-5, attributes=options)
    turned = [each[0].T.copy() if turn else each[0] for each, turn in pairs]
    options = {"transpose_a": adjoint[0], "transpose_b": adjoint[1]}
    check("MatMul", turned, x[0] @ y[0], rtol=1e-4, atol=1e-5, attributes=options)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
}


def test_comparisons_that_the_engine_would_turn() -> None:
    x, y = np.array([1, 2, 3, math.nan, 1], F), np.array([2, 2, 1, 1, math.nan], F)
    for op, function in COMPARISONS.items():
        check(lambda b, x, y, op=op: ~b.compare(op, x, y), [x, y], ~function(x, y), dynamic=[True])


def test_conditions_beside_zero() -> None:
    conditions = np.array([True, False])
    for (op, function), dtype in itertools.product(COMPARISONS.items(), ("float32", "int32")):
        numbers, zero = conditions.astype(dtype), np.array(0, dtype)

        def first(b: Builder, x: Tensor, op: str = op, dtype: str = dtype) -> ir.Value:
            return b.compare(op, b.cast(x, dtype), 0)

        def last(b: Builder, x: Tensor, op: str = op, dtype: str = dtype) -> ir.Value:
            return b.compare(op, 0, b.cast(x, dtype))

        check(first, [conditions], function(numbers, zero), dynamic=[False])
        check(last, [conditions], function(zero, numbers), dynamic=[False])


def test_a_difference_from_itself() -> None:
    x = np.array([1, math.inf, -math.inf, math.nan], F)
    check(lambda b, x: (x - x) + 2.0, [x], np.array([2, math.nan, math.nan, math.nan], F))


def test_bounds_that_are_the_largest_number() -> None:
    largest = float(np.finfo(F).max)
    x = np.array([[1, math.inf, -math.inf], [largest, -largest, 0]], F)
    bounds = np.full((2, 3), largest, F)
    check("Minimum", [x, Constant(bounds)], np.minimum(x, largest), form=None, dynamic=[False])
    check("Maximum", [Constant(-bounds), x], np.maximum(x, -largest), form=None, dynamic=[False])


def test_functions_of_numbers_that_are_bounded() -> None:
    x = np.array([-3, -1e-7, 0, 1e-3, 5], F)
    formulas: list[tuple[Callable[[Builder, Tensor], ir.Value], Any]] = [
        (lambda b, x: b.unary("Expm1", minimum(x, 0.0)), np.expm1(np.minimum(x, 0))),
        (lambda b, x: b.unary("Expm1", minimum(x, 0.0) * 2.0), np.expm1(np.minimum(x, 0) * 2)),
        (lambda b, x: b.unary("Expm1", minimum(x, 0.0) * -2.0), np.expm1(np.minimum(x, 0) * -2)),
        (lambda b, x: b.unary("Expm1", minimum(x, 1.0)), np.expm1(np.minimum(x, 1))),
        (lambda b, x: b.unary("Rsqrt", maximum(x, 0.0)), 1 / np.sqrt(np.maximum(x, 0))),
        (lambda b, x: b.unary("Rsqrt", maximum(x, 0.5)), 1 / np.sqrt(np.maximum(x, 0.5))),
        (lambda b, x: b.unary("Rsqrt", b.expand(abs(x) + 1.0, 0)), 1 / np.sqrt(np.abs(x) + 1)[None]),
    ]
    with np.errstate(divide="ignore"):
        for formula, expected in formulas:
            check(formula, [x], expected, dynamic=[True], rtol=2e-6, atol=1e-9)
    softplus = np.logaddexp(0, -x * 20)
    check(lambda b, x: b.unary("Softplus", -(x * 20.0)), [x], softplus, dynamic=[True], rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_products(*, exclusive: bool, reverse: bool) -> None:
    x = normal(2, 5, 3)
    for values, axis in ((x, 1), (x, -1), ((4 * x).astype(np.int64), -3)):
        turned = np.flip(values, axis) if reverse else values
        expected = np.cumprod(turned, axis, values.dtype)
        if exclusive:
            ones = np.ones_like(expected.take([0], axis))
            expected = np.concatenate([ones, expected], axis).take(range(values.shape[axis]), axis)
        expected = np.flip(expected, axis) if reverse else expected
        options = {"reverse": reverse, "exclusive": exclusive}
        for form, dynamic in (("composite", False), ("rewritten", True)):
            check(
                "Cumprod",
                [values, Constant(axis)],
                expected,
                form=form,
                dynamic=[dynamic],
                rtol=1e-5,
                attributes=options,
            )


@pytest.mark.parametrize("op", ["BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1"])
def test_bessel_functions(op: str) -> None:
    some = np.array([0, 1e-3, -0.7, 2.4048255, -2.9999, 3, 3.75, -12.5, 80])
    x = np.concatenate([some, np.linspace(-5, 5, 60)]).astype(F)
    functions = {"I0": special.i0, "I0e": special.i0e, "I1": special.i1, "I1e": special.i1e}
    function = (functions | {"J0": special.j0, "J1": special.j1})[op.removeprefix("Bessel")]
    check(op, [x], function(x.astype(np.float64)).astype(F), rtol=1e-6, atol=3e-7, dynamic=[True])


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
