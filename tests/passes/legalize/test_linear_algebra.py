# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of linear algebra, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.legalize.one_op import check, converted, normal

F = np.float32


def test_the_inverse() -> None:
    x = normal(2, 4, 4) + 4 * np.eye(4, dtype=F)
    check("MatrixInverse", [x], np.linalg.inv(x), form="composite", rtol=1e-4, atol=1e-5, attributes={"adjoint": False})


def test_a_square_root_of_a_matrix() -> None:
    x = normal(3, 3)
    x = x @ x.T + np.eye(3, dtype=F)
    check("Cholesky", [x], np.linalg.cholesky(x), form="composite", rtol=1e-4, atol=1e-5)


def test_a_tridiagonal_system() -> None:
    diagonals, right = normal(3, 5), normal(5, 2)
    diagonals[1] += 5
    matrix = np.diag(diagonals[0, :-1], 1) + np.diag(diagonals[1]) + np.diag(diagonals[2, 1:], -1)
    solution = np.linalg.solve(matrix, right)
    options = {"partial_pivoting": False, "perturb_singular": False}
    check("TridiagonalSolve", [diagonals, right], solution, dynamic=[False], rtol=1e-4, atol=1e-5, attributes=options)


def test_a_sum_over_a_label() -> None:
    x = normal(2, 3, 4)
    check("Einsum", [x], x.sum(1), rtol=1e-5, atol=1e-6, attributes={"equation": "abc->ac"})


@pytest.mark.parametrize("equation", ["ijk,lmj->iklm", "ijk,lmj->mlki", "hijk,lmj->hiklm", "hijk,lhmj->hiklm"])
def test_sum_over_an_inner_label(equation: str) -> None:
    """The engine would lose the first operand's transposition."""
    sizes = dict(zip("hijklm", range(2, 8), strict=True))
    operands = [
        np.random.default_rng(place).normal(size=[sizes[label] for label in labels]).astype(np.float32)
        for place, labels in enumerate(equation.partition("->")[0].split(","))
    ]
    expected = np.einsum(equation, *operands)
    check("Einsum", operands, expected, rtol=1e-5, atol=1e-5, attributes={"equation": equation})


def test_products_of_integers() -> None:
    x, y = (np.random.default_rng(seed).integers(-9, 9, (3, 3), np.int32) for seed in (1, 2))
    check("MatMul", [x, y], x @ y.T, attributes={"transpose_a": False, "transpose_b": True})


def test_a_determinant() -> None:
    x = normal(3, 3)
    check("MatrixDeterminant", [x], F(np.linalg.det(x)), form="composite", rtol=1e-4)


def test_eigenvalues_of_a_symmetric_matrix() -> None:
    x = normal(4, 4)
    x = x + x.T
    values, vectors = converted(
        "SelfAdjointEigV2", [x], [("float32", 1), ("float32", 2)], attributes={"compute_v": True}
    )(x)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(x), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(x @ vectors, vectors * values, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-5)
