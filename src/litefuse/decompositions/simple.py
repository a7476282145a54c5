"""Ops that are one or two others under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, TensorFlowOp
from litefuse.decompositions.elementary import where_finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = [
    "ApproximateEqual",
    "ArgExtreme",
    "Atan2",
    "Classification",
    "ClipByValue",
    "IntegerMean",
    "LegacyBlocks",
    "Like",
    "NextAfter",
    "ParallelConcat",
    "ShapeN",
]


class ApproximateEqual(Decomposition):
    """``|x - y| < tolerance``."""

    names = ("ApproximateEqual",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32", "int32", "int64")
        tolerance = op.attributes.get("tolerance", 1e-5)
        difference = b.cast(b.unary("Abs", b.binary("Sub", *op.operands)), "float32")
        return b.compare("Less", difference, float(tolerance))


class Atan2(Decomposition):
    """LiteRT's op does not broadcast: both operands are brought to one shape before."""

    names = ("Atan2",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        shapes = [each.shape for each in op.types]
        return None not in shapes and shapes[0] != shapes[1]

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        y, x = op.operands
        if b.shape(x) == b.shape(y):
            return b.binary("Atan2", y, x)
        # Zeros of the result's shape; not a product with 0, which an infinity would spoil.
        false = b.compare("Less", b.binary("AddV2", b.unary("ZerosLike", x), b.unary("ZerosLike", y)), 0.0)
        return b.binary("Atan2", b.select(false, 0.0, y), b.select(false, 0.0, x))


class Classification(Decomposition):
    """Comparisons that only infinities or NaN fulfil; the engine's own form of IsInf is never true."""

    names = ("IsFinite", "IsInf", "IsNan")

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.name == "IsInf"

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "float32")
        (x,) = op.operands
        if op.name == "IsFinite":
            return where_finite(b, x)
        ordered = b.compare("GreaterEqual", b.unary("Abs", x), 0.0)
        if op.name == "IsNan":
            return b.op("LogicalNot", [ordered], shape, "bool")
        return b.op("LogicalAnd", [ordered, b.op("LogicalNot", [where_finite(b, x)], shape, "bool")], shape, "bool")


class ClipByValue(Decomposition):
    """``min(max(x, low), high)``."""

    names = ("ClipByValue",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        x, low, high = op.operands
        return b.binary("Minimum", b.binary("Maximum", x, low), high)


class NextAfter(Decomposition):
    """The neighbours of a float are those of its bits, taken as an integer.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/nextafter.
    """

    names = ("NextAfter",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32")
        x, y = op.operands
        bits = b.bitcast(x, "int32")
        upwards = b.compare("Less", x, y)
        away = b.compare("Equal", b.compare("Greater", x, 0.0), upwards)
        moved = b.bitcast(b.binary("AddV2", bits, b.select(away, _one(b), -1)), "float32")
        smallest = b.bitcast(b.constant(1, "int32"), "float32")
        moved = b.select(b.compare("Equal", x, 0.0), b.select(upwards, smallest, b.unary("Neg", smallest)), moved)
        total = b.binary("AddV2", x, y)  # NaN where one of both is
        ordered = b.compare("Equal", total, total)
        return b.select(b.compare("Equal", x, y), y, b.select(ordered, moved, total))


class ArgExtreme(Decomposition):
    """int64: where the first of the largest elements is, or of their negatives."""

    names = ("ArgMax", "ArgMin")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0))
        op.require(0, "int64")
        axis = op.axis(1, rank)
        value = op.operands[0] if op.name == "ArgMax" else b.unary("Neg", op.operands[0])
        value = b.transpose(value, [*(each for each in range(rank) if each != axis), axis])
        shape = (*b.shape(value)[:-1], 1)
        largest = b.ops("TopKV2", [value, b.constant(1, "int32")], [(shape, "int64"), (shape, "int32")], sorted=True)
        return b.cast(b.reshape(largest[1], b.sizes(value)[:-1]), op.results[0].dtype)


class IntegerMean(Decomposition):
    """The sum divided by the count, towards zero."""

    names = ("Mean",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.types[0].dtype == "uint8"  # the engine's has no room for the sum

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "uint8", "int8", "int16")
        value = b.cast(op.operands[0], "int32")
        sizes = b.sizes(value)
        count: Dim = 1
        for axis in sorted({int(axis) % len(shape) for axis in op.constant(1).reshape(-1)}, reverse=True):
            count = b.dims("Mul", count, sizes[axis])
            value = b.reduce("Sum", value, axis, keep_dims=bool(op.attributes.get("keep_dims", False)))
        return b.cast(b.binary("Div", value, b.scalar(count)), op.types[0].dtype)


class LegacyBlocks(Decomposition):
    """``SpaceToBatch`` and ``BatchToSpace`` of square blocks."""

    names = ("BatchToSpace", "SpaceToBatch")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        op.shape(0, 4)
        size = int(op.attributes["block_size"])
        operands = [op.operands[0], b.constant([size, size], "int32"), op.operands[1]]
        return b.ops(f"{op.name}ND", operands, [(op.results[0].shape, op.types[0].dtype)])


class Like(Decomposition):
    """One number in the operand's shape; the engine dies of unsigned ones."""

    names = ("OnesLike", "ZerosLike")

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.types[0].dtype.startswith("uint")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        (value,) = op.operands
        number = 1 if op.name == "OnesLike" else 0
        dtype = b.dtype(value)
        if dtype.startswith(("int", "uint")):
            return b.cast(b.fill(b.sizes(value), number, "int32"), dtype)
        return b.fill(b.sizes(value), number, dtype)


class ParallelConcat(Decomposition):
    """One after the other."""

    names = ("ParallelConcat",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        return b.concat(list(op.operands), 0)


class ShapeN(Decomposition):
    """The shape of each operand."""

    names = ("ShapeN",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        return [
            b.op("Shape", [value], [len(op.shape(index))], op.results[index].dtype)
            for index, value in enumerate(op.operands)
        ]


def _one(b: Builder) -> ir.Value:
    return b.constant(1, "int32")
