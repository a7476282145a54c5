"""Inverse, determinant, Cholesky factor and triangular systems, in both forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import FORMS, run

pytestmark = pytest.mark.parametrize("form", FORMS)

MATRIX = np.array([[0, 2], [4, 1]], np.float32)
SINGULAR: list[Any] = [np.zeros((3, 3)), np.ones((2, 2)), np.stack([np.eye(2), np.ones((2, 2))])]


def test_inverse(form: str) -> None:
    (inverse,) = run("MatrixInverse", [MATRIX], [np.float32], form=form)

    np.testing.assert_allclose(inverse, [[-0.125, 0.25], [0.5, 0]], rtol=1e-6)


def test_inverse_of_the_conjugate_transpose(form: str) -> None:
    matrix = np.array([[1, 2j], [0, 1]], np.complex64)

    (inverse,) = run("MatrixInverse", [matrix], [np.complex64], {"adjoint": True}, form=form)

    np.testing.assert_allclose(inverse, [[1, 0], [2j, 1]], atol=1e-6)


@pytest.mark.parametrize("matrices", SINGULAR)
def test_singular_matrices(form: str, matrices: Any) -> None:
    with pytest.raises(KernelError, match="a matrix is singular: it has no inverse"):
        run("MatrixInverse", [matrices.astype(np.float32)], [np.float32], form=form)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_determinant(form: str, dtype: Any) -> None:
    matrices = np.stack([MATRIX, np.eye(2), np.zeros((2, 2))]).astype(dtype)

    (determinants,) = run("MatrixDeterminant", [matrices], [dtype], form=form)

    assert determinants.dtype == dtype
    np.testing.assert_allclose(determinants, [-8, 1, 0], rtol=1e-3 if dtype == np.float16 else 1e-6)


def test_determinant_whose_partial_products_are_out_of_range(form: str) -> None:
    matrix = np.diag([1e200, 1e200, 1e-200, 1e-200, -3])

    (determinant,) = run("MatrixDeterminant", [matrix], [np.float64], form=form)

    np.testing.assert_allclose(determinant, -3, rtol=1e-9)


def test_cholesky_of_some_matrices_that_are_not_positive_definite(form: str) -> None:
    good = np.array([[4, 99], [2, 5]])
    matrices = np.stack([good, -good, good, np.zeros((2, 2)), np.full((2, 2), np.nan)]).astype(np.float32)

    (factors,) = run("Cholesky", [matrices], [np.float32], form=form)

    nan = np.nan
    expected = [[[2, 0], [1, 2]] if place in (0, 2) else [[nan, 0], [nan, nan]] for place in range(5)]
    np.testing.assert_array_equal(factors, np.array(expected, np.float32))


def test_only_one_triangle_is_read(form: str) -> None:
    matrix = np.array([[2, 8], [4, 1]], np.float32)
    rhs = np.array([[6], [5]], np.float32)

    solutions = [
        run("MatrixTriangularSolve", [matrix, rhs], [np.float32], {"lower": lower, "adjoint": adjoint}, form=form)[0]
        for lower in (True, False)
        for adjoint in (False, True)
    ]

    np.testing.assert_allclose(np.squeeze(solutions), [[3, -7], [-7, 5], [-17, 5], [3, -19]], rtol=1e-6)


@pytest.mark.parametrize("op", ["MatrixInverse", "MatrixDeterminant", "Cholesky"])
def test_nothing(form: str, op: str) -> None:
    """No matrices, and matrices without elements, of which the determinant is 1."""
    for shape in [(0, 2, 2), (2, 0, 0), (0, 0)]:
        (result,) = run(op, [np.zeros(shape, np.float32)], [np.float32], form=form)
        expected = np.ones(shape[:-2], np.float32) if op == "MatrixDeterminant" else np.zeros(shape, np.float32)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("op", ["MatrixInverse", "MatrixDeterminant", "Cholesky"])
def test_wrong_matrices(form: str, op: str) -> None:
    for shape, text in [((2, 3), r"[\[(]2, 3[\])]"), ((2,), r"[\[(]2,?[\])]")]:
        with pytest.raises(KernelError, match=rf"input must be square matrices \[..., n, n\], not {text}"):
            run(op, [np.zeros(shape, np.float32)], [np.float32], form=form)
    with pytest.raises(KernelError, match=r"input .* of .*int32"):
        run(op, [np.zeros((2, 2), np.int32)], [np.int32], form=form)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3), (2, 1)), r"matrix must be square matrices"),
        (((2, 2), (3, 1)), r"rhs must be \[..., 2, k\]"),
        (((2, 2), (2,)), r"rhs must be \[..., 2, k\]"),
        (((2, 2, 2), (3, 2, 1)), r"the batches of matrix .* and rhs .* do not broadcast"),
    ],
)
def test_wrong_systems(form: str, shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("MatrixTriangularSolve", [np.ones(shape, np.float32) for shape in shapes], [np.float32], form=form)


def test_system_of_two_dtypes(form: str) -> None:
    with pytest.raises(KernelError, match=r"float32.*float64|float64.*float32"):
        run("MatrixTriangularSolve", [MATRIX, np.ones((2, 1))], [np.float32], form=form)


def test_solve(form: str) -> None:
    matrix: Any = np.array([[0.0, 2.0], [4.0, 1.0]], np.float32)  # needs a pivot
    rhs = np.array([[2.0], [9.0]], np.float32)
    solution: Any = run("MatrixSolve", [matrix, rhs], [np.float32], form=form)[0]
    np.testing.assert_allclose(solution, [[2.0], [1.0]], rtol=1e-6)
    transposed: Any = run("MatrixSolve", [matrix, rhs], [np.float32], {"adjoint": True}, form=form)[0]
    np.testing.assert_allclose(matrix.T @ transposed, rhs, rtol=1e-6)
    with pytest.raises(KernelError, match="singular"):
        run("MatrixSolve", [np.ones((2, 2), np.float32), rhs], [np.float32], form=form)


@pytest.mark.parametrize("shape", [(3, 1), (2,), (1, 2, 1)])
def test_right_hand_sides_that_do_not_fit(form: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(KernelError, match="rhs must be"):
        run("MatrixSolve", [np.eye(2, dtype=np.float32), np.ones(shape, np.float32)], [np.float32], form=form)
