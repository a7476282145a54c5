"""Matrix decompositions, Fourier transforms, and batch normalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.legalize.linear_algebra.batches import in_one_batch
from litefuse.passes.legalize.linear_algebra.factorizations import cholesky, solve_triangular
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

__all__ = ["RULES", "factored", "matrices_of", "shaped", "solved"]


def factored(t: Translation, operand: ir.Value, *, lower: bool) -> ir.Value:
    """Returns the Cholesky factors of symmetric positive definite matrices, of which only one triangle is read."""
    matrices, outer = matrices_of(t, operand)
    factor = cholesky(t.b, matrices if lower else t.b.transpose(matrices, [0, 2, 1]))
    return shaped(t, factor if lower else t.b.transpose(factor, [0, 2, 1]), outer)


def solved(
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


def matrices_of(t: Translation, operand: ir.Value) -> tuple[ir.Value, Sequence[MixedSize]]:
    """Returns an operand's float32 matrices in a batch of one dimension, and the sizes of the batch."""
    (matrices,), outer = _in_one_batch(t, operand)
    return matrices, outer


def shaped(t: Translation, value: ir.Value, outer: Sequence[MixedSize]) -> ir.Value:
    """Restores the batch of these sizes for a value computed from ``matrices_of``."""
    return t.b.reshape(value, [*outer, *t.b.sizes(value)[1:]])


def _in_one_batch(t: Translation, *operands: ir.Value) -> tuple[Sequence[ir.Value], Sequence[MixedSize]]:
    for operand in operands:
        if t.dtype(operand) != "float32":
            raise GraphError(f"matrices of {t.dtype(operand)} are not supported")
    return in_one_batch(t.b, *t.values(operands))


def _cholesky(op: Any, t: Translation) -> Result:
    return factored(t, op.operands[0], lower="lower" in op.attributes and ir.BoolAttr(op.attributes["lower"]).value)


def _triangular_solve(op: Any, t: Translation) -> Result:
    left, lower, unit = (ir.BoolAttr(op.attributes[name]).value for name in ("left_side", "lower", "unit_diagonal"))
    transposed = str(op.attributes["transpose_a"]).split()[-1].strip(">") != "NO_TRANSPOSE"
    matrices, sides = op.operands
    return solved(t, matrices, sides, left=left, lower=lower, transposed=transposed, unit_diagonal=unit)


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

    factor = b.binary("Mul", b.unary("Rsqrt", b.binary("AddV2", variance, epsilon)), scale)
    shift = b.binary("Sub", offset, b.binary("Mul", mean, factor))
    return b.binary("AddV2", b.binary("Mul", value, placed(factor)), placed(shift))


RULES: Rules = {
    "stablehlo.batch_norm_inference": _batch_norm,
    "stablehlo.cholesky": _cholesky,
    "stablehlo.fft": _fft,
    "stablehlo.triangular_solve": _triangular_solve,
}
