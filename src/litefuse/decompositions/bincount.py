"""``Bincount`` and ``DenseBincount``: how often each number occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["Bincount"]


class Bincount(Decomposition):
    """A scatter, which adds up what falls on one place; numbers from ``size`` on fall on one that is cut off.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/bincount.
    """

    names = ("Bincount", "DenseBincount")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0)) if op.name == "Bincount" else len(op.shape(0, 1, 2))
        op.require(2, "float32", "int32", "int64")
        numbers, size, weights = op.operands
        binary = bool(op.attributes.get("binary_output", False))
        known = op.constants[1]
        bins: Dim = b.cast(size, "int32") if known is None else int(known)
        sizes = b.sizes(numbers)
        batch: Dim = sizes[0] if op.name == "DenseBincount" and rank == 2 else 1

        count = b.product(sizes)
        flat = b.reshape(numbers, [count])
        place = b.cast(b.binary("Minimum", flat, b.cast(b.scalar(bins), b.dtype(flat))), "int32")
        width = b.dims("AddV2", bins, 1)
        if batch != 1:
            row = b.binary("Mul", b.range(batch), b.scalar(width))
            place = b.reshape(b.binary("AddV2", b.reshape(place, [batch, sizes[1]]), b.expand(row, 1)), [count])
        dtype = op.types[2].dtype
        unweighted = binary or 0 in op.shape(2)
        updates = b.fill([count], 1, dtype) if unweighted else b.reshape(weights, [count])
        total = b.dims("Mul", batch, width)
        operands = [b.expand(place, 1), updates, b.vector([total])]
        sums = b.op("ScatterNd", operands, b.known([total]), dtype)
        if binary:
            sums = b.binary("Minimum", sums, 1)
        if op.name == "DenseBincount" and rank == 2:
            return b.slice(b.reshape(sums, [batch, width]), 1, 0, bins)
        return b.slice(sums, 0, 0, bins)
