"""Ops on int64 that LiteRT only supports for int32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["Narrowed"]


class Narrowed(Decomposition):
    """Emits the op on int32 between two casts, if the user declared that the values fit int32."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        if all(each.dtype != "int64" for each in (*op.types, *op.results)):
            raise NotDecomposed("it is not of int64")
        return b.recast(op, "int64", "int32")
