"""Ops that compute each element by itself, and reductions: against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.passes.stablehlo.running import run

_Array = npt.NDArray[Any]
F = np.array([-2.5, -1.0, -0.25, 0.0, 0.5, 1.5, 3.0], np.float32)
G = np.array([2.0, -0.5, 4.0, 3.0, -0.25, 1.5, -2.0], np.float32)
I = np.array([-7, -1, 0, 1, 5, 7, 100], np.int32)  # noqa: E741
J = np.array([2, 3, -4, 7, -2, 7, 31], np.int32)
U = np.array([0, 1, 7, 8, 200, 255, 128], np.uint8)


def unary(op: str, x: _Array, element: str, result: str = "") -> _Array:
    kind = f"tensor<7x{element}>"
    types = f"({kind}) -> tensor<7x{result}>" if result else kind
    return run(f"%y = stablehlo.{op} %x0 : {types}", f"7x{result or element}", x)


def binary(op: str, x: _Array, z: _Array, element: str) -> _Array:
    return run(f"%y = stablehlo.{op} %x0, %x1 : tensor<7x{element}>", f"7x{element}", x, z)


def _logistic(x: _Array) -> _Array:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("abs", np.abs),
        ("cbrt", np.cbrt),
        ("ceil", np.ceil),
        ("cosine", np.cos),
        ("exponential", np.exp),
        ("exponential_minus_one", np.expm1),
        ("floor", np.floor),
        ("logistic", _logistic),
        ("negate", np.negative),
        ("round_nearest_even", np.rint),
        ("sign", np.sign),
        ("sine", np.sin),
        ("tan", np.tan),
        ("tanh", np.tanh),
    ],
)
def test_functions_of_floats(op: str, function: Callable[[_Array], _Array]) -> None:
    np.testing.assert_allclose(unary(op, F, "f32"), function(F), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("op", "function"), [("log", np.log), ("log_plus_one", np.log1p), ("sqrt", np.sqrt)])
def test_functions_of_positive_floats(op: str, function: Callable[[_Array], _Array]) -> None:
    np.testing.assert_allclose(unary(op, np.abs(F) + 0.125, "f32"), function(np.abs(F) + 0.125), rtol=1e-5)


def test_rounding_away_from_zero() -> None:
    np.testing.assert_array_equal(unary("round_nearest_afz", F, "f32"), np.trunc(F + np.copysign(0.5, F)))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("add", np.add),
        ("atan2", np.arctan2),
        ("divide", np.divide),
        ("maximum", np.maximum),
        ("minimum", np.minimum),
        ("multiply", np.multiply),
        ("remainder", np.fmod),
        ("subtract", np.subtract),
    ],
)
def test_functions_of_two_floats(op: str, function: Callable[[_Array, _Array], _Array]) -> None:
    np.testing.assert_allclose(binary(op, F, G, "f32"), function(F, G), rtol=1e-5, atol=1e-6)


def test_quotients_of_integers_go_toward_zero() -> None:
    np.testing.assert_array_equal(binary("divide", I, J, "i32"), np.trunc(I / J).astype(np.int32))
    np.testing.assert_array_equal(binary("remainder", I, J, "i32"), np.fmod(I, J))


@pytest.mark.parametrize(("op", "function"), [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)])
def test_bits(op: str, function: Callable[[_Array, _Array], _Array]) -> None:
    np.testing.assert_array_equal(binary(op, I, J, "i32"), function(I, J))
    flags, others = np.arange(7) % 2 == 0, np.arange(7) % 3 == 0
    np.testing.assert_array_equal(binary(op, flags, others, "i1"), function(flags, others))


def test_complement() -> None:
    np.testing.assert_array_equal(unary("not", I, "i32"), ~I)
    np.testing.assert_array_equal(unary("not", I > 0, "i1"), I <= 0)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_shifts(width: int) -> None:
    """Distances of the width or more, and negative ones, leave nothing but the sign."""
    distances = [0, 1, 3, width - 1, width, -1, 2 ** (width - 2) + 1]
    numbers = [-7, 100, -1, 5, 1, -7, -100]
    x, by = np.array(numbers).astype(f"int{width}"), np.array(distances).astype(f"int{width}")
    pairs = [
        (number, places if 0 <= places < width else width) for number, places in zip(numbers, distances, strict=True)
    ]

    def wrapped(values: list[int]) -> _Array:
        return np.array([value % 2**width for value in values], f"uint{width}").view(f"int{width}")

    left = wrapped([number << places for number, places in pairs])
    np.testing.assert_array_equal(binary("shift_left", x, by, f"i{width}"), left)
    right = wrapped([number >> places for number, places in pairs])
    np.testing.assert_array_equal(binary("shift_right_arithmetic", x, by, f"i{width}"), right)
    logical = wrapped([number % 2**width >> places for number, places in pairs])
    np.testing.assert_array_equal(binary("shift_right_logical", x, by, f"i{width}"), logical)


def test_number_of_bits() -> None:
    counts = [(int(value) & 0xFFFFFFFF).bit_count() for value in I]
    np.testing.assert_array_equal(unary("popcnt", I, "i32"), counts)
    zeros = [32 - (int(value) & 0xFFFFFFFF).bit_length() for value in I]
    np.testing.assert_array_equal(unary("count_leading_zeros", I, "i32"), zeros)


@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_comparisons(direction: str) -> None:
    function: Callable[[_Array, _Array], _Array] = {
        "EQ": np.equal,
        "NE": np.not_equal,
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
    }[direction]
    body = f"%y = stablehlo.compare {direction}, %x0, %x1 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>"
    np.testing.assert_array_equal(run(body, "7xi1", F, G), function(F, G))


def test_choices_and_limits() -> None:
    body = "%y = stablehlo.select %x0, %x1, %x2 : tensor<7xi1>, tensor<7xf32>"
    np.testing.assert_array_equal(run(body, "7xf32", np.greater(F, G), F, G), np.maximum(F, G))
    body = "%y = stablehlo.clamp %x0, %x1, %x2 : (tensor<f32>, tensor<7xf32>, tensor<f32>) -> tensor<7xf32>"
    low, high = np.array(-1, np.float32), np.array(0.75, np.float32)
    np.testing.assert_array_equal(run(body, "7xf32", low, F, high), np.clip(F, low, high))


@pytest.mark.parametrize(
    ("x", "element", "result", "dtype"),
    [(F, "f32", "i32", np.int32), (I, "i32", "f32", np.float32), (U, "ui8", "f32", np.float32), (F, "f32", "i1", bool)],
)
def test_conversions(x: _Array, element: str, result: str, dtype: Any) -> None:
    np.testing.assert_array_equal(unary("convert", x, element, result), x.astype(dtype))


@pytest.mark.parametrize(
    ("op", "init", "function"),
    [
        ("add", "0.0", np.sum),
        ("maximum", "0xFF800000", np.max),
        ("minimum", "0x7F800000", np.min),
        ("multiply", "1.0", np.prod),
    ],
)
@pytest.mark.parametrize("axes", [(0,), (1, 2), (0, 1, 2)])
def test_reductions(op: str, init: str, function: Callable[..., _Array], axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).uniform(0.5, 1.5, (2, 3, 4)).astype(np.float32)
    expected = np.asarray(function(x, axis=axes))
    result = "".join(f"{size}x" for size in expected.shape) + "f32"
    body = f"""
        %i = stablehlo.constant dense<{init}> : tensor<f32>
        %y = stablehlo.reduce(%x0 init: %i) applies stablehlo.{op} across dimensions = {list(axes)}
          : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<{result}>
    """
    np.testing.assert_allclose(run(body, result, x), expected, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 5, 8, 11])
def test_reductions_by_another_function_keep_the_order(size: int) -> None:
    """The last positive number of each row."""
    x = np.random.default_rng(3).permutation(2 * size).reshape(2, size).astype(np.float32) - size
    body = f"""
        %i = stablehlo.constant dense<0.0> : tensor<f32>
        %y = "stablehlo.reduce"(%x0, %i) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %p = stablehlo.compare GT, %b, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %c = stablehlo.select %p, %b, %a : tensor<i1>, tensor<f32>
          stablehlo.return %c : tensor<f32>
        }}) {{dimensions = array<i64: 1>}} : (tensor<2x{size}xf32>, tensor<f32>) -> tensor<2xf32>
    """
    # A row without positive numbers has its first one, unless the initial 0 comes before it.
    expected = [next((number for number in row[::-1] if number > 0), None) for row in x]
    found = run(body, "2xf32", x)
    for number, want, row in zip(found, expected, x, strict=True):
        assert number == want if want is not None else number in {0.0, row[0]}


@pytest.mark.parametrize(("op", "init", "function"), [("or", "false", np.any), ("and", "true", np.all)])
def test_reductions_of_truth(op: str, init: str, function: Callable[..., _Array]) -> None:
    x = np.array([[True, False], [False, False], [True, True]])
    body = f"""
        %i = stablehlo.constant dense<{init}> : tensor<i1>
        %y = stablehlo.reduce(%x0 init: %i) applies stablehlo.{op} across dimensions = [1]
          : (tensor<3x2xi1>, tensor<i1>) -> tensor<3xi1>
    """
    np.testing.assert_array_equal(run(body, "3xi1", x), function(x, axis=1))


def test_products_of_batches_and_several_dimensions() -> None:
    random = np.random.default_rng(4)
    x, z = random.normal(size=(2, 3, 4, 5)).astype(np.float32), random.normal(size=(5, 2, 4, 6)).astype(np.float32)
    body = """
        %y = stablehlo.dot_general %x0, %x1, batching_dims = [0] x [1], contracting_dims = [2, 3] x [2, 0]
          : (tensor<2x3x4x5xf32>, tensor<5x2x4x6xf32>) -> tensor<2x3x6xf32>
    """
    np.testing.assert_allclose(run(body, "2x3x6xf32", x, z), np.einsum("bmck,kbcn->bmn", x, z), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("size", ["", "2x", "200x"])
def test_integers_at_the_ends_of_their_range(dtype: str, size: str) -> None:
    """Constants are exact, and arithmetic on them wraps around, followed or not."""
    info = np.iinfo(dtype)
    element = f"{'u' if dtype[0] == 'u' else ''}i{info.bits}"
    kind, count = f"{size}{element}", int(size[:-1] or 1)
    x = np.full((count,) if size else (), 3, dtype)
    for number in (info.min, info.max, info.max // 2 + 1, 2 ** (info.bits - 8) + 1):
        for op in ("add", "subtract"):
            body = f"""
                %a = stablehlo.constant dense<{number}> : tensor<{kind}>
                %one = stablehlo.constant dense<1> : tensor<{kind}>
                %b = stablehlo.{op} %a, %one : tensor<{kind}>
                %y = stablehlo.xor %b, %x0 : tensor<{kind}>
            """
            constant = np.full(x.shape, number, dtype)
            with np.errstate(over="ignore"):
                expected = (constant + x.dtype.type(1) if op == "add" else constant - x.dtype.type(1)) ^ x
            np.testing.assert_array_equal(run(body, kind, x), expected)
