# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of sparse and ragged tensors, against numpy."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest

from tests.legalize.one_op import Constant, check

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
