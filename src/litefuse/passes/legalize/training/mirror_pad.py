"""The gradient of mirror padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["MirrorPadGradient"]


@decomposition("MirrorPadGrad")
class MirrorPadGradient(Decomposition):
    """Folds the padding back and adds it, one dimension after the other.

    Definition: https://www.tensorflow.org/api_docs/python/tf/pad (REFLECT skips the border, SYMMETRIC repeats it).
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32", "int32")
        border = 1 if str(op.attributes.get("mode", "REFLECT")) == "REFLECT" else 0
        value = op.operands[0]
        for axis, (before, after) in enumerate(op.constant(1).tolist()):
            if before or after:
                value = _fold(b, value, axis, before, after, border)
        return value


def _fold(b: Builder, value: ir.Value, axis: int, before: int, after: int, border: int) -> ir.Value:
    rank, size = len(b.shape(value)), b.size(value, axis)
    end = b.dims("Sub", size, after)
    folded = b.slice(value, axis, before, end)
    inner = b.dims("Sub", end, before)
    folds: list[tuple[MixedSize, int, MixedSize]] = []  # the start of a folded part, its size, and its new start
    if before:
        folds.append((0, before, border))
    if after:
        folds.append((end, after, b.dims("Sub", inner, after + border)))
    for begin, count, place in folds:
        part = b.reverse(b.slice(value, axis, begin, b.dims("AddV2", begin, count)), [axis])
        padding: list[tuple[MixedSize, MixedSize]] = [(0, 0)] * rank
        padding[axis] = (place, b.dims("Sub", b.dims("Sub", inner, place), count))
        folded = b.binary("AddV2", folded, b.pad(part, padding))
    return folded
