"""Pairs that the engine broke: of weights that it changed, and of what it multiplies with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from litefuse.ir.call_graph import all_operations
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.passes.fake_quantization.constants import is_on_grid
from litefuse.passes.fake_quantization.move_up import is_real
from litefuse.passes.fake_quantization.pairs import NodesFound
from litefuse.passes.fake_quantization.uniform import uniform_of

__all__ = ["CheckPairs"]


@dataclass(frozen=True)
class CheckPairs:
    """Takes constants without their pairs if these would round them, as they were rounded before the engine::

        %y = tfl.dequantize(tfl.quantize(%w * 0.3))  -->  %y = %w * 0.3       with steps of %w

    And gives ops of floats the floats again of which the engine gave them the integers. Where it makes FULLY_CONNECTED
    of a BATCH_MATMUL with constant weights, it leaves out the DEQUANTIZE before it::

        %y = tfl.fully_connected(%q, %w)     -->   %y = tfl.fully_connected(tfl.dequantize(%q), %w)

    Attributes:
        found: Gets a record of each pair that is left.
    """

    found: NodesFound
    name: ClassVar[str] = "check-pairs"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for op in [operation for operation in all_operations(module) if operation.name == "tfl.quantize"]:
            if is_on_grid(op) is not False:
                continue
            for use in list(op.results[0].uses):
                if use.owner.name == "tfl.dequantize":
                    use.owner.results[0].replace_all_uses_with(op.operands[0])
                    modified = True
            self.found.left.append((node_text(op), "its weights were multiplied with what precedes or follows them"))
        for op in all_operations(module):
            if op.name != "tfl.dequantize" and any(map(is_real, op.results)):
                modified = _dequantize_operands(op) or modified
        return modified


def _dequantize_operands(op: ir.OpView) -> bool:
    """Gives an op of floats floats in the place of integers that have a step; returns whether it had some."""
    changed = False
    for index, value in enumerate(op.operands):
        uniform = uniform_of(value.type) if isinstance(value.type, ir.ShapedType) else None
        if uniform is None:
            continue
        kind = ir.ShapedType(value.type)
        real = ir.RankedTensorType.get(list(kind.shape), ir.F32Type.get())
        with ir.InsertionPoint(op), op.location:
            op.operands[index] = create_value("tfl.dequantize", real, [value])
        changed = True
    return changed
