# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of sparse and ragged tensors, against numpy."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest

from tests.passes.legalize.one_op import Constant, check

F = np.float32


def test_a_sparse_matrix_times_a_dense_one() -> None:
    indices, values = np.array([[0, 1], [2, 0], [2, 3]]), np.array([2, -3, 4], F)
    dense = np.random.default_rng(0).normal(size=(4, 2)).astype(F)
    matrix = np.zeros((3, 4), F)
    matrix[tuple(indices.T)] = values
    operands = [indices, values, Constant(np.array([3, 4])), dense]
    check(
        "SparseTensorDenseMatMul",
        operands,
        matrix @ dense,
        rtol=1e-5,
        attributes={"adjoint_a": False, "adjoint_b": False},
    )


def test_sparse_elements_in_order() -> None:
    indices, values = np.array([[2, 0], [0, 1], [2, -1 + 2]]), np.array([2, -3, 4], F)
    order = np.lexsort(indices.T[::-1])
    check("SparseReorder", [indices, values, Constant(np.array([3, 4]))], indices[order], values[order])


def test_sparse_elements_in_another_shape() -> None:
    indices = np.array([[0, 1], [2, 3]])
    flat = np.ravel_multi_index(tuple(indices.T), (3, 4))
    expected = np.stack(np.unravel_index(flat, (2, 6)), 1)
    operands = [indices, Constant(np.array([3, 4])), Constant(np.array([2, -1]))]
    check("SparseReshape", operands, expected, np.array([2, 6]))


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
    check("SparseAdd", [a, ours, shape, b, others, shape, Constant(F(1))], *expected, dynamic=[False])
    dense, total = np.zeros((3, 5), np.int32), np.zeros((3, 5), np.int32)
    dense[1, 0], total[1, 0] = 3, 14
    repeated, values = np.array([[1, 0], [1, 0]]), np.array([5, 6], np.int32)
    check("SparseTensorDenseAdd", [repeated, values, shape, dense], total)
