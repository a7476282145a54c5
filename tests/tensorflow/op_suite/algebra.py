"""Linear algebra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.tensorflow.op_suite.case import Array, Case, Tensor, floats

F32 = "float32"
# Rounding grows with the number of equations and the condition of the matrices.
_SOLVED = 5e-5
_OPEN: tuple[tuple[int | None, ...], ...] = ((None, 3, 3), (None, 4, 5, 5), (7, 7), (None, None, None), (1, 1))
_OBLONG: tuple[tuple[int | None, ...], ...] = (
    (None, 5, 3),
    (None, 3, 5),
    (4, 4),
    (2, None, 1, 6),
    (None, 3),
    (3, None),
)


def _definite(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Symmetric matrices whose eigenvalues are above 3."""
    root: Array = random.standard_normal(shape)
    return root @ np.swapaxes(root, -1, -2) + 3 * np.eye(shape[-1])


def _regular(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Matrices whose condition is below 10, in which rows must be exchanged."""
    rows = min(shape[-2:])
    left, _, right = np.linalg.svd(random.standard_normal(shape), full_matrices=False)
    return (left * random.uniform(0.5, 4, (*shape[:-2], 1, rows))) @ right


def _dominant(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Three diagonals, the one in the middle larger than the others together."""
    return random.uniform(-1, 1, shape) + np.array([[0], [4], [0]])


def _square() -> list[Case]:
    found: list[Case] = []
    for shape in _OPEN:
        matrix = Tensor(F32, shape, _regular)
        found += [
            Case("Cholesky", [Tensor(F32, shape, _definite)], open_sizes=(1, 4), rtol=_SOLVED),
            Case("MatrixInverse", [matrix], open_sizes=(1, 4), rtol=_SOLVED),
            Case("MatrixInverse", [matrix], {"adjoint": True}, open_sizes=(1, 4), rtol=_SOLVED),
            Case("MatrixDeterminant", [matrix], open_sizes=(1, 4), rtol=_SOLVED),
            Case("LogMatrixDeterminant", [matrix], open_sizes=(1, 4), rtol=_SOLVED),
            Case("Lu", [matrix], open_sizes=(1, 4), rtol=_SOLVED),
            Case("Lu", [matrix], {"output_idx_type": "int64"}, open_sizes=(1, 4), rtol=_SOLVED),
        ]
    singular = np.array([[[1, 2], [2, 4]], [[0, 0], [0, 0]], [[0, 1], [2, 0]]], np.float32)
    return [
        *found,
        Case("MatrixInverse", [Tensor("float16", (None, 3, 3), _regular)], rtol=1e-2),
        Case("MatrixDeterminant", [Tensor(F32, (3, 2, 2), lambda _, __: singular)]),
        Case("LogMatrixDeterminant", [Tensor(F32, (3, 2, 2), lambda _, __: singular)]),
    ]


def _systems() -> list[Case]:
    found: list[Case] = []
    for shape in _OPEN:
        sides = Tensor(F32, (*shape[:-1], 2))
        matrix, triangular = Tensor(F32, shape, _regular), Tensor(F32, shape, _definite)
        for adjoint in (False, True):
            options = {"adjoint": adjoint}
            found.append(Case("MatrixSolve", [matrix, sides], options, open_sizes=(1, 4), rtol=_SOLVED))
            for lower in (False, True):
                options = {"adjoint": adjoint, "lower": lower}
                case = Case("MatrixTriangularSolve", [triangular, sides], options, open_sizes=(1, 4), rtol=_SOLVED)
                found.append(case)
    found += [
        Case("MatrixTriangularSolve", [Tensor(F32, matrix, _definite), Tensor(F32, sides)], rtol=_SOLVED)
        for matrix, sides in (((3, 3), (None, 3, 2)), ((None, 3, 3), (2, 1, 3, 2)), ((None, 1, 3, 3), (4, 3, 1)))
    ]
    added: Array = np.array(0.1)
    found += [
        Case("MatrixSolveLs", [Tensor(F32, matrix), Tensor(F32, sides), added], {"fast": fast}, (1, 4), 1e-4)
        for matrix, sides in (((None, 6, 3), (None, 6, 2)), ((None, 3, 6), (None, 3, 2)), ((4, 4), (4, 1)))
        for fast in (False, True)
    ]
    for shape in ((None, 3, 5), (2, None, 3, 4), (3, 1), (None, 3, None)):
        sides = Tensor(F32, (*shape[:-2], shape[-1], 2))
        diagonals = Tensor(F32, shape, floats(-4, 4))
        found.append(Case("TridiagonalSolve", [diagonals, sides], {}, (1, 4), 1e-3))
        split = [Tensor(F32, (*shape[:-2], 1, shape[-1]))] * 3
        found.append(Case("TridiagonalMatMul", [*split, sides], {}, (1, 4)))
    dominant = Tensor(F32, (None, 3, 6), _dominant)
    found.append(Case("TridiagonalSolve", [dominant, Tensor(F32, (None, 6, 1))], {"partial_pivoting": False}))
    return found


def _factors() -> list[Case]:
    return [
        *(
            Case("SelfAdjointEigV2", [Tensor(F32, shape, _definite)], {"compute_v": False}, (1, 4), _SOLVED, outputs=1)
            for shape in _OPEN
        ),
        *(Case("Svd", [Tensor(F32, shape)], {"compute_uv": False}, (1, 4), _SOLVED, outputs=1) for shape in _OBLONG),
        *(
            Case("Qr", [Tensor(F32, shape)], {"full_matrices": full}, open_sizes=(1, 4), rtol=_SOLVED)
            for shape in _OBLONG
            for full in (False, True)
        ),
    ]


CASES: tuple[Case, ...] = (*_square(), *_systems(), *_factors())
