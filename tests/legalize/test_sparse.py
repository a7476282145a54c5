# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of sparse and ragged tensors, against numpy."""

from __future__ import annotations

import numpy as np

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
