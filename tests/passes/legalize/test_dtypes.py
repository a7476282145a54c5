# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of dtypes that LiteRT's ops do not take, against numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from litefuse.errors import UnsupportedOpsError
from tests.passes.legalize.one_op import Array, Constant, check, converted

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


def test_a_narrow_range_leaves_out_its_first_number() -> None:
    x = np.array([[-2, -1.3, 0.004, 0.3, 5]], F).reshape(5, 1)
    low, high = F(-1), F(1)
    step = (high - low) / F(254)
    zero = np.floor(1 - low / step + F(0.5))
    first, last = (1 - zero) * step, (255 - zero) * step
    expected = np.floor((np.clip(x, first, last) - first) / step + F(0.5)) * step + first
    operands = [x, Constant(low), Constant(high)]
    check(
        "FakeQuantWithMinMaxVars",
        operands,
        expected.astype(F),
        atol=1e-6,
        attributes={"num_bits": 8, "narrow_range": True},
    )


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
