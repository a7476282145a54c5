"""Weights whose pairs the engine left behind when it changed them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from litefuse.fake_quantization.constants import is_on_grid
from litefuse.fake_quantization.pairs import NodesFound
from litefuse.ir.call_graph import all_operations
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import ir

__all__ = ["CheckPairs"]


@dataclass(frozen=True)
class CheckPairs:
    """Takes constants without their pairs if these would round them, as they were rounded before the engine::

        %y = tfl.dequantize(tfl.quantize(%w * 0.3))  -->  %y = %w * 0.3       with steps of %w

    Attributes:
        found: Gets a record of each.
    """

    found: NodesFound
    name: ClassVar[str] = "check-pairs"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for op in [each for each in all_operations(module) if each.name == "tfl.quantize"]:
            if is_on_grid(op) is not False:
                continue
            for use in list(op.results[0].uses):
                if use.owner.name == "tfl.dequantize":
                    use.owner.results[0].replace_all_uses_with(op.operands[0])
                    modified = True
            self.found.left.append((node_text(op), "its weights were multiplied with what precedes or follows them"))
        return modified
