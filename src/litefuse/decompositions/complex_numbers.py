"""Complex numbers as pairs of float32: LiteRT has few ops of them, but BITCAST takes them apart and together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ComplexArithmetic", "ComplexBits", "ComplexParts", "complex_of", "parts_of"]


class ComplexBits(Decomposition):
    """``Bitcast`` between complex numbers and their parts where all sizes are known.

    The engine's op for it does not take an operand of known sizes then; so the first one is hidden from it.
    """

    names = ("Bitcast",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape, (result,) = op.shape(0), op.results
        sizes = [size for size in shape if size is not None]
        kinds = {op.types[0].dtype, result.dtype}
        if kinds != {"complex64", "float32"} or result.shape is None or len(sizes) < len(shape):
            raise NotDecomposed(f"LiteRT's Bitcast does not take {op.types[0].dtype} to {result.dtype}")
        if 0 in shape:
            raise NotDecomposed("it is empty")
        rows = b.constant([-1, *sizes[1:]], "int32")
        hidden = b.op("Reshape", [op.operands[0], rows], [None, *sizes[1:]], op.types[0].dtype)
        if len(shape) > (result.dtype == "complex64"):
            return b.op("Bitcast", [hidden], result.shape, result.dtype)
        # A scalar on either side.
        if not shape:
            return b.reshape(b.op("Bitcast", [hidden], [None, 2], result.dtype), [2])
        hidden = b.op("Reshape", [op.operands[0], b.constant([-1, 2], "int32")], [None, 2], op.types[0].dtype)
        return b.reshape(b.op("Bitcast", [hidden], [None], result.dtype), [])


class ComplexParts(Decomposition):
    """Complex numbers from their parts, and what is computed from the parts."""

    names = ("Angle", "Complex", "Conj")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        if op.name == "Complex":
            op.require(0, "float32")
            return complex_of(b, *op.operands)
        op.require(0, "complex64")
        real, imaginary = parts_of(b, op.operands[0])
        if op.name == "Angle":
            return b.binary("Atan2", imaginary, real)
        return complex_of(b, real, b.unary("Neg", imaginary))


class ComplexArithmetic(Decomposition):
    """Arithmetic of complex numbers, part by part."""

    names = ("Add", "AddV2", "Exp", "Mul", "Neg", "RealDiv", "Square", "Sub", "Sum")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0))
        if op.types[0].dtype != "complex64":
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
        real, imaginary = parts_of(b, op.operands[0])
        if op.name == "Sum":
            axes = sorted({int(axis) % rank for axis in op.constant(1).reshape(-1)}, reverse=True)
            keep = bool(op.attributes.get("keep_dims", False))
            for axis in axes:
                real, imaginary = (b.reduce("Sum", part, axis, keep_dims=keep) for part in (real, imaginary))
            return complex_of(b, real, imaginary)
        if op.name == "Neg":
            return complex_of(b, b.unary("Neg", real), b.unary("Neg", imaginary))
        if op.name == "Exp":
            size = b.unary("Exp", real)
            return complex_of(
                b, b.binary("Mul", size, b.unary("Cos", imaginary)), b.binary("Mul", size, b.unary("Sin", imaginary))
            )
        op.shape(len(op.operands) - 1)
        other = parts_of(b, op.operands[-1])
        if op.name in {"Add", "AddV2", "Sub"}:
            return complex_of(b, b.binary(op.name, real, other[0]), b.binary(op.name, imaginary, other[1]))
        if op.name == "RealDiv":
            size = b.binary("AddV2", b.unary("Square", other[0]), b.unary("Square", other[1]))
            other = (b.binary("RealDiv", other[0], size), b.binary("RealDiv", b.unary("Neg", other[1]), size))
        return complex_of(
            b,
            b.binary("Sub", b.binary("Mul", real, other[0]), b.binary("Mul", imaginary, other[1])),
            b.binary("AddV2", b.binary("Mul", real, other[1]), b.binary("Mul", imaginary, other[0])),
        )


def parts_of(b: Builder, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Real and imaginary part, float32."""
    shape = b.shape(value)
    rank = len(shape)
    pairs = b.op("Bitcast", [value], [*shape, 2], "float32")
    sizes = b.sizes(value)
    real, imaginary = (b.reshape(b.slice(pairs, rank, index, index + 1), sizes) for index in (0, 1))
    return real, imaginary


def complex_of(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    """The complex64 numbers of two parts; they broadcast."""
    if b.shape(real) != b.shape(imaginary) or None in b.shape(real):
        false = b.compare("Less", b.binary("AddV2", b.unary("ZerosLike", real), b.unary("ZerosLike", imaginary)), 0.0)
        real, imaginary = b.select(false, 0.0, real), b.select(false, 0.0, imaginary)
    pairs = b.stack([real, imaginary], len(b.shape(real)))
    return b.op("Bitcast", [pairs], b.shape(real), "complex64")
