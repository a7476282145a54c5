"""Rewritings of ops on arrays, against numpy."""

from __future__ import annotations

import numpy as np

from tests.legalize.one_op import Constant, check, counted

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
    operands = [x, *places]
    check("StridedSlice", operands, x[2], form=None, attributes=masks)


def test_slices_of_no_elements() -> None:
    x = counted(4, 3)
    begin, size = (Constant(np.array(each, np.int32)) for each in ([1, 0], [0, -1]))
    check("Slice", [x, begin, size], x[1:1], form=None, dynamic=[True])


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


def test_counts() -> None:
    x = np.array([3, 1, 1, 0, 3, 3], np.int32)
    check("Bincount", [x, Constant(np.int32(5)), Constant(np.zeros(0, np.int32))], np.array([1, 2, 0, 3, 0], np.int32))


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
    check("XlaDynamicSlice", [np.float32(2), np.zeros(0, np.int32), Constant(np.zeros(0, np.int32))], np.float32(2))
