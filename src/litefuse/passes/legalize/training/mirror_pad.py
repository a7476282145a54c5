"""The gradient of mirror padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

__all__ = ["MirrorPadGradient"]


@decomposition("MirrorPadGrad")
class MirrorPadGradient(Decomposition):
    """Folds the padding back and adds it, one dimension after the other.

    Definition: https://www.tensorflow.org/api_docs/python/tf/pad (REFLECT skips the border, SYMMETRIC repeats it).
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0)
        op.require(0, "float32", "int32")
        border = 1 if str(op.attributes.get("mode", "REFLECT")) == "REFLECT" else 0
        value = op.operands[0]
        for axis, (before, after) in enumerate(op.constant(1).tolist()):
            if before or after:
                value = _fold(b, value, axis, before, after, border)
        return value


def _fold(b: Builder, value: Tensor, axis: int, before: int, after: int, border: int) -> Tensor:
    rank, size = len(value.shape), b.size(value, axis)
    end = size - after
    folded = b.slice(value, axis, before, end)
    inner = end - before
    folds: list[tuple[MixedSize, int, MixedSize]] = []  # the start of a folded part, its size, and its new start
    if before:
        folds.append((0, before, border))
    if after:
        folds.append((end, after, inner - (after + border)))
    for begin, count, place in folds:
        part = b.reverse(b.slice(value, axis, begin, begin + count), [axis])
        padding: list[tuple[MixedSize, MixedSize]] = [(0, 0)] * rank
        padding[axis] = (place, inner - place - count)
        folded = folded + b.pad(part, padding)
    return folded
