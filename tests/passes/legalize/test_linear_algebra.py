# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of linear algebra, against numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from litefuse.errors import LitefuseError
from tests.passes.legalize.one_op import Array, Constant, check, converted, normal

F = np.float32


TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}


def regular(*shape: int) -> Array:
    """Matrices whose pivots are not on the diagonal."""
    matrices = normal(*shape) + 4 * np.eye(shape[-1], dtype=F)
    return np.roll(matrices, 1, -2)


@pytest.mark.parametrize("adjoint", [False, True])
def test_inverses_and_systems_of_equations(*, adjoint: bool) -> None:
    matrices, sides = regular(2, 4, 4), normal(3, 1, 4, 2)
    turned = matrices.swapaxes(-1, -2) if adjoint else matrices
    options = {"adjoint": adjoint}
    check("MatrixInverse", [matrices], np.linalg.inv(turned), form="composite", **TOLERANCE, attributes=options)
    expected = np.linalg.solve(turned, sides)
    check(
        "MatrixSolve", [matrices, sides], expected, form="composite", **TOLERANCE, attributes=options, dynamic=[adjoint]
    )
    for lower in (False, True):
        triangular = np.tril(matrices + 3 * np.eye(4, dtype=F)) if lower else np.triu(matrices + 3 * np.eye(4, dtype=F))
        noise = matrices - np.tril(matrices) if lower else matrices - np.triu(matrices)
        expected = np.linalg.solve(triangular.swapaxes(-1, -2) if adjoint else triangular, sides)
        options = {"adjoint": adjoint, "lower": lower}
        operands = [triangular + noise, sides]
        check(
            "MatrixTriangularSolve",
            operands,
            expected,
            form="composite",
            **TOLERANCE,
            attributes=options,
            dynamic=[lower],
        )


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (3, 5)])
def test_least_squares(rows: int, columns: int, *, fast: bool) -> None:
    matrices, sides = normal(2, rows, columns), normal(2, rows, 2)
    if fast:
        turned = matrices.swapaxes(1, 2)
        if rows >= columns:
            expected = np.linalg.solve(turned @ matrices + 0.1 * np.eye(columns), turned @ sides)
        else:
            expected = turned @ np.linalg.solve(matrices @ turned + 0.1 * np.eye(rows), sides)
    else:
        matrices[0, 1] = matrices[0, 0]  # of a rank that is not full
        expected = np.linalg.pinv(matrices.astype(np.float64), rcond=1e-5) @ sides
    operands = [matrices, sides, np.array(0.1, np.float64)]
    expected, options = expected.astype(F), {"fast": fast}
    check(
        "MatrixSolveLs",
        [*operands[:2], Constant(operands[2])],
        expected,
        rtol=1e-3,
        atol=1e-3,
        attributes=options,
        dynamic=[False],
    )


def test_square_roots_of_matrices() -> None:
    x = normal(2, 3, 4, 4)
    x = x @ x.swapaxes(-1, -2) + np.eye(4, dtype=F)
    expected = np.linalg.cholesky(x)
    check("Cholesky", [np.tril(x)], expected, form="composite", **TOLERANCE)
    x[0, 0, 2, 2] = -1
    (found,) = converted("Cholesky", [x], [("float32", 4)])(x)
    assert np.isnan(found[0, 0][np.tril_indices(4)]).all()
    np.testing.assert_allclose(found[1:], expected[1:], **TOLERANCE)


def test_determinants() -> None:
    x = regular(2, 3, 4, 4)
    x[0, 0, 1] = x[0, 0, 0]
    x[1] = np.eye(4)[[[1, 0, 2, 3], [1, 2, 0, 3], [3, 2, 1, 0]]]
    expected = np.linalg.det(x.astype(np.float64)).astype(F)
    check("MatrixDeterminant", [x], expected, form="composite", **TOLERANCE)
    signs, sizes = np.linalg.slogdet(x[1:])
    check("LogMatrixDeterminant", [x[1:]], signs, sizes, **TOLERANCE)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_triangular_factors(index: type[np.int32 | np.int64], *, dynamic: bool) -> None:
    x = regular(3, 2, 5, 5)
    results = [("float32", 4), (np.dtype(index).name, 3)]
    factors, order = converted("Lu", [x], results, dynamic=dynamic)(x)
    lower, upper = np.tril(factors, -1) + np.eye(5), np.triu(factors)
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(x, order[..., None].astype(np.int64), 2), **TOLERANCE)
    assert order.dtype == index
    assert (np.abs(lower) <= 1).all()


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (3, 5), (4, 4)])
def test_orthogonal_factors(rows: int, columns: int, *, full: bool) -> None:
    x = normal(2, rows, columns)
    x[0, :, 1] = 0
    inner = rows if full else min(rows, columns)
    q, r = converted("Qr", [x], [("float32", 3)] * 2, {"full_matrices": full}, dynamic=full)(x)
    assert (q.shape, r.shape) == ((2, rows, inner), (2, inner, columns))
    np.testing.assert_allclose(q @ r, x, **TOLERANCE)
    np.testing.assert_allclose(q.swapaxes(1, 2) @ q, [np.eye(inner)] * 2, **TOLERANCE)
    np.testing.assert_allclose(np.tril(r, -1), 0, atol=0)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (3, 5), (4, 4)])
def test_singular_values(rows: int, columns: int, *, full: bool) -> None:
    x = normal(2, rows, columns)
    x[1, :, 2] = x[1, :, 0]
    count = min(rows, columns)
    expected = np.linalg.svd(x, compute_uv=False)
    options = {"compute_uv": True, "full_matrices": full}
    values, left, right = converted("Svd", [x], [("float32", 2), *[("float32", 3)] * 2], options)(x)
    np.testing.assert_allclose(values, expected, **TOLERANCE)
    assert (left.shape, right.shape) == ((2, rows, rows if full else count), (2, columns, columns if full else count))
    for vectors in (left, right):
        np.testing.assert_allclose(vectors.swapaxes(1, 2) @ vectors, [np.eye(vectors.shape[2])] * 2, **TOLERANCE)
    product = left[..., :count] * values[:, None] @ right[..., :count].swapaxes(1, 2)
    np.testing.assert_allclose(product, x, **TOLERANCE)
    check("Svd", [x], expected, attributes={"compute_uv": False}, unread=2, **TOLERANCE)


@pytest.mark.parametrize("dynamic", [False, True])
def test_eigenvalues_of_symmetric_matrices(*, dynamic: bool) -> None:
    x = normal(2, 5, 5)
    x = x + x.swapaxes(1, 2)
    x[1, 2] = x[1, :, 2] = 0
    options = {"compute_v": True}
    values, vectors = converted("SelfAdjointEigV2", [x], [("float32", 2), ("float32", 3)], options, dynamic=dynamic)(x)
    expected = np.linalg.eigvalsh(x)
    np.testing.assert_allclose(values, expected, **TOLERANCE)
    np.testing.assert_allclose(x @ vectors, vectors * values[:, None], **TOLERANCE)
    np.testing.assert_allclose(vectors.swapaxes(1, 2) @ vectors, [np.eye(5)] * 2, atol=1e-5)
    check("SelfAdjointEigV2", [x], expected, attributes={"compute_v": False}, unread=1, **TOLERANCE, dynamic=[dynamic])


def tridiagonal(diagonals: Array) -> Array:
    above, main, below = (diagonals[..., row, :] for row in range(3))
    return np.stack(
        [
            np.diag(b, -1) + np.diag(m) + np.diag(a, 1)
            for a, m, b in zip(above[..., :-1], main, below[..., 1:], strict=True)
        ]
    )


def test_tridiagonal_systems_and_products() -> None:
    diagonals, right = normal(2, 3, 5), normal(2, 5, 2)
    diagonals[0, 1] += 5
    diagonals[1, 2] *= 4  # rows are exchanged
    matrices = tridiagonal(diagonals)
    options = {"partial_pivoting": True, "perturb_singular": False}
    expected = np.linalg.solve(matrices, right)
    check("TridiagonalSolve", [diagonals, right], expected, attributes=options, rtol=1e-3, atol=1e-4)
    check(
        "TridiagonalSolve",
        [diagonals[0], right[0]],
        expected[0],
        attributes=options,
        rtol=1e-3,
        atol=1e-4,
        dynamic=[False],
    )
    parts = [diagonals[:, row : row + 1].copy() for row in range(3)]
    check("TridiagonalMatMul", [*parts, right], matrices @ right, **TOLERANCE)


@pytest.mark.parametrize(
    "equation",
    [
        *("ijk,lmj->iklm", "ijk,lmj->mlki", "hijk,lmj->hiklm", "hijk,lhmj->hiklm"),
        *("ijk->ik", "ijk->kji", "iij->ij", "iji->j", "ij,ij->ij", "ij,ij->", "i,j->ij", "ij,j->i", "i,ij->j"),
        *("...ij,...jk->...ik", "...i->...", "hij,hkj->hik", "ij,kj->ki", "hij,ihk->hk"),
    ],
)
def test_einstein_sums(equation: str) -> None:
    sizes = {label: [size] for label, size in zip("hijklm", range(2, 8), strict=True)} | {".": [2, 3]}
    shapes = [
        [size for label in labels.replace("...", ".") for size in sizes[label]]
        for labels in equation.partition("->")[0].split(",")
    ]
    operands = [np.random.default_rng(place).normal(size=shape).astype(F) for place, shape in enumerate(shapes)]
    dynamic = (
        [False]
        if any(len({*labels}) < len(labels.replace(".", "")) for labels in equation.split(","))
        else [False, True]
    )
    options = {"equation": equation}
    expected = np.asarray(np.einsum(equation, *operands))
    check("Einsum", operands, expected, rtol=1e-5, atol=1e-5, attributes=options, form="any", dynamic=dynamic)
    whole = [(10 * operand).astype(np.int32) for operand in operands]
    check("Einsum", whole, np.asarray(np.einsum(equation, *whole)), attributes=options, form="any", dynamic=[False])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("adjoint", [*itertools.product((False, True), repeat=2)])
def test_products_of_integers(adjoint: tuple[bool, bool], dtype: str) -> None:
    x, y = (
        np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype) for seed, shape in enumerate([(3, 4), (4, 2)])
    )
    turned = [each.swapaxes(-1, -2) if turn else each for each, turn in zip((x, y), adjoint, strict=True)]
    check("MatMul", turned, x @ y, attributes={"transpose_a": adjoint[0], "transpose_b": adjoint[1]})
    several = [turned[0], np.stack([turned[1], -turned[1]])]
    options = {"adj_x": adjoint[0], "adj_y": adjoint[1]}
    check("BatchMatMulV2", several, np.stack([x @ y, -x @ y]), attributes=options, form="any")


def test_products_over_nothing() -> None:
    operands = [np.zeros(shape, F) for shape in ((3, 0), (0, 2))]
    check("MatMul", [*map(Constant, operands)], np.zeros((3, 2), F), form="any", dynamic=[False])


@pytest.mark.parametrize("op", ["Lu", "Qr", "Svd"])
def test_vectors_are_no_matrices(op: str) -> None:
    results = [("float32", 1), ("int32" if op == "Lu" else "float32", 1), *[("float32", 1)] * (op == "Svd")]
    with pytest.raises(LitefuseError):
        converted(op, [normal(3)], results)
