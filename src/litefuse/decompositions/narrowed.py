"""Ops of int64 that LiteRT has for int32 only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["Narrowed"]


class Narrowed(Decomposition):
    """The op of int32 between two casts: for those who say that the values fit int32."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        if all(each.dtype != "int64" for each in (*op.types, *op.results)):
            raise NotDecomposed("it is not of int64")
        operands = [b.cast(value, "int32") if b.dtype(value) == "int64" else value for value in op.operands]
        results = b.ops(
            op.name,
            operands,
            [(each.shape, "int32" if each.dtype == "int64" else each.dtype) for each in op.results],
            **{key: value for key, value in op.attributes.items() if not b.is_type(value)},
        )
        return [b.cast(value, each.dtype) for value, each in zip(results, op.results, strict=True)]
