"""Linear algebra on batches of matrices: loops over rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, log, maximum, minimum, not_equal, select
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.linear_algebra.factorizations import (
    cholesky,
    eye,
    householder,
    householder_product,
    lu,
    permutation_of,
    product,
    solve_triangular,
    triangle,
)
from litefuse.passes.legalize.linear_algebra.jacobi import eigenvalues, eigenvectors, singular_values, singular_vectors
from litefuse.passes.legalize.linear_algebra.tridiagonal import in_one_batch

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("MatrixInverse", composite=True)
def inverse(op: TensorFlowOp, b: Builder) -> Tensor:
    """The solution of a system of equations whose right-hand sides are the identity.

    The inverse of a singular matrix has infinite or NaN elements; TensorFlow raises an error.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/inv.
    """

    def inverse(matrices: Tensor) -> Tensor:
        batch, size, _ = b.sizes(matrices)
        identity = b.broadcast(eye(b, size, size), [batch, size, size])
        return _solution(b, _adjoint(b, op, matrices), identity)

    return _of_matrices(op, b, inverse)


@decomposition("MatrixSolve", "MatrixTriangularSolve", composite=True)
def linear_system(op: TensorFlowOp, b: Builder) -> Tensor:
    """Systems of equations with a triangular matrix, or with the LU factors of another one.

    The solution with a singular matrix has infinite or NaN elements; TensorFlow raises an error.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/solve, triangular_solve.
    """
    (matrices, sides), outer = in_one_batch(b, *(_computed(op, b, operand) for operand in (0, 1)))
    dims = [*outer, *b.sizes(sides)[1:]]
    if 0 in b.known(dims):
        return b.fill(dims, 0, op.results[0].dtype)
    matrices = _adjoint(b, op, matrices)
    if "Triangular" in op.name:
        lower = bool(op.attributes.get("lower", True)) is not bool(op.attributes.get("adjoint", False))
        solution = solve_triangular(b, matrices, sides, lower=lower)
    else:
        solution = _solution(b, matrices, sides)
    return b.cast(b.reshape(solution, dims), op.results[0].dtype)


@decomposition("MatrixSolveLs")
def least_squares(op: TensorFlowOp, b: Builder) -> Tensor:
    """``MatrixSolveLs``: least-squares solutions of systems of equations.

    If ``fast``, by the normal equations with a regularization; else by singular values, without those that are zero
    except for rounding, which gives the solution of minimum norm.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/lstsq.
    """
    (matrices, sides), outer = in_one_batch(b, *(_computed(op, b, operand) for operand in (0, 1)))
    *_, rows, columns = b.sizes(matrices)
    if 0 in b.known([*outer, rows, columns, b.size(sides, 2)]):
        raise NotDecomposed("the matrices are empty")
    if op.attributes.get("fast", True):
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise NotDecomposed("it is not known whether there are more equations or more unknowns")
        added = b.cast(b.reshape(op.operands[2], [1, 1, 1]), "float32")
        turned = b.transpose(matrices, [0, 2, 1])
        solution = (
            _regularized(b, product(b, turned, matrices), added, product(b, turned, sides))
            if rows >= columns
            else product(b, turned, _regularized(b, product(b, matrices, turned), added, sides))
        )
    else:
        solution = _shortest(b, matrices, sides)
    return b.cast(b.reshape(solution, [*outer, *b.sizes(solution)[1:]]), op.results[0].dtype)


@decomposition("Cholesky", composite=True)
def factorization(op: TensorFlowOp, b: Builder) -> Tensor:
    """The lower triangular matrix whose product with its transpose is a symmetric positive definite one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/cholesky.
    """
    return _of_matrices(op, b, lambda matrices: cholesky(b, matrices))


@decomposition("MatrixDeterminant", composite=True)
def determinant(op: TensorFlowOp, b: Builder) -> Tensor:
    """The product of the pivots.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/det.
    """
    outer, pivots, sign = _pivots(op, b)
    result = sign * b.reduce("Prod", pivots, 1)
    return b.cast(b.reshape(result, outer), op.results[0].dtype)


@decomposition("LogMatrixDeterminant")
def log_determinant(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """The sign of a determinant, and the logarithm of its absolute value.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/slogdet.
    """
    outer, pivots, sign = _pivots(op, b)
    sign = sign * b.reduce("Prod", b.unary("Sign", pivots), 1)
    size = b.reduce("Sum", log(abs(pivots)), 1)
    return [b.cast(b.reshape(each, outer), op.results[0].dtype) for each in (sign, size)]


@decomposition("Lu")
def triangular_factors(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """``Lu``: a lower and an upper triangular factor, packed into one, and the permutation of the rows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/lu.
    """
    matrices, sizes = _matrices(op, b)
    factors, pivots = lu(b, matrices)
    rows = permutation_of(b, pivots, sizes[-1])
    answers = [b.reshape(factors, sizes), b.reshape(rows, sizes[:-1])]
    return [b.cast(answer, each.dtype) for answer, each in zip(answers, op.results, strict=True)]


@decomposition("Qr")
def orthogonal_factors(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """``Qr``: an orthogonal and an upper triangular factor.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/qr.
    """
    matrices, (*outer, rows, columns) = _matrices(op, b)
    inner = rows if op.attributes.get("full_matrices", False) else minimum(rows, columns)
    vectors, factors = householder(b, matrices)
    q = householder_product(b, vectors, factors, inner)
    r = b.slice(triangle(b, vectors, lower=False), 1, 0, inner)
    shapes: Sequence[Sequence[MixedSize]] = ([*outer, rows, inner], [*outer, inner, columns])
    return [b.cast(b.reshape(each, dims), op.results[0].dtype) for each, dims in zip((q, r), shapes, strict=True)]


@decomposition("SelfAdjointEigV2")
def symmetric_eigenvectors(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """``SelfAdjointEigV2``: the eigenvalues of symmetric matrices, and the eigenvectors if requested.

    An eigenvector is unique only up to its sign, which may differ from TensorFlow's.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/eigh.
    """
    matrices, sizes = _matrices(op, b)
    if not op.attributes.get("compute_v", True):
        values = b.reshape(eigenvalues(b, matrices), sizes[:-1])
        return [b.cast(values, op.results[0].dtype), _nothing(op, b)]
    values, vectors = eigenvectors(b, matrices)
    shaped = b.reshape(values, sizes[:-1]), b.reshape(vectors, sizes)
    return [b.cast(each, op.results[0].dtype) for each in shaped]


@decomposition("Svd")
def singular_value_decomposition(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """``Svd``: the singular values of matrices, and the singular vectors if requested.

    A pair of singular vectors is unique only up to a sign, which may differ from TensorFlow's.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/svd.
    """
    matrices, (*outer, _, _) = _matrices(op, b)
    if not op.attributes.get("compute_uv", True):
        values = singular_values(b, matrices)
        nothing = [_nothing(op, b)] * 2
        return [b.cast(b.reshape(values, [*outer, b.size(values, 1)]), op.results[0].dtype), *nothing]
    found = singular_vectors(b, matrices, full=bool(op.attributes.get("full_matrices", False)))
    return [b.cast(b.reshape(each, [*outer, *b.sizes(each)[1:]]), op.results[0].dtype) for each in found]


def _nothing(op: TensorFlowOp, b: Builder) -> Tensor:
    """Emits an empty result for vectors that are not requested."""
    return b.fill([0], 0, op.results[0].dtype)


def _regularized(b: Builder, squares: Tensor, added: Tensor, sides: Tensor) -> Tensor:
    """Solves systems with symmetric matrices, to whose diagonals a number is added."""
    size = b.size(squares, 1)
    factor = cholesky(b, squares + eye(b, size, size) * added)
    solution = solve_triangular(b, factor, sides, lower=True)
    return solve_triangular(b, b.transpose(factor, [0, 2, 1]), solution, lower=False)


def _shortest(b: Builder, matrices: Tensor, sides: Tensor) -> Tensor:
    """Emits the least-squares solutions of minimum norm."""
    values, left, right = singular_vectors(b, matrices, full=False)
    _, rows, columns = b.sizes(matrices)
    most = b.cast(b.scalar(maximum(rows, columns)), "float32")
    largest = b.slice(values, 1, 0, 1)
    least = largest * most * float(np.finfo(np.float32).eps)
    kept = values > least
    factors = select(kept, 1.0 / select(kept, values, 1.0), 0.0)
    parts = b.expand(factors, 2) * product(b, left, sides, transpose_left=True)
    return product(b, right, parts)


def _solution(b: Builder, matrices: Tensor, sides: Tensor) -> Tensor:
    factors, pivots = lu(b, matrices)
    order = permutation_of(b, pivots, b.size(matrices, 1))
    moved = b.op("GatherV2", [sides, order, b.constant(1, "int32")], sides.shape, "float32", batch_dims=1)
    solution = solve_triangular(b, factors, moved, lower=True, unit_diagonal=True)
    return solve_triangular(b, factors, solution, lower=False)


def _pivots(op: TensorFlowOp, b: Builder) -> tuple[Sequence[MixedSize], Tensor, Tensor]:
    """Returns the batch sizes, the pivots of each matrix, and -1 for an odd number of row exchanges, else 1."""
    matrices, (*outer, size, _) = _matrices(op, b)
    factors, exchanged = lu(b, matrices)
    pivots = b.reduce("Sum", select(equal(eye(b, size, size), 1.0), factors, 0.0), 2)
    moved = b.cast(not_equal(exchanged, b.reshape(b.range(size), [1, size])), "float32")
    odd = b.reduce("Sum", moved, 1) % 2.0
    return outer, pivots, 1.0 - odd * 2.0


def _of_matrices(op: TensorFlowOp, b: Builder, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Applies a function of square matrices in a batch of one dimension to any batch."""
    if 0 in op.shape(0):
        return b.fill(b.sizes(op.operands[0]), 0, op.results[0].dtype)
    matrices, sizes = _matrices(op, b)
    return b.cast(b.reshape(function(matrices), sizes), op.results[0].dtype)


def _matrices(op: TensorFlowOp, b: Builder) -> tuple[Tensor, Sequence[MixedSize]]:
    """Emits the operand as float32 matrices in a batch of one dimension; also returns the operand's sizes."""
    if 0 in op.shape(0):
        raise NotDecomposed("the matrices are empty")
    (matrices,), outer = in_one_batch(b, _computed(op, b, 0))
    return matrices, [*outer, *b.sizes(matrices)[1:]]


def _computed(op: TensorFlowOp, b: Builder, operand: int) -> Tensor:
    """Emits an operand in float32."""
    if len(op.shape(operand)) < 2:
        raise NotDecomposed(f"operand {operand} is of rank {len(op.shape(operand))}: no matrices")
    op.require(operand, "float32", "float16")
    return b.cast(op.operands[operand], "float32")


def _adjoint(b: Builder, op: TensorFlowOp, matrices: Tensor) -> Tensor:
    return b.transpose(matrices, [0, 2, 1]) if op.attributes.get("adjoint", False) else matrices


@decomposition("Cross")
def cross(op: TensorFlowOp, b: Builder) -> Tensor:
    """``a[1] * b[2] - a[2] * b[1]`` and so on, along the last dimension.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/cross.
    """
    axis = len(op.shape(0)) - 1
    op.shape(1, axis + 1)
    op.require(0, "float32", "int32", "int64")
    x, y = ([b.slice(value, axis, n, n + 1) for n in range(3)] for value in op.operands)

    def part(i: int, j: int) -> Tensor:
        return x[i] * y[j] - x[j] * y[i]

    return b.concat([part(1, 2), part(2, 0), part(0, 1)], axis)
