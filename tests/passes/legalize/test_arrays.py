"""Rewritings of ops on arrays, against numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from litefuse.errors import LitefuseError
from litefuse.support.options.limits import Limits, limited
from tests.passes.legalize.one_op import Constant, check, converted, counted, normal

F = np.float32


def test_rolled() -> None:
    x = counted(3, 4, 2)
    shift = np.array([2, -7, 1], np.int32)
    operands = [x, Constant(shift), Constant(np.array([0, 1, 1], np.int32))]
    check("Roll", operands, np.roll(x, shift, (0, 1, 1)), dynamic=[True])


def test_reversed_along_dimensions_apart() -> None:
    x = counted(2, 3, 4)
    check("ReverseV2", [x, Constant(np.array([0, 2], np.int32))], x[::-1, :, ::-1])


def test_a_place_that_is_named_beside_a_mask() -> None:
    x = counted(4, 3)
    places = [Constant(np.array(each, np.int32)) for each in ([2], [3], [1])]
    masks = {"begin_mask": 1, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}
    check("StridedSlice", [x, *places], x[2], form=None, attributes=masks)
    places = [Constant(np.array(each, np.int32)) for each in ([2, 1], [3, 2], [1, 1])]
    for begin, expected in ((1, x[2, 1:2]), (2, x[2, :2]), (3, x[2, :2])):
        check("StridedSlice", [x, *places], expected, form=None, attributes=masks | {"begin_mask": begin})


@pytest.mark.parametrize("place", [0, 1, 3, -1, -4])
def test_a_place_that_the_model_computes_is_replaced(place: int) -> None:
    x, update = counted(4, 3), np.array([7, 8, 9], F)
    expected = x.copy()
    expected[place] = update
    begin, end = np.array([place], np.int32), Constant(np.array([0], np.int32))
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}
    operands = [x, begin, end, Constant(np.array([1], np.int32)), update]
    check("TensorStridedSliceUpdate", operands, expected, attributes=masks, dynamic=[False])


def test_slices_of_no_elements() -> None:
    x = counted(4, 3)
    begin, size = (Constant(np.array(each, np.int32)) for each in ([1, 0], [0, -1]))
    for dtype in (np.float32, np.float16, np.int8, np.int32, np.uint32, np.int64):
        check("Slice", [x.astype(dtype), begin, size], x[1:1].astype(dtype), form=None, dynamic=[True])


def test_reductions_of_many_dimensions() -> None:
    x = counted(2, 1, 3, 2, 1, 2, 2)
    check("Sum", [x, Constant(np.array([2, 5], np.int32))], x.sum((2, 5)), rtol=1e-6)
    check("Max", [x, Constant(np.array([0, 3, 6], np.int32))], x.max((0, 3, 6)))


def test_the_largest_of_no_numbers() -> None:
    x = np.zeros((0, 3), F)
    check("Max", [x, Constant(np.array([0], np.int32))], np.full(3, -np.inf, F), form=None, dynamic=[False])


def test_what_dtypes_carry() -> None:
    x = np.array([[1, 2], [3, 2**63]], np.uint64)
    check("Tile", [x, Constant(np.array([1, 2], np.int32))], np.tile(x, (1, 2)))


def test_diagonals_beside_the_main_one() -> None:
    x = np.array([1, 2, 3], F)
    operands = [x, *(Constant(np.array(each, np.int32)) for each in (1, -1, -1)), Constant(F(7))]
    expected = np.full((4, 4), 7, F)
    expected[[0, 1, 2], [1, 2, 3]] = x
    check("MatrixDiagV3", operands, expected, attributes={"align": "RIGHT_LEFT"})


@pytest.mark.parametrize("limits", [[-1], [2], [-1, 1], [1, 2]])
@pytest.mark.parametrize("align", ["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"])
def test_diagonals_of_constant_numbers_and_of_those_that_the_model_computes(limits: list[int], align: str) -> None:
    x: Any = counted(2, 3, 5)
    above, below = align.split("_")
    lower, upper = limits[0], limits[-1]
    longest = min(3 + min(upper, 0), 5 - max(lower, 0))
    rows: list[Any] = []
    for k in range(upper, lower - 1, -1):
        missing = longest - len(np.diagonal(x[0], k))
        shifted = (above if k >= 0 else below) == "RIGHT"
        sides = (missing, 0) if shifted else (0, missing)
        rows.append(np.pad(np.diagonal(x, k, 1, 2), [(0, 0), sides], constant_values=7))
    diagonals: Any = np.stack(rows, 1) if len(limits) > 1 else rows[0]
    k, padding, options = np.array(limits, np.int32), Constant(F(7)), {"align": align}
    constants = [Constant(k), padding]
    check("MatrixDiagPartV3", [x, k, padding], diagonals, attributes=options)
    check("MatrixDiagPartV3", [x, *constants], diagonals, attributes=options, dynamic=[False])
    check("MatrixDiagPartV3", [x, k, padding], diagonals, attributes=options, dynamic=[True], ranked=False)
    offsets = np.arange(5) - np.arange(3)[:, None]
    inside: Any = (lower <= offsets) & (offsets <= upper)
    put, padded = -x, np.full_like(x, 7)
    put[:, inside] = padded[:, inside] = x[:, inside]
    check("MatrixSetDiagV3", [-x, diagonals, k], put, attributes=options)
    check("MatrixSetDiagV3", [-x, diagonals, constants[0]], put, attributes=options, dynamic=[False])
    sizes = [np.array(3, np.int32), np.array(5, np.int32)]
    check("MatrixDiagV3", [diagonals, k, *sizes, padding], padded, attributes=options)
    check("MatrixDiagV3", [diagonals, k, *sizes, padding], padded, attributes=options, dynamic=[True], ranked=False)


def test_extremes_of_nothing() -> None:
    nothing, axes = np.zeros((2, 0, 3), F), Constant(np.array([1], np.int32))
    check(
        "Max", [nothing, axes], np.full((2, 3), -np.inf, F), form=None, dynamic=[False], attributes={"keep_dims": False}
    )
    check(
        "Min",
        [nothing, axes],
        np.full((2, 1, 3), np.inf, F),
        form=None,
        dynamic=[False],
        attributes={"keep_dims": True},
    )


def test_tables_of_diagonals_are_limited() -> None:
    x, operands = counted(6, 5), [Constant(np.array([-2, 2], np.int32)), Constant(F(7))]
    size = 8 * 5 * 5  # five diagonals of five numbers
    with limited(Limits(max_constant_bytes=size - 1)), pytest.raises(LitefuseError, match=f"would be {size} bytes"):
        converted("MatrixDiagPartV3", [x, *operands], [("float32", 2)], {"align": "LEFT_LEFT"})


def test_sizes_of_matrices_that_the_model_computes() -> None:
    x, k = np.array([1, 2], np.int64), np.array(-1, np.int32)
    for rows, columns, shape in ((-1, -1, (3, 3)), (3, -1, (3, 2)), (-1, 6, (3, 6)), (5, -1, (5, 2))):
        expected = np.full(shape, 7)
        expected[[1, 2], [0, 1]] = x
        sizes = [np.array(size, np.int32) for size in (rows, columns)]
        check("MatrixDiagV2", [x, k, *sizes, np.array(7)], expected)


@pytest.mark.parametrize("limits", [[-2], [2], [-2, -1], [1, 2], [-1, 1]])
def test_sizes_of_matrices_that_are_constants(limits: list[int]) -> None:
    lower, upper = limits[0], limits[-1]
    x = counted(2, upper - lower + 1, 4) + 1
    rows, columns = 4 + max(-upper, 0), 4 + max(lower, 0)  # the smallest that the longest diagonal fits into
    square = max(rows, columns)
    for given, shape in (
        ((-1, -1), (square, square)),
        ((rows + 2, -1), (rows + 2, columns)),
        ((-1, columns + 2), (rows, columns + 2)),
        ((rows, columns + 1), (rows, columns + 1)),
    ):
        expected = np.full((2, *shape), 0.5, F)
        for row, column in itertools.product(*map(range, shape)):
            if lower <= column - row <= upper:
                expected[:, row, column] = x[:, upper - column + row, min(row, column)]
        numbers = [Constant(np.array(each, np.int32)) for each in (limits, *given)]
        diagonals = x if len(limits) > 1 else x[:, 0]
        check("MatrixDiagV2", [diagonals, *numbers, Constant(F(0.5))], expected, dynamic=[False])


def test_rows_that_are_put_together_by_numbers_that_the_model_computes() -> None:
    """The last of several rows counts, and also the first of all."""
    first, second = np.array([0, 2], np.int32), np.array([[3, 1], [3, 4]], np.int32)
    rows, more = counted(2, 3), counted(2, 2, 3) + 10
    expected = np.stack([rows[0], more[0, 1], rows[1], more[1, 0], more[1, 1]])
    check("DynamicStitch", [first, second, rows, more], expected)
    check("DynamicStitch", [Constant(first), Constant(second), rows, more], expected, dynamic=[True])


def test_products_of_many_batches() -> None:
    """Of more dimensions than LiteRT's op takes."""
    x, y = normal(2, 1, 2, 1, 3, 4), normal(2, 4, 5)
    for adjoint in itertools.product((False, True), repeat=2):
        factors = [each.swapaxes(-1, -2) if turned else each for each, turned in zip((x, y), adjoint, strict=True)]
        options = {"adj_x": adjoint[0], "adj_y": adjoint[1]}
        check("BatchMatMulV2", factors, x @ y, attributes=options, rtol=1e-5, atol=1e-5)


def test_diagonals_of_the_first_version_make_squares() -> None:
    x = counted(2, 3).astype(np.uint16)  # the engine has the op for float32
    check("MatrixDiag", [x], x[:, :, None] * np.eye(3, dtype=np.uint16), form=None)


@pytest.mark.parametrize("limits", [(-1, 0), (0, -1), (0, 0), (1, 2), (-1, -1)])
def test_bands_of_matrices(limits: tuple[int, int]) -> None:
    x = (counted(2, 3, 5) + 1).astype(np.uint16)  # the engine has the op for float32
    below = np.arange(3)[:, None] - np.arange(5)
    inside = ((limits[0] < 0) | (below <= limits[0])) & ((limits[1] < 0) | (-below <= limits[1]))
    for constant in (True, False):
        numbers = [Constant(np.int64(each)) if constant else np.array(each, np.int64) for each in limits]
        check("MatrixBandPart", [x, *numbers], np.where(inside, x, np.uint16(0)))


def test_counts() -> None:
    x = np.array([3, 1, 1, 0, 3, 3], np.int32)
    check("Bincount", [x, Constant(np.int32(5)), Constant(np.zeros(0, np.int32))], np.array([1, 2, 0, 3, 0], np.int32))


def test_counts_of_each_row() -> None:
    x, weights = np.array([[3, 1, 1, 0], [0, 7, 0, 2]], np.int32), (counted(2, 4) + 1)
    counts = np.array([np.bincount(row, minlength=8)[:5] for row in x])
    sums = np.array([np.bincount(row, each, 8)[:5] for row, each in zip(x, weights, strict=True)], F)
    size, none = Constant(np.int32(5)), Constant(np.zeros(0, F))
    for take in (slice(None), 0, 1):
        check("DenseBincount", [x[take], size, none], counts[take].astype(F), attributes={"binary_output": False})
        check("DenseBincount", [x[take], size, weights[take]], sums[take], attributes={"binary_output": False})
        check("DenseBincount", [x[take], size, none], (counts[take] > 0).astype(F), attributes={"binary_output": True})


@pytest.mark.parametrize("kind", ["Sum", "Mean", "SqrtN"])
def test_a_number_of_segments(kind: str) -> None:
    x, indices, ids = normal(7, 2), np.array([3, 0, 6, 3, 1], np.int32), np.array([0, 0, 3, 3, 3], np.int32)
    divisors: Any = {"Sum": 1, "Mean": np.array([2, 3]), "SqrtN": np.sqrt([2, 3])}[kind] * np.ones(2)
    expected, gradient = np.zeros((5, 2), F), np.zeros((9, 2), F)
    for index, row in zip(indices, ids, strict=True):
        expected[row] += x[index] / divisors[row // 3]
        gradient[index] += x[row] / divisors[row // 3]
    for number in (Constant(np.int32(5)), np.array(5, np.int64)):
        check(f"SparseSegment{kind}WithNumSegments", [x, indices, ids, number], expected, rtol=1e-6)
    check(f"SparseSegment{kind}Grad", [x[:4], indices, ids, Constant(np.int32(9))], gradient, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_sums_of_segments_wrap_around(dtype: str) -> None:
    x = np.array([[np.iinfo(dtype).max], [3], [np.iinfo(dtype).min]], dtype)
    operands = [x, Constant(np.array([0, 1, 2], np.int32)), Constant(np.array([1, 1, 2], np.int32))]
    expected = np.array([[0], x[0] + x[1], x[2]], dtype)
    check("SparseSegmentSumWithNumSegments", [*operands, Constant(np.int32(3))], expected)


def test_segments_that_are_left_out() -> None:
    x = counted(4, 2)
    ids = Constant(np.array([0, 0, 2, 2], np.int32))
    check("SegmentSum", [x, ids], np.array([x[0] + x[1], [0, 0], x[2] + x[3]], F), dynamic=[False])


def test_rows_that_fall_on_one_place_are_added_up() -> None:
    x, updates = counted(3, 2), counted(2, 2) + 1
    places = Constant(np.array([[1], [1]], np.int32))
    expected = x.copy()
    expected[1] += updates.sum(0)
    check("TensorScatterAdd", [x, places, updates], expected)


def test_distinct_numbers_and_how_many_there_are() -> None:
    x = np.array([5, 3, 5, 9, 3, 5], np.int32)
    counts = np.array([3, 2, 1], np.int32)
    check("UniqueWithCounts", [x], np.array([5, 3, 9], np.int32), np.array([0, 1, 0, 2, 1, 0], np.int32), counts)


def test_places_of_flat_numbers() -> None:
    x = np.array([0, 17, 59], np.int32)
    expected = np.stack(np.unravel_index(x, (3, 4, 5))).astype(np.int32)
    check("UnravelIndex", [x, Constant(np.array([3, 4, 5], np.int32))], expected)


def test_slices_that_stay_within_the_tensor() -> None:
    x = counted(4, 5)
    for dtype in (np.int32, np.int64):
        size = Constant(np.array([2, 3], dtype))
        check("XlaDynamicSlice", [x, np.array([1, 2], dtype), size], x[1:3, 2:5])
        check("XlaDynamicSlice", [x, np.array([3, -1], dtype), size], x[2:4, 0:3])
        check("XlaDynamicSlice", [x, Constant(np.array([-7, 9], dtype)), size], x[0:2, 2:5])
    operands = [x > 3, np.array([1, 0], np.int32), Constant(np.array([0, 5], np.int32))]
    check("XlaDynamicSlice", operands, (x > 3)[1:1])
    nothing = np.zeros(0, np.int32)
    check("XlaDynamicSlice", [np.array(2, np.float32), nothing, Constant(nothing)], np.float32(2))


@pytest.mark.parametrize("op", ["TensorScatterMax", "TensorScatterMin"])
def test_extremes_of_infinities(op: str) -> None:
    high = float(np.finfo(F).max)
    x = np.array([-np.inf, np.inf, -high, high, -np.inf, np.inf, 1], F)
    updates = np.array([-np.inf, np.inf, np.inf, -np.inf, -high, high, 2, 3], F)
    places = np.array([0, 1, 2, 3, 4, 5, 6, 6], np.int32)
    largest, smallest = (
        [-np.inf, np.inf, np.inf, high, -high, np.inf, 3],
        [-np.inf, np.inf, -high, -np.inf, -np.inf, high, 1],
    )
    expected = np.array(largest if op == "TensorScatterMax" else smallest, F)
    check(op, [x, places[:, None], updates], expected, attributes={"bad_indices_policy": ""})


def test_what_is_not_finite_is_not_among_the_first() -> None:
    predictions = np.array([[1, 2, 3], [-np.inf, 1, 2], [np.nan, 1, 2], [1, 2, 3], [1, 2, 3]], F)
    targets = np.array([2, 2, 2, 7, 0], np.int32)
    check("InTopKV2", [predictions, targets, Constant(np.array(2, np.int32))], [True, False, False, False, False])
