"""One reshape in the place of several."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir, producer
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped

__all__ = ["JoinReshapes"]


class JoinReshapes:
    """Reshapes once, or not at all::

    %0 = tfl.reshape(%x : tensor<2x6xf32>, [2, 3, 2])
    %1 = tfl.reshape(%0, [12])                         -->  %1 = tfl.reshape(%x, [12])
    %2 = tfl.reshape(%1, [2, 6])                            %x in the place of %2
    """

    name: ClassVar[str] = "join-reshapes"

    def run(self, module: ir.Module) -> bool:
        modified = False
        reshapes = [op for op in all_operations(module) if op.name == "tfl.reshape"]
        for op in reshapes:
            source = op.operands[0]
            while (inner := producer(source, "tfl.reshape")) is not None:
                source = inner.operands[0]
            if (source == op.operands[0] and source.type != op.results[0].type) or not is_fixed(source, op.results[0]):
                continue
            with ir.InsertionPoint(op), op.location:
                shape = ir.RankedTensorType(op.results[0].type).shape
                op.results[0].replace_all_uses_with(reshaped(source, shape))
            modified = True
        for op in reversed(reshapes):
            if not any(True for _ in op.results[0].uses):
                op.erase()
                modified = True
        return modified
