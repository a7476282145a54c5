"""Reads a variable separately for each operand."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir

__all__ = ["SeparateReads"]


class SeparateReads:
    """Reads a variable once for each operand, if an op takes the same read more than once::

        %a = tfl.read_variable(%v)                %a = tfl.read_variable(%v)
        tfl.assign_variable(%v, %x)               %b = tfl.read_variable(%v)
        %y = tfl.mul(%a, %a)                 -->  tfl.assign_variable(%v, %x)
                                                  %y = tfl.mul(%a, %b)

    Fault ``variable-that-is-both-operands``.
    """

    name: ClassVar[str] = "separate-reads"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            for op in operations(function):
                seen: set[ir.Value] = set()
                for index, value in enumerate(op.operands):
                    owner = value.owner
                    if value in seen and not isinstance(owner, ir.Block) and owner.name == "tfl.read_variable":
                        read = owner.operation
                        op.operands[index] = read.clone(ip=ir.InsertionPoint.after(read)).operation.result
                        modified = True
                    seen.add(value)
        return modified
