"""Decompositions of matrices, Fourier transforms, and the normalization of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.decompositions.builder import Dim
from litefuse.engine.mlir import ir
from litefuse.errors import GraphError
from litefuse.stablehlo.translation import Result, Rules, Translation

__all__ = ["RULES"]


def _cholesky(op: Any, t: Translation) -> Result:
    value = t.value(op.operands[0])
    if "lower" in op.attributes and not ir.BoolAttr(op.attributes["lower"]).value:
        raise GraphError("the upper factor of a Cholesky decomposition is not supported")
    return t.b.op("Cholesky", [value], t.b.shape(value), t.b.dtype(value))


def _triangular_solve(op: Any, t: Translation) -> Result:
    left, lower, unit = (ir.BoolAttr(op.attributes[name]).value for name in ("left_side", "lower", "unit_diagonal"))
    transposed = str(op.attributes["transpose_a"]).split()[-1].strip(">")
    if not left or unit or transposed not in {"NO_TRANSPOSE", "TRANSPOSE"}:
        raise GraphError("this form of a triangular system is not supported")
    matrix, right = t.values(op.operands)
    return t.b.op(
        "MatrixTriangularSolve",
        [matrix, right],
        t.b.shape(right),
        t.b.dtype(right),
        lower=lower,
        adjoint=transposed == "TRANSPOSE",
    )


def _fft(op: Any, t: Translation) -> Result:
    kind: str = t.dialect.FftTypeAttr(op.fft_type).value
    lengths = [int(n) for n in op.fft_length]
    value = t.value(op.operands[0])
    shape, dtype = t.shape(op.results[0]), t.dtype(op.results[0])
    name = kind if len(lengths) == 1 else f"{kind}{len(lengths)}D"
    if kind in {"RFFT", "IRFFT"}:
        return t.b.op(name, [value, t.b.constant(np.array(lengths, np.int32), "int32")], shape, dtype)
    return t.b.op(name, [value], shape, dtype)


def _batch_norm(op: Any, t: Translation) -> Result:
    """https://openxla.org/stablehlo/spec#batch_norm_inference."""
    b = t.b
    value, scale, offset, mean, variance = t.values(op.operands)
    epsilon = ir.FloatAttr(op.attributes["epsilon"]).value
    axis = int(op.feature_index)
    after: list[Dim] = [1] * (len(b.shape(value)) - axis - 1)

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
