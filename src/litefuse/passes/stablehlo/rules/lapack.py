"""Calls of LAPACK, which JAX uses for linear algebra on CPUs, for float32.

The routines: https://www.netlib.org/lapack/explore-html/; which of them JAX calls, and how:
https://github.com/jax-ml/jax/blob/main/jax/_src/lax/linalg.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.legalize.linear_algebra.batches import in_one_batch
from litefuse.passes.legalize.linear_algebra.factorizations import householder, householder_product, lu
from litefuse.passes.legalize.linear_algebra.jacobi import eigenvalues, eigenvectors, singular_values, singular_vectors
from litefuse.passes.legalize.linear_algebra.tridiagonal import solve_tridiagonal
from litefuse.passes.stablehlo.rules.linear_algebra import factored, matrices_of, shaped, solved
from litefuse.passes.stablehlo.translation import Result, Translation

__all__ = ["ROUTINES"]

Routine = Callable[[Any, Translation, Mapping[str, Any]], Sequence[Result]]


def _cholesky(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    factor = factored(t, op.operands[0], lower=options["uplo"] == ord("L"))
    return [factor, _success(t, t.b.sizes(factor)[:-2])]


def _lu(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = matrices_of(t, op.operands[0])
    factors, pivots = lu(t.b, matrices)
    return [shaped(t, factors, outer), shaped(t, t.b.binary("AddV2", pivots, 1), outer), _success(t, outer)]


def _triangular(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    left, lower, unit = (options[name] == ord(letter) for name, letter in (("side", "L"), ("uplo", "L"), ("diag", "U")))
    transposed = options["trans_x"] != ord("N")
    matrices, sides = op.operands[:2]
    return [solved(t, matrices, sides, left=left, lower=lower, transposed=transposed, unit_diagonal=unit)]


def _tridiagonal(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    """Solves tridiagonal systems; the diagonals, which are overwritten and unused, are returned unchanged."""
    b = t.b
    *diagonals, sides = t.values(op.operands[:4])
    rows = [b.expand(diagonal, len(b.shape(diagonal)) - 1) for diagonal in diagonals]
    (below, main, above, flat), outer = in_one_batch(b, *rows, sides)
    return [*diagonals, shaped(t, solve_tridiagonal(b, below, main, above, flat), outer), _success(t, outer)]


def _householder(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = matrices_of(t, op.operands[0])
    return [shaped(t, value, outer) for value in householder(t.b, matrices)]


def _householder_product(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    vectors, outer = matrices_of(t, op.operands[0])
    factors = t.value(op.operands[1])
    factors = t.b.reshape(factors, [t.b.size(vectors, 0), t.b.size(factors, -1)])
    return [shaped(t, householder_product(t.b, vectors, factors, t.b.size(vectors, 2)), outer)]


def _eigenvectors(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = matrices_of(t, op.operands[0])
    if options["uplo"] != ord("L"):
        matrices = t.b.transpose(matrices, [0, 2, 1])
    if options["mode"] == ord("N"):  # instead of vectors, LAPACK returns what is left of the matrices
        return [t.lazy(op.operands[0]), shaped(t, eigenvalues(t.b, matrices), outer), _success(t, outer)]
    values, vectors = eigenvectors(t.b, matrices)
    return [shaped(t, vectors, outer), shaped(t, values, outer), _success(t, outer)]


def _singular_vectors(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = matrices_of(t, op.operands[0])
    if options["mode"] == ord("N"):
        values = shaped(t, singular_values(t.b, matrices), outer)
        nobodys = [t.lazy(op.operands[0])] * 2  # the vectors, which are not requested
        return [t.lazy(op.operands[0]), values, *nobodys, _success(t, outer)]
    found = singular_vectors(t.b, matrices, full=options["mode"] == ord("A"))
    right = t.b.transpose(found.right, [0, 2, 1])
    vectors = [shaped(t, each, outer) for each in (found.values, found.left, right)]
    return [t.value(op.operands[0]), *vectors, _success(t, outer)]


def _success(t: Translation, outer: Sequence[MixedSize]) -> ir.Value:
    """Returns LAPACK's status of success; after a failure, the numbers are NaN instead."""
    return t.b.fill(outer, 0, "int32")


ROUTINES: Mapping[str, Routine] = {
    "lapack_sgeqrf_ffi": _householder,
    "lapack_sgesdd_ffi": _singular_vectors,
    "lapack_sgetrf_ffi": _lu,
    "lapack_sgtsv_ffi": _tridiagonal,
    "lapack_sorgqr_ffi": _householder_product,
    "lapack_spotrf_ffi": _cholesky,
    "lapack_ssyevd_ffi": _eigenvectors,
    "lapack_strsm_ffi": _triangular,
}
"""The translations of the calls, by the names of the routines."""
