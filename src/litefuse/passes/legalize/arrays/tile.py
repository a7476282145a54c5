"""``Tile`` along dynamic dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

# Up to this many copies are concatenated.
_FEW = 4


@decomposition("Tile")
# Fault `tile-of-an-open-size`.
@before_engine("Tile")
class OpenTile(Decomposition):
    """Concatenates copies along dynamic dimensions; if they are many, tiles a new dimension and merges it.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tile.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return bool(_repeated(op))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        repeated = _repeated(op)
        if not repeated:
            raise NotDecomposed("LiteRT's Tile does not take it in this form")
        value = op.operands[0]
        for axis, count in repeated.items():
            value = b.concat([value] * count, axis) if count <= _FEW else _copied(b, value, axis, count)
        others = [1 if axis in repeated else int(multiple) for axis, multiple in enumerate(op.constant(1))]
        return value if set(others) == {1} else _tiled(b, value, others)


def _repeated(op: TensorFlowOp) -> dict[int, int]:
    """Returns the repeats of each dynamic dimension; none for dtypes without arithmetic."""
    shape, multiples = op.types[0].shape, op.constants[1]
    if shape is None or multiples is None or op.types[0].dtype in {"bool", "string"}:
        return {}
    counts = {axis: int(count) for axis, count in enumerate(multiples.reshape(-1))}
    return {axis: count for axis, count in counts.items() if shape[axis] is None and count > 1}


def _copied(b: Builder, value: Tensor, axis: int, count: int) -> Tensor:
    sizes = b.sizes(value)
    multiples = [1] * (len(sizes) + 1)
    multiples[axis] = count
    apart = _tiled(b, b.expand(value, axis), multiples)
    merged: list[MixedSize] = list(sizes)
    merged[axis] = sizes[axis] * count
    return b.reshape(apart, merged)


def _tiled(b: Builder, value: Tensor, multiples: list[int]) -> Tensor:
    shape = [None if size is None else size * n for size, n in zip(value.shape, multiples, strict=True)]
    return b.op("Tile", [value, b.constant(np.array(multiples), "int32")], shape, value.dtype)
