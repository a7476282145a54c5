"""Complex numbers as pairs of float32: LiteRT has few complex ops, but BITCAST converts to pairs and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, atan2, cos, exp, log, select, sin, sqrt, square
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("Bitcast")
def complex_bits(op: TensorFlowOp, b: Builder) -> Tensor:
    """``Bitcast`` from or to complex numbers with all dimensions static.

    For the fault ``bits-of-complex-numbers``, the first dimension is made dynamic by a reshape to -1.
    """
    shape, (result,) = op.shape(0), op.results
    sizes = [size for size in shape if size is not None]
    if "complex64" not in {op.types[0].dtype, result.dtype} or result.shape is None or len(sizes) < len(shape):
        raise NotDecomposed(f"LiteRT's Bitcast does not take {op.types[0].dtype} to {result.dtype}")
    if 0 in shape:
        raise NotDecomposed("it is empty")
    # A scalar, be it the operand or the result, gets a dimension of its own meanwhile.
    has_scalar = not shape or not result.shape
    inner = sizes if has_scalar else sizes[1:]
    hidden = b.op("Reshape", [op.operands[0], b.vector([-1, *inner])], [None, *inner], op.types[0].dtype)
    if not has_scalar:
        return b.op("Bitcast", [hidden], result.shape, result.dtype)
    bits = b.op("Bitcast", [hidden], [None, *result.shape], result.dtype)
    return b.reshape(bits, [size for size in result.shape if size is not None])


@decomposition("Angle", "Complex", "Conj")
def complex_parts(op: TensorFlowOp, b: Builder) -> Tensor:
    """Complex numbers from their parts, and their angles and conjugates."""
    if op.name == "Complex":
        op.require(0, "float32")
        return complex_of(b, *op.operands)
    op.require(0, "complex64")
    real, imaginary = parts_of(b, op.operands[0])
    if op.name == "Angle":
        return atan2(imaginary, real)
    return complex_of(b, real, -imaginary)


@decomposition("ConjugateTranspose")
def conjugate_transpose(op: TensorFlowOp, b: Builder) -> Tensor:
    """Transposes the parts and negates the imaginary one; a transposition for real numbers."""
    order: list[int] = op.constant(1).reshape(-1).tolist()
    if op.types[0].dtype != "complex64":
        return b.transpose(op.operands[0], order)
    real, imaginary = (b.transpose(part, order) for part in parts_of(b, op.operands[0]))
    return complex_of(b, real, -imaginary)


@decomposition(
    *("Add", "AddV2", "Cumsum", "Equal", "Exp", "Log", "Mean", "Mul", "Neg", "NotEqual", "RealDiv", "Reciprocal"),
    *("Sqrt", "Square", "Sub", "Sum"),
)
def complex_arithmetic(op: TensorFlowOp, b: Builder) -> Tensor:
    """Arithmetic on complex numbers in terms of their parts."""
    rank = len(op.shape(0))
    if op.types[0].dtype != "complex64":
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
    real, imaginary = parts_of(b, op.operands[0])
    if op.name in {"Log", "Sqrt"}:
        return complex_of(b, *_function(b, op.name, real, imaginary))
    if op.name == "Cumsum":
        flags = {key: bool(op.attributes.get(key, False)) for key in ("exclusive", "reverse")}
        axis = b.constant(np.array(op.axis(1, rank)), "int32")
        sums = [b.op("Cumsum", [part, axis], part.shape, "float32", **flags) for part in (real, imaginary)]
        return complex_of(b, *sums)
    if op.name == "Reciprocal":
        size = square(real) + square(imaginary)
        return complex_of(b, real / size, -imaginary / size)
    if op.name in {"Mean", "Sum"}:
        axes = sorted({int(axis) % rank for axis in op.constant(1).reshape(-1)}, reverse=True)
        keep = bool(op.attributes.get("keep_dims", False))
        for axis in axes:
            real, imaginary = (b.reduce(op.name, part, axis, keep_dims=keep) for part in (real, imaginary))
        return complex_of(b, real, imaginary)
    if op.name == "Neg":
        return complex_of(b, -real, -imaginary)
    if op.name == "Exp":
        size = exp(real)
        return complex_of(b, size * cos(imaginary), size * sin(imaginary))
    op.shape(len(op.operands) - 1)
    other = parts_of(b, op.operands[-1])
    if op.name in {"Equal", "NotEqual"}:
        parts = [b.compare("Equal", *pair) for pair in ((real, other[0]), (imaginary, other[1]))]
        equal = b.binary("LogicalAnd", *parts)
        return equal if op.name == "Equal" else ~equal
    if op.name in {"Add", "AddV2", "Sub"}:
        return complex_of(b, b.binary(op.name, real, other[0]), b.binary(op.name, imaginary, other[1]))
    if op.name == "RealDiv":
        size = square(other[0]) + square(other[1])
        other = (other[0] / size, -other[1] / size)
    return complex_of(
        b,
        real * other[0] - imaginary * other[1],
        real * other[1] + imaginary * other[0],
    )


@decomposition("BroadcastTo", order=-1)
# Fault `broadcast-of-complex-numbers`.
@before_engine("BroadcastTo", dtypes=("complex64",))
def complex_broadcast(op: TensorFlowOp, b: Builder) -> Tensor:
    """Broadcasts the parts."""
    if op.types[0].dtype != "complex64":
        raise NotDecomposed(f"LiteRT's BroadcastTo does not take {op.types[0].dtype}")
    shape = op.results[0].shape
    if shape is None:
        raise NotDecomposed("the result is of unknown rank")
    parts = [b.op(name, [op.operands[0]], op.shape(0), "float32") for name in ("Real", "Imag")]
    return b.op(
        "Complex",
        [b.op("BroadcastTo", [part, op.operands[1]], shape, "float32") for part in parts],
        shape,
        "complex64",
    )


@decomposition("ScatterNd")
def complex_scatter(op: TensorFlowOp, b: Builder) -> Tensor:
    """Scatters the parts separately; updates of one element are added up."""
    indices, updates, shape = op.operands
    if op.types[1].dtype != "complex64":
        raise NotDecomposed(f"LiteRT's ScatterNd does not take {op.types[1].dtype}")
    (result,) = op.results
    if result.shape is None:
        raise NotDecomposed("the rank of its result is unknown")
    parts = parts_of(b, updates)
    return complex_of(b, *(b.op("ScatterNd", [indices, part, shape], result.shape, "float32") for part in parts))


@decomposition("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul")
# Fault `transposed-complex-factor`.
@before_engine("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul", dtypes=("complex64",))
def complex_product(op: TensorFlowOp, b: Builder) -> Tensor:
    """Complex matrix products, as four products of the parts; ``adj_x`` and ``adj_y`` also conjugate."""
    (result,) = op.results
    if {value.dtype for value in (*op.types, result)} != {"complex64"}:
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
    if result.shape is None:
        raise NotDecomposed("the result is of unknown rank")
    attributes = b.options(op)
    factors: list[tuple[Tensor, Tensor]] = []
    for value, adjoint in zip(op.operands, ("adj_x", "adj_y"), strict=True):
        real, imaginary = parts_of(b, value)
        factors.append((real, -imaginary if attributes.get(adjoint, False) else imaginary))

    def product(first: int, second: int) -> Tensor:
        return b.op(op.name, [factors[0][first], factors[1][second]], result.shape or (), "float32", **attributes)

    return complex_of(b, product(0, 0) - product(1, 1), product(0, 1) + product(1, 0))


def _function(b: Builder, name: str, real: Tensor, imaginary: Tensor) -> tuple[Tensor, Tensor]:
    """Emits the parts of the principal value of a logarithm or a square root."""
    size = _size(b, real, imaginary)
    if name == "Log":
        return log(size), atan2(imaginary, real)
    # Neither term of the sum is negative, so nothing cancels.
    large = sqrt((size + abs(real)) * 0.5)
    zero = b.compare("Equal", large, 0.0)
    small = abs(imaginary) * 0.5 / select(zero, 1.0, large)
    right = real >= 0.0
    upper = select(right, small, large)
    below = imaginary < 0.0
    return select(right, large, small), select(below, -upper, upper)


def _size(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    """Emits the absolute value, scaled so that squares do not overflow."""
    sizes = [abs(part) for part in (real, imaginary)]
    largest = b.binary("Maximum", *sizes)
    scale = select(b.compare("Equal", largest, 0.0), 1.0, largest)
    squares = [square(part / scale) for part in sizes]
    return largest * sqrt(b.binary("AddV2", *squares))


def parts_of(b: Builder, value: Tensor) -> tuple[Tensor, Tensor]:
    """Emits the real and the imaginary part, float32."""
    shape = value.shape
    rank = len(shape)
    pairs = b.op("Bitcast", [value], [*shape, 2], "float32")
    sizes = b.sizes(value)
    real, imaginary = (b.reshape(b.slice(pairs, rank, index, index + 1), sizes) for index in (0, 1))
    return real, imaginary


def complex_of(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    """Emits complex64 numbers from a real and an imaginary part, which broadcast."""
    if real.shape != imaginary.shape or None in real.shape:
        real, imaginary = b.broadcast_both(real, imaginary)
    pairs = b.stack([real, imaginary], len(real.shape))
    return b.op("Bitcast", [pairs], real.shape, "complex64")
