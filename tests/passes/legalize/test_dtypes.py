# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of dtypes that LiteRT's ops do not take, against numpy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from litefuse.errors import UnsupportedOpsError
from litefuse.ir.builder import Builder
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from tests.passes.legalize.one_op import Array, Constant, Static, check, converted

F = np.float32


def test_halves_are_computed_in_float32() -> None:
    x, y = (np.random.default_rng(seed).normal(size=(3, 4)).astype(np.float16) for seed in (0, 1))
    check("Maximum", [x, y], np.maximum(x, y), form="widened")
    check(
        "MatMul",
        [x, y],
        (x.astype(F) @ y.astype(F).T).astype(np.float16),
        form="widened",
        rtol=1e-3,
        attributes={"transpose_b": True},
    )


def test_integers_are_computed_in_wider_ones() -> None:
    x, y = np.array([250, 3], np.uint8), np.array([10, 5], np.uint8)
    check("FloorDiv", [x, y], x // y)


def test_int64_is_narrowed_on_request() -> None:
    operands = [np.array([3, -5, 4]), Constant(np.array([0, 1, 0], np.int32)), Constant(np.int32(2))]
    with pytest.raises(UnsupportedOpsError):
        converted("UnsortedSegmentMax", operands, [("int64", 1)])
    check("UnsortedSegmentMax", operands, np.array([4, -5]), form="narrowed", narrow=True)


def fake_quantized(x: Array, low: Any, high: Any, bits: int, *, narrow: bool) -> Array:
    """Source: tensorflow/core/kernels/fake_quant_ops_functor.h, Nudge."""
    least, most = (1 if narrow else 0), 2**bits - 1
    with np.errstate(all="ignore"):
        step = (high - low) / F(most - least)
        zero = np.clip(np.floor(least - low / step + F(0.5)), least, most)
        first, last = (least - zero) * step, (most - zero) * step
        result = np.floor((np.clip(x, first, last) - first) / step + F(0.5)) * step + first
    return np.where(low == high, 0, result).astype(F)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", [4, 8, 16])
def test_fake_quantization(bits: int, *, narrow: bool) -> None:
    x = np.concatenate([np.linspace(-9, 9, 59), [0.003]]).reshape(20, 3).astype(F)
    options = {"num_bits": bits, "narrow_range": narrow}
    for low, high in ((-1.0, 1.1), (-6.0, 3.3), (0.0, 5.0), (-4.0, 0.0), (0.0, 0.0)):
        bounds = F(low), F(high)
        expected = fake_quantized(x, *bounds, bits, narrow=narrow)
        operands, dynamic = [x, *map(Constant, bounds)], [low == 0]
        check("FakeQuantWithMinMaxVars", operands, expected, atol=1e-5, attributes=options, form="any", dynamic=dynamic)
        if low < high:
            given = options | {"min": low, "max": high}
            check("FakeQuantWithMinMaxArgs", [x], expected, atol=1e-5, attributes=given, form="any", dynamic=dynamic)
    bounds = np.array([-1, -6, 0], F), np.array([2, 3.3, 5], F)
    expected = fake_quantized(x, *bounds, bits, narrow=narrow)
    for operands in ([x, *map(Constant, bounds)], [x, *bounds]):
        op = "FakeQuantWithMinMaxVarsPerChannel"
        check(op, operands, expected, atol=1e-5, attributes=options, dynamic=[False])


def quantized(x: Array, low: Any, high: Any, bits: int, *, signed: bool, narrow: bool, given: bool, up: bool) -> Array:
    """Source: tensorflow/core/kernels/quantize_and_dequantize_op.h."""
    least = -(2 ** (bits - 1)) + narrow if signed else 0
    most = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    largest = np.finfo(F).max
    with np.errstate(all="ignore"):
        by_low = np.where(least * low > 0, least / low, largest)
        by_high = np.where(most * high > 0, most / high, largest)
        of_low = by_low < by_high
        scale = np.where(of_low, by_low, by_high)
        step = np.where(of_low, low / (least or 1), high / most)
        first, last = np.where(of_low, low, least * step), np.where(of_low, most * step, high)
        scaled = (np.clip(x, first, last) if given else x) * scale
        return ((np.floor(scaled + 0.5) if up else np.rint(scaled)) * step).astype(F)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(
    ("signed", "narrow", "mode"), [(True, False, "HALF_TO_EVEN"), (True, True, "HALF_UP"), (False, False, "HALF_UP")]
)
def test_quantization_and_back(mode: str, *, signed: bool, narrow: bool, given: bool) -> None:
    x = np.random.default_rng(0).normal(size=(4, 3, 5)).astype(F) * np.array([[1], [3], [0.2]], F)
    options = {"signed_input": signed, "narrow_range": narrow, "round_mode": mode, "range_given": given}
    flags = {"signed": signed, "narrow": narrow, "given": given, "up": mode == "HALF_UP"}
    cases: list[tuple[int, Any, Any]] = [(-1, x.min(), x.max()), (1, x.min((0, 2)), x.max((0, 2)))]
    if given:
        cases = [(-1, -1, 2), (-1, -1, 0), (-1, 0, 2.5), (-1, -2.5, 0.5), (1, [-1, -2, 0], [2, 1, 0.5])]
    for axis, *ends in cases:
        low, high = (np.array(end, F) for end in ends)
        expected = quantized(x, low[..., None], high[..., None], 6, **flags)
        attributes = options | {"num_bits": 6, "axis": axis}
        constants, computed = [x, Constant(low), Constant(high)], [x, Static(low), Static(high)]
        check("QuantizeAndDequantizeV2", constants, expected, atol=1e-5, attributes=attributes, dynamic=[given])
        check("QuantizeAndDequantizeV4", computed, expected, atol=1e-5, attributes=attributes, dynamic=[True])
        if mode == "HALF_TO_EVEN":  # the other has no mode
            operands = [*computed, Constant(np.int32(6))]
            check("QuantizeAndDequantizeV3", operands, expected, atol=1e-5, attributes=attributes, dynamic=[True])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "bool"])
def test_casts_of_uint64(dtype: str) -> None:
    x = np.array([0, 1, 200, 2**31, 2**63, 2**64 - 1], np.uint64)
    check("Cast", [x], x.astype(dtype), attributes={"Truncate": False}, form="any")
    y = np.array([0, 1, 100, -1 if dtype.startswith("int") else 1]).astype(dtype)
    check("Cast", [y], y.astype(np.uint64), attributes={"Truncate": False}, form="any")


def central(b: Builder, x: Tensor, share: float, parts: float, name: str = "") -> ir.Value:
    """``(x - x * share) / parts`` in float64, as an integer."""
    wide = b.cast(x, "float64")
    value = (wide - wide * share) / parts
    return b.cast(b.unary(name, value) if name else value, "int32")


@pytest.mark.parametrize("name", ["", "Ceil", "Floor"])
@pytest.mark.parametrize(
    ("share", "parts"), [(0.875, 2.0), (0.3125, 1.0), (-0.5, 8.0), (3.0, 4.0), (0.71875, 0.5), (-65536.0, 2.0**36)]
)
def test_integers_from_fractions(name: str, share: float, parts: float) -> None:
    x = np.array([0, 1, 7, 224, 1000, 123_456_789, -5, -17, -1_000_000_007], np.int32)
    function = {"": np.trunc, "Ceil": np.ceil, "Floor": np.floor}[name]
    exact = (x - x * share) / parts
    kept = np.abs(exact) < 2**31 - 1
    expected = function(exact[kept]).astype(np.int32)
    check(functools.partial(central, share=share, parts=parts, name=name), [x[kept]], expected)


@pytest.mark.parametrize("name", ["", "Ceil", "Floor"])
def test_a_fraction_of_a_product_of_sizes(name: str) -> None:
    def part(b: Builder, x: Tensor) -> ir.Value:
        height, width = (b.cast(b.scalar(b.size(x, axis)), "float64") for axis in (0, 1))
        value = height * width / 4.0
        return b.cast(b.unary(name, value) if name else value, "int64")

    for shape in ((3, 5), (2, 7), (4, 4)):
        exact = np.prod(shape) / 4
        expected = np.array(np.ceil(exact) if name == "Ceil" else np.floor(exact), np.int64)
        check(part, [np.zeros(shape, F)], expected, dynamic=[True])


@pytest.mark.parametrize("name", ["", "Ceil", "Floor"])
def test_integers_and_floats_from_quotients(name: str) -> None:
    x, divisors = np.array([7, -7, 8, 0, 2**31 - 1, -(2**31)], np.int32), np.array([2, 2, -4, 5, 3, 7], np.int32)
    for dtype in ("int32", "int64", *([] if name else ["float32"])):

        def quotient(b: Builder, x: Tensor, dtype: str = dtype) -> ir.Value:
            value = b.cast(x, "float64") / b.constant(divisors, "float64")
            return b.cast(b.unary(name, value) if name else value, dtype)

        exact = x / divisors
        rounded = {
            "": exact if dtype == "float32" else np.trunc(exact),
            "Ceil": np.ceil(exact),
            "Floor": np.floor(exact),
        }
        check(quotient, [x], rounded[name].astype(dtype), dynamic=[False])


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_numbers_rounded_to_float8(dtype: str) -> None:
    edge = 464.0 if dtype == "float8_e4m3fn" else 61440.0  # between the largest number and what is beyond
    numbers = np.geomspace(1e-6, 1e5, 400)
    x = np.concatenate([-numbers, numbers, [0, np.inf, np.nan, edge, 1.0625, 1.1875, 0.001953125]]).astype(F)
    expected = x.astype(getattr(ml_dtypes, dtype)).astype(F)
    beyond = np.abs(x) == edge
    check(lambda b, x: b.cast(b.cast(x, dtype), "float32"), [x[~beyond]], expected[~beyond])


def test_casts_of_unsigned_numbers() -> None:
    x = np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
    for dtype in (np.int64, np.int32):
        check("Cast", [x], x.astype(dtype), attributes={"Truncate": False}, form=None)


def test_float64_is_compared_by_its_bits() -> None:
    numbers = np.array([0.0, -0.0, 1.0, 1 + 2**-52, -1.0, -1 - 2**-52, 5e-324, -5e-324, 1e308, np.inf, -np.inf, np.nan])
    x, y = numbers[:, None], numbers[None]
    comparisons = {
        "Equal": x == y,
        "Greater": x > y,
        "GreaterEqual": x >= y,
        "Less": x < y,
        "LessEqual": x <= y,
        "NotEqual": x != y,
    }
    for op, expected in comparisons.items():
        attributes = {"incompatible_shape_error": True} if op in {"Equal", "NotEqual"} else {}
        check(op, [x, y], expected, attributes=attributes)
        check(op, [x, Constant(np.array(1.0))], expected[:, 2:3], attributes=attributes)


def test_signs_and_limits_of_float64() -> None:
    numbers = np.array([0.0, -0.0, 1.5, -1.5, 5e-324, -1e308, np.inf, -np.inf, np.nan])
    for op, expected in (("Neg", -numbers), ("Abs", np.abs(numbers))):
        (found,) = converted(op, [numbers], [("float64", 1)])(numbers)
        np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))
        check(op, [numbers[:8]], expected[:8])
    for op, function in (("IsNan", np.isnan), ("IsInf", np.isinf), ("IsFinite", np.isfinite)):
        check(op, [numbers], function(numbers))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("AddV2", np.add),
        ("FloorDiv", np.floor_divide),
        ("FloorMod", np.mod),
        ("GreaterEqual", np.greater_equal),
        ("Maximum", np.maximum),
        ("Mul", np.multiply),
        ("NotEqual", np.not_equal),
    ],
)
def test_uint64(op: str, function: Callable[[Array, Array], Array]) -> None:
    x = np.array([0, 1, 2**63, 2**64 - 1, 2**63 - 1, 12345678901234567890, 2**40 + 3, 7], np.uint64)
    y = np.array([1, 2**64 - 1, 2**63, 3, 2**63 + 5, 1000, 2**20, 9], np.uint64)
    check(op, [x, y], function(x, y))


def test_shifts_of_uint64() -> None:
    x = np.array([1, 2**63, 2**64 - 1, 12345678901234567890], np.uint64)
    places = np.array([0, 1, 33, 63], np.uint64)
    check("RightShift", [x, places], x >> places)
    check("LeftShift", [x, places], x << places)
    check("RightShift", [x, Constant(np.array(32, np.uint64))], x >> np.uint64(32))


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32"])
def test_small_integers_are_computed_in_wider_ones(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x, y = np.array([limits.max, limits.min, 7, 3], dtype), np.array([limits.max, 2, limits.max, 5], dtype)
    with np.errstate(over="ignore"):
        for op, expected in (
            ("AddV2", x + y),
            ("Mul", x * y),
            ("Sub", x - y),
            ("Maximum", np.maximum(x, y)),
            ("FloorMod", x % y),
        ):
            check(op, [x, y], expected, form="any", dynamic=[True])
        check("Square", [x], x * x, form="any", dynamic=[True])
        check("Sum", [x, Constant(np.array([0], np.int32))], x.sum(dtype=dtype), form="any", dynamic=[True])
    check("Less", [x, y], x < y, form="any", dynamic=[True])
    ids = Constant(np.array([0, 2, 0, 2], np.int32))
    if dtype == "uint32":  # LiteRT's op does not take int64
        return
    for op, function in (("UnsortedSegmentMax", np.max), ("UnsortedSegmentMin", np.min)):
        none = limits.min if op.endswith("Max") else limits.max
        check(
            op,
            [x, ids, Constant(np.int32(3))],
            np.array([function(x[::2]), none, function(x[1::2])], dtype),
            form="any",
            dynamic=[True],
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_extremes_of_no_halves(dtype: str) -> None:
    kind: Any = np.float16 if dtype == "float16" else ml_dtypes.bfloat16
    x, ids = np.array([1, -2, 3], kind), Constant(np.array([0, 2, 0], np.int32))
    for op, some, sign in (("UnsortedSegmentMax", [3, -2], -1), ("UnsortedSegmentMin", [1, -2], 1)):
        none = sign * float(ml_dtypes.finfo(kind).max)
        check(
            op,
            [x, ids, Constant(np.int32(3))],
            np.array([some[0], none, some[1]], kind),
            form="widened",
            dynamic=[True],
        )


def test_signs_and_sizes_of_int64() -> None:
    x = np.array([-(2**40), -1, 0, 1, 2**62])
    check("Abs", [x], np.abs(x), form="any")
    check("Sign", [x], np.sign(x), form="any")
