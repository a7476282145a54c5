"""Activations as ops of their own."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType
from typing import ClassVar

from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir

__all__ = ["SeparateActivations"]

_FUSED = "fused_activation_function"
_OPS = MappingProxyType({"RELU": "tfl.relu", "RELU6": "tfl.relu6", "RELU_N1_TO_1": "tfl.relu_n1_to_1"})


class SeparateActivations:
    """Takes fused activations out of ops, for targets that ignore them there::

        %y = tfl.transpose_conv(%s, %w, %x, %b) {fused_activation_function = "RELU"}
        -->  %0 = tfl.transpose_conv(%s, %w, %x, %b) {fused_activation_function = "NONE"}
             %y = tfl.relu(%0)

    Args:
        names: The ops, by LiteRT's names.
    """

    name: ClassVar[str] = "separate-activations"

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(f"tfl.{name.lower()}" for name in names)

    def run(self, module: ir.Module) -> bool:
        modified = False
        for op in [op for op in all_operations(module) if op.name in self._names and _FUSED in op.attributes]:
            activation = _OPS.get(ir.StringAttr(op.attributes[_FUSED]).value)
            if activation is None:
                continue
            op.attributes[_FUSED] = ir.StringAttr.get("NONE")
            result = op.results[0]
            with ir.InsertionPoint.after(op.operation), op.location:
                activated = ir.Operation.create(activation, [result.type], [result])
            result.replace_all_uses_except(activated.result, activated)
            modified = True
        return modified
