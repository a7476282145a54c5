# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of sparse and ragged tensors, against numpy."""

from __future__ import annotations

import itertools
from itertools import chain
from typing import Any

import numpy as np
import pytest

from tests.passes.legalize.one_op import Constant, Static, check

F = np.float32


@pytest.mark.parametrize("adjoint", [*itertools.product((False, True), repeat=2)])
def test_a_sparse_matrix_times_a_dense_one(adjoint: tuple[bool, bool]) -> None:
    indices, values = np.array([[0, 1], [2, 0], [2, 3]]), np.array([2, -3, 4], F)
    matrix = np.zeros((3, 4), F)
    matrix[tuple(indices.T)] = values
    dense = np.random.default_rng(0).normal(size=(3, 2) if adjoint[0] else (4, 2)).astype(F)
    expected = (matrix.T if adjoint[0] else matrix) @ dense
    options = {"adjoint_a": adjoint[0], "adjoint_b": adjoint[1]}
    for shape in (Constant(np.array([3, 4])), Static(np.array([3, 4]))):
        operands = [indices, values, shape, dense.T.copy() if adjoint[1] else dense]
        check("SparseTensorDenseMatMul", operands, expected, rtol=1e-5, atol=1e-6, attributes=options)


@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
def test_sparse_elements_in_order(dtype: str) -> None:
    indices, values = np.array([[2, 0, 1], [0, 1, 0], [2, 0, 0], [1, 3, 1]]), np.array([2, 0, 4, 1]).astype(dtype)
    order = np.lexsort(indices.T[::-1])
    for shape in (Constant(np.array([3, 4, 2])), Static(np.array([3, 4, 2]))):
        check("SparseReorder", [indices, values, shape], indices[order], values[order])


@pytest.mark.parametrize("wanted", [(2, -1), (2, 6), (-1,), (3, 2, -1)])
def test_sparse_elements_in_another_shape(wanted: tuple[int, ...]) -> None:
    indices = np.array([[0, 1], [2, 3], [1, 0]])
    shape = np.zeros((3, 4)).reshape(wanted).shape
    expected = np.stack(np.unravel_index(np.ravel_multi_index(tuple(indices.T), (3, 4)), shape), 1)
    old, new = np.array([3, 4]), np.array(wanted)
    check("SparseReshape", [indices, Constant(old), Constant(new)], expected, np.array(shape))
    check("SparseReshape", [indices, Static(old), Static(new)], expected, np.array(shape), dynamic=[True])


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_empty_rows_that_are_filled(dtype: str) -> None:
    indices, values = np.array([[3, 1], [1, 2], [3, 0], [1, 0]]), np.array([5, 6, 7, 8], dtype)
    expected = np.array([[0, 0], [1, 2], [1, 0], [2, 0], [3, 1], [3, 0], [4, 0]])
    filled, places = np.array([-1, 6, 8, -1, 5, 7, -1], dtype), np.array([4, 1, 5, 2])
    operands = [indices, values, Static(np.array([5, 3])), np.array(-1, dtype)]
    results = [expected, filled, np.array([True, False, True, False, True]), places]
    check("SparseFillEmptyRows", operands, *results, dynamic=[False])


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_sparse_elements_and_dense_ones(dtype: str) -> None:
    indices, values = np.array([[0, 1], [2, 3], [1, 0]]), np.array([7, -9, 12], dtype)
    shape = Static(np.array([3, 4]))
    for dense in (np.arange(1, 13).reshape(3, 4).astype(dtype), np.array([2, 3, 4, 5], dtype), np.array(3, dtype)):
        others = np.broadcast_to(dense, (3, 4))[tuple(indices.T)]
        quotients = values / others if dtype == "float32" else np.trunc(values / others).astype(dtype)
        for op, expected in (("Add", values + others), ("Mul", values * others), ("Div", quotients)):
            check(f"SparseDenseCwise{op}", [indices, values, shape, dense], expected, rtol=1e-6, dynamic=[True])


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_a_dense_tensor_plus_sparse_elements(dtype: str) -> None:
    indices, values = np.array([[0, 1], [2, 3], [0, 1], [1, 0]]), np.array([7, 9, 3, 12], dtype)
    dense = np.arange(1, 13).reshape(3, 4).astype(dtype)
    expected = dense.copy()
    np.add.at(expected, tuple(indices.T), values)
    check("SparseTensorDenseAdd", [indices, values, Static(np.array([3, 4])), dense], expected)


def test_softmax_of_sparse_rows() -> None:
    indices = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 0], [2, 1, 0], [2, 1, 1], [2, 1, 3]])
    values = np.array([1, 2, 80, -3, 4, 0.5], F)
    dense = np.full((3, 2, 4), -np.inf)
    dense[tuple(indices.T)] = values
    rows = dense[tuple(indices[:, :2].T)]
    expected = np.exp(values - rows.max(1)) / np.exp(rows - rows.max(1, keepdims=True)).sum(1)
    for shape in (Constant(np.array([3, 2, 4])), Static(np.array([3, 2, 4]))):
        check("SparseSoftmax", [indices, values, shape], expected.astype(F), rtol=1e-5)


@pytest.mark.parametrize("axes", [[0], [-1, 0], [1]])
def test_sums_of_sparse_elements(axes: list[int]) -> None:
    indices, dense = np.array([[0, 1, 1], [2, 3, 0], [1, 0, 1], [1, 0, 0]]), np.zeros((3, 4, 2), F)
    values = np.array([7, -9, 12, 1], F)
    dense[tuple(indices.T)] = values
    for keep in (False, True):
        expected = dense.sum(tuple(axes), keepdims=keep)
        operands = [indices, values, Static(np.array([3, 4, 2])), Constant(np.array(axes, np.int32))]
        check("SparseReduceSum", operands, expected, attributes={"keep_dims": keep}, dynamic=[True])
        check("SparseReduceSum", operands, expected, attributes={"keep_dims": keep}, dynamic=[True], ranked=False)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_gathered_ragged_rows(dtype: str) -> None:
    outer, inner = np.array([0, 2, 2, 5], dtype), np.array([0, 1, 4, 4, 6, 7], dtype)
    values = np.arange(14, dtype=F).reshape(7, 2)
    rows = [[values[inner[k] : inner[k + 1]] for k in range(outer[i], outer[i + 1])] for i in range(3)]
    indices = np.array([[2, 0], [1, 2]], dtype)
    taken = [rows[i] for i in indices.reshape(-1)]
    first = np.cumsum([0, *map(len, taken)]).astype(dtype)
    second = np.cumsum([0, *(len(row) for part in taken for row in part)]).astype(dtype)
    flat = np.concatenate([row for part in taken for row in part])
    options = {"OUTPUT_RAGGED_RANK": 2}
    check("RaggedGather", [outer, inner, values, indices], first, second, flat, attributes=options, dynamic=[True])


@pytest.mark.parametrize("by_ids", [False, True])
@pytest.mark.parametrize("wanted", [(), (-1, -1, -1), (2, -1, 2), (4, 3, 1)])
def test_ragged_rows_as_a_dense_tensor(wanted: tuple[int, ...], *, by_ids: bool) -> None:
    outer, inner, values = [0, 2, 2, 5], [0, 1, 4, 4, 6, 7], np.arange(7, dtype=np.int16)
    rows = [[values[inner[k] : inner[k + 1]] for k in range(outer[i], outer[i + 1])] for i in range(3)]
    longest = (3, max(map(len, rows)), max(len(row) for part in rows for row in part))
    shape = [size if size >= 0 else own for size, own in zip(wanted or (-1, -1, -1), longest, strict=True)]
    expected = np.full(shape, -7, np.int16)
    for (i, part), (j, _) in itertools.product(enumerate(rows[: shape[0]]), enumerate(range(shape[1]))):
        row = part[j][: shape[2]] if j < len(part) else []
        expected[i, j, : len(row)] = row
    if by_ids:
        ids = [np.repeat(range(len(splits) - 1), np.diff(splits)) for splits in (outer, inner)]
        partitions, kinds = [np.array(3), *ids], ["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"]
    else:
        partitions, kinds = [np.array(outer), np.array(inner)], ["ROW_SPLITS", "ROW_SPLITS"]
    given = np.array(wanted, np.int64) if wanted else np.array(-1, np.int64)
    operands = [Constant(given), values, np.array(-7, np.int16), *partitions]
    check("RaggedTensorToTensor", operands, expected, attributes={"row_partition_types": kinds}, dynamic=[True])


def test_ranges_of_different_lengths() -> None:
    starts, limits = np.array([0, 5, 2], np.int32), np.array([3, 5, 4], np.int32)
    values = np.concatenate([np.arange(*each) for each in zip(starts, limits, strict=True)]).astype(np.int32)
    check("RaggedRange", [starts, limits, Constant(np.int32(1))], np.array([0, 3, 3, 5]), values)


@pytest.mark.parametrize("operation", ["a-b", "b-a", "intersection", "union"])
def test_sets(operation: str) -> None:
    a, b = [[10, 2, 30, 2, 5], [10, 9, 1, 9, 3], [4, 4, 4, 4, 4]], [[4, 5, 10, 8], [1, 4, 1, 1], [7, 4, 9, 4]]
    a, b = (b, a) if operation == "b-a" else (a, b)
    meaning: Any = {"intersection": set.intersection, "union": set.union}.get(operation, set.difference)
    rows = [sorted(meaning(set(x), set(y))) for x, y in zip(a, b, strict=True)]
    indices = [[row, place] for row, values in enumerate(rows) for place in range(len(values))]
    for dtype in (np.int32, np.int64, np.uint8):
        expected = [np.array(indices), np.array([*chain(*rows)], dtype), np.array([3, max(map(len, rows))])]
        operands = [np.array(each, dtype) for each in ((b, a) if operation == "b-a" else (a, b))]
        check("DenseToDenseSetOperation", operands, *expected, attributes={"set_operation": operation})


def test_sizes_of_sets() -> None:
    indices, shape = np.array([[0, 0], [0, 1], [0, 2], [2, 0]]), np.array([3, 4])
    check("SetSize", [indices, np.array([5, 7, 5, 5], np.int32), shape], np.array([2, 0, 1], np.int32), dynamic=[False])


def test_ranges_of_floats() -> None:
    starts, limits, deltas = (
        np.array(each, F) for each in ([0, 0, 1, 10, 0.5, 0.5, 3], [-5, -2, 7, 100, 1, 1, 3], [-1, 1, 2, 20, 1, 1.1, 2])
    )
    rows = [np.arange(*each, dtype=F) for each in zip(starts, limits, deltas, strict=True)]
    splits = np.cumsum([0, *(len(row) for row in rows)])
    check("RaggedRange", [starts, limits, deltas], splits, np.concatenate(rows), rtol=1e-6)
    check(
        "RaggedRange",
        [Constant(F(0)), Constant(F(1)), Constant(F(0.3))],
        np.array([0, 4]),
        np.array([0, 0.3, 0.6, 0.9], F),
        rtol=1e-6,
    )


def test_ragged_elements_as_sparse_ones() -> None:
    outer, inner = np.array([0, 1, 1, 5]), np.array([0, 3, 3, 5, 9, 10])
    values = np.arange(20, dtype=F).reshape(10, 2)
    expected = [
        (i, j - outer[i], k - inner[j], m)
        for i in range(3)
        for j in range(outer[i], outer[i + 1])
        for k in range(inner[j], inner[j + 1])
        for m in range(2)
    ]
    for dtype in (np.int32, np.int64):
        operands = [outer.astype(dtype), inner.astype(dtype), values]
        check("RaggedTensorToSparse", operands, np.array(expected), values.reshape(-1), np.array([3, 4, 4, 2]))


def test_ragged_strings_as_sparse_ones() -> None:
    splits, values = np.array([0, 2, 2, 3]), np.array([b"a", b"", "\u00e9".encode()], object)
    check("RaggedTensorToSparse", [splits, values], np.array([[0, 0], [0, 1], [2, 0]]), values, np.array([3, 2]))


@pytest.mark.parametrize("rows", [-1, 2, 4, 6])
@pytest.mark.parametrize("width", [-1, 2, 4])
def test_ragged_elements_as_dense_ones(rows: int, width: int) -> None:
    """Rows are filled up or cut, and there are as many of them as is asked for."""
    splits, values = np.array([0, 3, 3, 4, 6]), np.arange(1, 7, dtype=F)
    expected = np.full((4 if rows < 0 else rows, 3 if width < 0 else width), -1, F)
    for row, taken in zip(expected, np.split(values, splits[1:-1]), strict=False):
        row[: len(taken)] = taken[: len(row)]
    operands = [Constant(np.array([rows, width])), values, Constant(F(-1)), splits]
    check("RaggedTensorToTensor", operands, expected, attributes={"row_partition_types": ["ROW_SPLITS"]})


def test_sums_of_sparse_tensors() -> None:
    a, b = np.array([[0, 1], [1, 0], [2, 3]]), np.array([[0, 0], [1, 0], [2, 3], [2, 4]])
    shape, ours, others = np.array([3, 5]), np.array([1, 2, 4], F), np.array([0.5, 7, -4, -3], F)
    expected = np.array([[0, 0], [0, 1], [1, 0], [2, 4]]), np.array([0.5, 1, 9, -3], F), shape
    check("SparseAdd", [a, ours, Static(shape), b, others, Static(shape), Constant(F(1))], *expected)
    dense, total = np.zeros((3, 5), np.int32), np.zeros((3, 5), np.int32)
    dense[1, 0], total[1, 0] = 3, 14
    repeated, values = np.array([[1, 0], [1, 0]]), np.array([5, 6], np.int32)
    check("SparseTensorDenseAdd", [repeated, values, shape, dense], total)
