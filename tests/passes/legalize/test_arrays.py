# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of ops on arrays, against numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from litefuse.errors import LitefuseError
from litefuse.support.options.limits import Limits, limited
from tests.passes.legalize.one_op import Array, Constant, Static, check, converted, counted, normal

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


def slice_of(index: Any, dtype: str = "int32") -> tuple[list[Array], dict[str, int]]:
    """The begin, the end and the strides of ``StridedSlice`` for an index of numpy, and its masks."""
    places: list[tuple[int, int, int]] = []
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = {f"{name}_mask": 0 for name in names}
    for at, part in enumerate(index if isinstance(index, tuple) else (index,)):
        if isinstance(part, slice):
            places.append((part.start or 0, part.stop or 0, part.step or 1))
            masks["begin_mask"] |= (part.start is None) << at
            masks["end_mask"] |= (part.stop is None) << at
        elif isinstance(part, int):
            places.append((part, part + 1, 1))
            masks["shrink_axis_mask"] |= 1 << at
        else:
            places.append((0, 0, 1))
            masks["ellipsis_mask" if part is Ellipsis else "new_axis_mask"] |= 1 << at
    return [np.array(numbers, dtype) for numbers in zip(*places, strict=True)], masks


@pytest.mark.parametrize(
    "index",
    [
        np.s_[1:, ::2, -3:-1],
        np.s_[..., 1, None, ::-1],
        np.s_[None, 0, ..., None, :2, 1],
        np.s_[:, 2::-2, -1, ...],
        np.s_[1, 1:-1, None, 0, ..., -2],
    ],
    ids=str,
)
@pytest.mark.parametrize("rank", [5, 6])
def test_slices_their_gradients_and_updates(index: Any, rank: int) -> None:
    x = counted(2, 3, 4, 2, 3, 2)[(0,) * (6 - rank)]
    places, masks = slice_of(index)
    constants = [Constant(place) for place in places]
    taken = x[index]
    computed = [Static(place) for place in places]
    for operands in (constants, computed):
        check("StridedSlice", [x, *operands], taken, attributes=masks, form="any")
    gradient, updated = np.zeros_like(x), x.copy()
    gradient[index], updated[index] = taken, -taken
    shape = np.array(x.shape, np.int32)
    check("StridedSliceGrad", [Constant(shape), *constants, taken], gradient, attributes=masks)
    check("StridedSliceGrad", [Static(shape), *computed, taken], gradient, attributes=masks, dynamic=[True])
    check("TensorStridedSliceUpdate", [x, *constants, -taken], updated, attributes=masks)
    check("TensorStridedSliceUpdate", [x, *computed, -taken], updated, attributes=masks, dynamic=[True])


def test_updates_of_slices_are_broadcast() -> None:
    x = counted(4, 3, 2)
    for index, update in ((np.s_[1:3, None, 2], F(-1)), (np.s_[::2], -counted(2)), (np.s_[-3:, 0:2], -counted(2, 1))):
        places, masks = slice_of(index)
        expected = x.copy()
        expected[index] = update
        operands = [x, *(Constant(place) for place in places), np.asarray(update)]
        check("TensorStridedSliceUpdate", operands, expected, attributes=masks)


def test_slices_without_elements() -> None:
    x = counted(4, 3, 2)
    for index in (np.s_[2:2], np.s_[1, None, 2:2, None], np.s_[:, 1:1, 0], np.s_[::2, ..., 1:1]):
        places, masks = slice_of(index)
        check("StridedSlice", [x, *map(Constant, places)], x[index], attributes=masks, form=None, dynamic=[True])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_slices_at_computed_positions(dtype: str) -> None:
    x = counted(4, 5)
    begin, size = np.array([1, 2], dtype), np.array([2, -1], dtype)
    for operands in ([begin, Constant(size)], [Constant(begin), size], [begin, size]):
        check("Slice", [x, *operands], x[1:3, 2:], form="any")


def elements(dtype: str, *shape: int) -> Array:
    """Numbers of a dtype whose bits differ in all of their bytes."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    content = np.random.default_rng(3).integers(1, 100, size, np.uint8).tobytes()
    return np.frombuffer(content, dtype).reshape(shape) if dtype != "bool" else normal(*shape) > 0


@pytest.mark.parametrize(
    "dtype",
    *[["bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "int64", "float16", "float64", "complex64"]],
)
def test_moved_elements_of_each_dtype(dtype: str) -> None:
    x, y = elements(dtype, 2, 3), elements(dtype, 2, 3)[::-1].copy()
    integers = [Constant(np.array(each, np.int32)) for each in ([1, 0], [[1, 0], [0, 2]], 1)]
    order, pads, axis = integers
    for op, operands, expected, attributes in (
        ("Transpose", [x, order], x.T, {}),
        ("Pad", [x, pads], np.pad(x, [(1, 0), (0, 2)]), {}),
        ("ConcatV2", [x, y, axis], np.concatenate([x, y], 1), {}),
        ("GatherV2", [x, order, axis], x[:, ::-1][:, 1:], {"batch_dims": 0}),
        ("Pack", [x, y], np.stack([x, y], -1), {"axis": -1}),
        ("SelectV2", [np.array([[True], [False]]), x, y], np.stack([x[0], y[1]]), {}),
    ):
        check(op, operands, expected, attributes=attributes, form="any", dynamic=[True])


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "complex64"])
def test_replaced_elements_and_rows(dtype: str, *, constant: bool) -> None:
    x, y = elements(dtype, 2, 3), elements(dtype, 2, 3)[::-1].copy()
    twice = np.array([[1], [0], [1]], np.int32)
    for indices, updates in (
        (twice, np.stack([y[0], y[1], x[0]])),
        (np.array([[1, 2], [0, 1]], np.int32), y[1, :2].copy()),
        (np.array([[0, 1]], np.int32), y[1, 2:].copy()),
        (twice[:1], y[:1].copy()),
    ):
        expected = x.copy()
        for index, update in zip(indices, updates, strict=True):
            expected[tuple(index)] = update
        operands = [x, Constant(indices) if constant else indices, updates]
        check("TensorScatterUpdate", operands, expected, form="any", dynamic=[not constant])


def test_pieces_of_many_dimensions_and_rare_dtypes() -> None:
    many, rare = counted(2, 1, 3, 1, 2, 1, 6), elements("uint16", 3, 6)
    sizes = np.array([1, -1, 2], np.int32)
    for x in (many, rare):
        for axis in (-1, x.ndim - 1):
            place = Constant(np.int32(axis))
            check("Split", [place, x], *np.split(x, 3, -1), attributes={"num_split": 3})
            expected = np.split(x, [1, 4], -1)
            check("SplitV", [x, Constant(sizes), place], *expected, attributes={"num_split": 3})
            check("Unpack", [x], *np.moveaxis(x, -1, 0), attributes={"axis": axis, "num": 6}, form="any")
    check("Unpack", [rare], *rare, attributes={"num": 3}, form="any")


def test_ops_of_seven_dimensions() -> None:
    x, y = normal(2, 1, 3, 1, 2, 2, 3), -normal(2, 1, 3, 1, 2, 2, 3)
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    chances = exponentials / exponentials.sum(-1, keepdims=True)
    check("Softmax", [x], chances, rtol=1e-5)
    check("LogSoftmax", [x], np.log(chances), rtol=1e-5, atol=1e-6)
    for axis in (2, -1):
        check("ConcatV2", [x, y, Constant(np.int32(axis))], np.concatenate([x, y], axis))
    halves = [each.astype(np.float16) for each in (x, y)]
    check("Pack", halves, np.stack(halves, -2), attributes={"axis": -2})
    pads = [(0, 1), (1, 0), (0, 0), (2, 1), (0, 0), (0, 0), (1, 1)]
    for numbers in (np.array(pads, np.int32), Constant(np.array(pads, np.int32))):
        check("Pad", [x, numbers], np.pad(x, pads))
        check("PadV2", [x, numbers, Constant(F(-2))], np.pad(x, pads, constant_values=-2))
    begin, size = np.array([1, 0, 1, 0, 0, 1, 0], np.int32), np.array([1, -1, -1, 1, 2, 1, 2], np.int32)
    check("Slice", [x, Constant(begin), Constant(size)], x[1:2, :, 1:, :1, :2, 1:2, :2])
    for axes in ((0, 2, -1), (1, 4, 5)):
        for keep in (False, True):
            numbers, options = Constant(np.array(axes, np.int32)), {"keep_dims": keep}
            check("Max", [x, numbers], x.max(axes, keepdims=keep), attributes=options)
            check("Mean", [x, numbers], x.mean(axes, keepdims=keep), attributes=options, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_inverted_permutations(dtype: str) -> None:
    order = np.array([2, 4, 0, 1, 3], dtype)
    check("InvertPermutation", [order], np.argsort(order).astype(dtype), form="any")


def test_reversals() -> None:
    x = counted(2, 3, 4)
    check("Reverse", [x, Constant(np.array([True, False, True]))], x[::-1, :, ::-1])
    check("ReverseV2", [x, Constant(np.zeros(0, np.int32))], x)
    for axes in ([-1, 0], [1, 2], [-2]):
        check("ReverseV2", [x, Constant(np.array(axes, np.int32))], np.flip(x, tuple(axes)), form="any")
    check("ReverseV2", [x, Static(np.array([1], np.int32))], x[:, ::-1], form=None)


def test_a_parallel_concatenation() -> None:
    x = counted(3, 2)
    check("ParallelConcat", [*x[:, None]], x, attributes={"shape": [3, 2]}, dynamic=[False])


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_where_numbers_belong_among_sorted_ones(dtype: str) -> None:
    ordered, values = np.array([[1, 3, 3, 7], [0, 0, 2, 9]], dtype), np.array([[3, 0, 8], [0, 9, 1]], dtype)
    pairs = [*zip(ordered, values, strict=True)]
    left, right = (np.stack([np.searchsorted(*pair, side) for pair in pairs]) for side in ("left", "right"))  # pyright: ignore[reportCallIssue, reportArgumentType]
    for op, expected in (("LowerBound", left), ("UpperBound", right)):
        for kind in (np.int32, np.int64):
            check(op, [ordered, values], expected.astype(kind))


def test_a_histogram() -> None:
    x = np.array([[-9, 0, 1.4, 1.6], [4.9, 5, 77, 3.2]], F)
    for kind in (np.int32, np.int64):
        for number in (Constant(np.int32(3)), np.array(3, np.int32)):
            expected = np.histogram(np.clip(x, 0, 5), 3, (0, 5))[0].astype(kind)
            check("HistogramFixedWidth", [x, Constant(np.array([0, 5], F)), number], expected, dynamic=[True])


def test_the_place_of_a_class_among_the_best() -> None:
    x, targets = normal(5, 4), np.array([0, 3, 1, 2, 2])
    for k in (1, 2, 3):
        expected = [(row > row[target]).sum() < k for row, target in zip(x, targets, strict=True)]
        check("InTopK", [x, targets.astype(np.int32)], expected, attributes={"k": k})
        check("InTopKV2", [x, targets, np.array(k)], expected)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_nth_of_the_smallest_or_largest(*, reverse: bool) -> None:
    x = normal(2, 3, 5)
    for n in (0, 3):
        expected = np.sort(x, -1)[..., -1 - n if reverse else n]
        check("NthElement", [x, Constant(np.int32(n))], expected, attributes={"reverse": reverse}, dynamic=[True])


def test_what_is_in_no_other_list() -> None:
    words = np.array([b"a", b"b", b"a", b"c", b"d"], object)
    for x, y in ((np.array([7, 2, 7, 5, 1], np.int32), np.array([2, 1], np.int32)), (words, words[[1, 4]])):
        for kind in (np.int32, np.int64):
            check("ListDiff", [x, y], x[[0, 2, 3]], np.array([0, 2, 3], kind), dynamic=[True])
    check("ListDiff", [words, Constant(words[:1])], words[[1, 3, 4]], np.array([1, 3, 4], np.int32), dynamic=[True])


def test_distinct_strings() -> None:
    words = np.array([b"b", b"a", b"b", b"c", b"a"], object)
    for x in (words, np.array([5, 3, 5, 9, 3], np.int32)):
        expected = [x[[0, 1, 3]], np.array([0, 1, 0, 2, 1])]
        for kind in (np.int32, np.int64):
            values, places = expected[0], expected[1].astype(kind)
            check("Unique", [x], values, places, dynamic=[True], form="any")
            check("UniqueV2", [x, Constant(np.array([0], np.int32))], values, places, dynamic=[True])
        check("UniqueWithCounts", [x], expected[0], expected[1], np.array([2, 2, 1]), dynamic=[True])
    check("Unique", [Constant(words)], words[[0, 1, 3]], np.array([0, 1, 0, 2, 1], np.int32), form="any")


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_extremes_of_int64(axis: int) -> None:
    x = np.array([[[1, -(2**63), 5], [2**62, 5, 5]], [[0, 7, 2**63 - 1], [7, 7, -3]]])
    for op, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for kind in (np.int32, np.int64):
            check(op, [x, Constant(np.int32(axis))], function(x, axis).astype(kind))


@pytest.mark.parametrize("binary", [False, True])
def test_counts_of_ragged_rows(*, binary: bool) -> None:
    splits, numbers, weights = np.array([0, 2, 2, 6]), np.array([1, 1, 0, 7, 3, 3], np.int32), counted(6) + 1
    for given in (np.zeros(0, F), weights):
        expected = np.zeros((3, 4), F)
        for row, number, weight in zip([0, 0, 2, 2, 2, 2], numbers, given if len(given) else np.ones(6), strict=True):
            if number < 4:
                expected[row, number] = 1 if binary else expected[row, number] + weight
        for size in (Constant(np.int32(4)), np.array(4, np.int32)):
            weighted = given if len(given) else Constant(given)
            check("RaggedBincount", [splits, numbers, size, weighted], expected, attributes={"binary_output": binary})


@pytest.mark.parametrize("multiples", [(2, 1, 3), (1, 7, 1), (5, 2, 4), (1, 1, 1), (6, 1, 0)])
def test_copies_along_open_dimensions(multiples: tuple[int, ...]) -> None:
    x, form = counted(2, 3, 2), None if max(multiples) == 1 else "rewritten"
    check("Tile", [x, Constant(np.array(multiples, np.int32))], np.tile(x, multiples), dynamic=[True], form=form)


def test_rows_of_each_partition() -> None:
    x, partitions = counted(3, 2, 4), np.array([[0, 2], [1, 0], [2, 2]], np.int32)
    expected = [x[partitions == number] for number in range(4)]
    check("DynamicPartition", [x, partitions], *expected, attributes={"num_partitions": 4})
    check("DynamicPartition", [x, partitions[:, 0]], x[:1], x[1:2], x[2:], attributes={"num_partitions": 3})


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_rolled_by_numbers_that_the_model_computes(dtype: str) -> None:
    x = counted(3, 4, 2)
    shift, axes = np.array([2, -7, 1], dtype), np.array([0, -2, 1], dtype)
    check("Roll", [x, shift, Constant(axes)], np.roll(x, shift, axes), dynamic=[True])
    check("Roll", [x, np.array(5, dtype), Constant(np.array(-1, dtype))], np.roll(x, 5, -1))
    with pytest.raises(LitefuseError, match="not axes of rank 3"):
        converted("Roll", [x, Constant(shift[0]), Constant(np.array(3, dtype))], [("float32", 3)], dynamic=True)


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64"])
def test_main_diagonals(dtype: str) -> None:
    x, square = elements(dtype, 2, 3), elements(dtype, 2, 3, 2, 3)
    flat = square.reshape(6, 6)
    check("Diag", [x], np.diag(x.reshape(-1)).reshape(2, 3, 2, 3), dynamic=[False], form="any")
    check("DiagPart", [square], np.diagonal(flat).reshape(2, 3), dynamic=[False], form="any")
    matrices = elements(dtype, 2, 3, 4)
    check("MatrixDiagPart", [matrices], np.diagonal(matrices, 0, 1, 2), form="any")
    put = matrices.copy()
    put[:, range(3), range(3)] = x
    check("MatrixSetDiag", [matrices, x], put, form="any")
    padding = np.array(7, dtype)
    expected = np.full((2, 4, 4), 7, dtype)
    expected[:, range(1, 4), range(3)] = x
    operands = [x, *(Constant(np.array(each, np.int32)) for each in (-1, -1, -1)), padding]
    check("MatrixDiagV3", operands, expected, attributes={"align": "RIGHT_LEFT"})


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint16", "uint32", "uint64", "int64", "float16"])
def test_as_many_ones_or_zeros(dtype: str) -> None:
    x = elements(dtype, 2, 3)
    check("OnesLike", [x], np.ones_like(x), form="any")
    check("ZerosLike", [x], np.zeros_like(x), form="any")


def test_as_many_complex_ones_or_zeros() -> None:
    x = elements("complex64", 2, 3)
    check("OnesLike", [x], np.ones_like(x), dynamic=[True])
    check("ZerosLike", [x], np.zeros_like(x), dynamic=[True])


def test_as_many_empty_strings() -> None:
    check("ZerosLike", [np.array([[b"a"], [b""]], object)], np.array([[b""], [b""]], object))


def test_shapes_of_several() -> None:
    for kind in (np.int32, np.int64):
        check("ShapeN", [counted(2, 3), counted(4)], np.array([2, 3], kind), np.array([4], kind), form="any")


def test_what_returns_its_operand() -> None:
    x = counted(2, 3)
    check("GuaranteeConst", [x], x, form="any")
    check("Print", [x, counted(2)], x, form="any", attributes={"message": "seen"})


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_columns_that_have_factors(dtype: str) -> None:
    x, y, z = (normal(3, 1).astype(dtype) * scale for scale in (1, 2, 3))
    for formula, expected in (
        (lambda b, x, y, z: b.concat([x * 2.0, y * 3.0, z], 1), [x * 2, y * 3, z]),
        (lambda b, x, y, z: b.concat([x * 2.0, y, z], 1), [x * 2, y, z]),
        (lambda b, x, y, z: b.concat([2.0 - x, 3.0 - y, z], 1), [2 - x, 3 - y, z]),
        (lambda b, x, y, z: b.concat([x - 2.0, y - 3.0, z - 4.0], 1), [x - 2, y - 3, z - 4]),
    ):
        whole = np.concatenate(expected, 1).astype(dtype)
        check(formula, [Static(x), Static(y), Static(z)], whole, rtol=1e-3, dynamic=[False])


def test_sums_of_what_falls_on_one_place() -> None:
    """Of integers that LiteRT's op does not take, too; the bits of other numbers cannot be added."""
    places, size = Constant(np.array([[2], [2], [0]], np.int32)), Constant(np.array([4], np.int32))
    for dtype in ("int8", "uint16", "uint32", "uint64"):
        x = np.array([3, 4, 5], dtype)
        check("ScatterNd", [places, x, size], np.array([5, 0, 7, 0], dtype), form="any", dynamic=[True])
    with pytest.raises(LitefuseError):
        converted("ScatterNd", [places, np.array([3.0, 4, 5]), size], [("float64", 1)])
