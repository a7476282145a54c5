"""Matrix decompositions, Fourier transforms and batch normalization; calls of LAPACK, which JAX makes on CPUs.

The routines: https://www.netlib.org/lapack/explore-html/; which of them JAX calls, and how:
https://github.com/jax-ml/jax/blob/main/jax/_src/lax/linalg.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, rsqrt
from litefuse.passes.legalize.linear_algebra.factorizations import (
    cholesky,
    householder,
    householder_product,
    lu,
    solve_triangular,
)
from litefuse.passes.legalize.linear_algebra.jacobi import eigenvalues, eigenvectors, singular_values, singular_vectors
from litefuse.passes.legalize.linear_algebra.tridiagonal import in_one_batch, solve_tridiagonal
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

Routine = Callable[[Any, Translation, Mapping[str, Any]], Sequence[Result]]


def _factored(t: Translation, operand: ir.Value, *, lower: bool) -> ir.Value:
    """Returns the Cholesky factors of symmetric positive definite matrices, of which only one triangle is read."""
    matrices, outer = _matrices_of(t, operand)
    factor = cholesky(t.b, matrices if lower else t.b.transpose(matrices, [0, 2, 1]))
    return shaped(t, factor if lower else t.b.transpose(factor, [0, 2, 1]), outer)


def _solved(
    t: Translation,
    matrices: ir.Value,
    sides: ir.Value,
    *,
    left: bool,
    lower: bool,
    transposed: bool,
    unit_diagonal: bool,
) -> ir.Value:
    """Solves ``op(matrix) @ x == side``, or ``x @ op(matrix) == side`` if not ``left``, for triangular matrices."""
    b = t.b
    (flat, flat_sides), outer = _in_one_batch(t, matrices, sides)
    if transposed is left:
        flat, lower = b.transpose(flat, [0, 2, 1]), not lower
    if not left:
        flat_sides = b.transpose(flat_sides, [0, 2, 1])
    solution = solve_triangular(b, flat, flat_sides, lower=lower, unit_diagonal=unit_diagonal)
    return shaped(t, solution if left else b.transpose(solution, [0, 2, 1]), outer)


def _matrices_of(t: Translation, operand: ir.Value) -> tuple[Tensor, Sequence[MixedSize]]:
    """Returns an operand's float32 matrices in a batch of one dimension, and the sizes of the batch."""
    (matrices,), outer = _in_one_batch(t, operand)
    return matrices, outer


def shaped(t: Translation, value: ir.Value, outer: Sequence[MixedSize]) -> ir.Value:
    """Restores the batch of these sizes for a value computed from ``matrices_of``."""
    return t.b.reshape(value, [*outer, *t.b.sizes(value)[1:]])


def _in_one_batch(t: Translation, *operands: ir.Value) -> tuple[Sequence[Tensor], Sequence[MixedSize]]:
    for operand in operands:
        if t.dtype(operand) != "float32":
            raise GraphError(f"matrices of {t.dtype(operand)} are not supported")
    return in_one_batch(t.b, *t.values(operands))


def _cholesky(op: Any, t: Translation) -> Result:
    return _factored(t, op.operands[0], lower="lower" in op.attributes and ir.BoolAttr(op.attributes["lower"]).value)


def _triangular_solve(op: Any, t: Translation) -> Result:
    left, lower, unit = (ir.BoolAttr(op.attributes[name]).value for name in ("left_side", "lower", "unit_diagonal"))
    transposed = str(op.attributes["transpose_a"]).split()[-1].strip(">") != "NO_TRANSPOSE"
    matrices, sides = op.operands
    return _solved(t, matrices, sides, left=left, lower=lower, transposed=transposed, unit_diagonal=unit)


def _fft(op: Any, t: Translation) -> Result:
    kind: str = t.dialect.FftTypeAttr(op.fft_type).value
    lengths = [int(n) for n in op.fft_length]
    value = t.value(op.operands[0])
    shape, dtype = t.shape(op.results[0]), t.dtype(op.results[0])
    if len(lengths) == 3 and "R" in kind:
        return _transform_of_volumes(t, kind, value, lengths[-1], shape, dtype)
    name = kind if len(lengths) == 1 else f"{kind}{len(lengths)}D"
    if kind in {"RFFT", "IRFFT"}:
        return t.b.op(name, [value, t.b.constant(np.array(lengths, np.int32), "int32")], shape, dtype)
    return t.b.op(name, [value], shape, dtype)


def _transform_of_volumes(
    t: Translation, kind: str, value: ir.Value, length: int, shape: Sequence[int | None], dtype: str
) -> ir.Value:
    """Transforms real numbers along the last dimension, and complex ones along the two before it."""
    b, rank = t.b, len(shape)
    order = [*range(rank - 3), rank - 1, rank - 3, rank - 2]
    back = sorted(range(rank), key=order.__getitem__)

    def complex_ones(value: ir.Value) -> ir.Value:
        name = "FFT2D" if kind == "RFFT" else "IFFT2D"
        return b.transpose(b.unary(name, b.transpose(value, order)), back)

    size = b.constant(np.array([length], np.int32), "int32")
    if kind == "RFFT":
        return complex_ones(b.op(kind, [value, size], shape, dtype))
    return b.op(kind, [complex_ones(value), size], shape, dtype)


def _batch_norm(op: Any, t: Translation) -> Result:
    """Translates batch normalization, https://openxla.org/stablehlo/spec#batch_norm_inference."""
    b = t.b
    value, scale, offset, mean, variance = t.values(op.operands)
    epsilon = ir.FloatAttr(op.attributes["epsilon"]).value
    axis = int(op.feature_index)
    after: list[MixedSize] = [1] * (len(b.shape(value)) - axis - 1)

    def placed(vector: ir.Value) -> ir.Value:
        return b.reshape(vector, [b.size(vector, 0), *after]) if after else vector

    factor = rsqrt(variance + epsilon) * scale
    shift = offset - mean * factor
    return value * placed(factor) + placed(shift)


RULES: Rules = {
    "stablehlo.batch_norm_inference": _batch_norm,
    "stablehlo.cholesky": _cholesky,
    "stablehlo.fft": _fft,
    "stablehlo.triangular_solve": _triangular_solve,
}


def _cholesky_call(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    factor = _factored(t, op.operands[0], lower=options["uplo"] == ord("L"))
    return [factor, _success(t, t.b.sizes(factor)[:-2])]


def _lu(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = _matrices_of(t, op.operands[0])
    factors, pivots = lu(t.b, matrices)
    return [shaped(t, factors, outer), shaped(t, pivots + 1, outer), _success(t, outer)]


def _triangular(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    left, lower, unit = (options[name] == ord(letter) for name, letter in (("side", "L"), ("uplo", "L"), ("diag", "U")))
    transposed = options["trans_x"] != ord("N")
    matrices, sides = op.operands[:2]
    return [_solved(t, matrices, sides, left=left, lower=lower, transposed=transposed, unit_diagonal=unit)]


def _tridiagonal(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    """Solves tridiagonal systems; the diagonals, which are overwritten and unused, are returned unchanged."""
    b = t.b
    *diagonals, sides = t.values(op.operands[:4])
    rows = [b.expand(diagonal, len(b.shape(diagonal)) - 1) for diagonal in diagonals]
    (below, main, above, flat), outer = in_one_batch(b, *rows, sides)
    return [*diagonals, shaped(t, solve_tridiagonal(b, below, main, above, flat), outer), _success(t, outer)]


def _householder(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = _matrices_of(t, op.operands[0])
    return [shaped(t, value, outer) for value in householder(t.b, matrices)]


def _householder_product(op: Any, t: Translation, _: Mapping[str, Any]) -> Sequence[Result]:
    vectors, outer = _matrices_of(t, op.operands[0])
    factors = t.value(op.operands[1])
    factors = t.b.reshape(factors, [t.b.size(vectors, 0), t.b.size(factors, -1)])
    return [shaped(t, householder_product(t.b, vectors, factors, t.b.size(vectors, 2)), outer)]


def _eigenvectors(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = _matrices_of(t, op.operands[0])
    if options["uplo"] != ord("L"):
        matrices = t.b.transpose(matrices, [0, 2, 1])
    if options["mode"] == ord("N"):  # instead of vectors, LAPACK returns what is left of the matrices
        return [t.lazy(op.operands[0]), shaped(t, eigenvalues(t.b, matrices), outer), _success(t, outer)]
    values, vectors = eigenvectors(t.b, matrices)
    return [shaped(t, vectors, outer), shaped(t, values, outer), _success(t, outer)]


def _singular_vectors(op: Any, t: Translation, options: Mapping[str, Any]) -> Sequence[Result]:
    matrices, outer = _matrices_of(t, op.operands[0])
    if options["mode"] == ord("N"):
        values = shaped(t, singular_values(t.b, matrices), outer)
        nobodys = [t.lazy(op.operands[0])] * 2  # the vectors, which are not requested
        return [t.lazy(op.operands[0]), values, *nobodys, _success(t, outer)]
    parts = singular_vectors(t.b, matrices, full=options["mode"] == ord("A"))
    right = t.b.transpose(parts.right, [0, 2, 1])
    vectors = [shaped(t, part, outer) for part in (parts.values, parts.left, right)]
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
    "lapack_spotrf_ffi": _cholesky_call,
    "lapack_ssyevd_ffi": _eigenvectors,
    "lapack_strsm_ffi": _triangular,
}
"""The translations of the calls, by the names of the routines."""
