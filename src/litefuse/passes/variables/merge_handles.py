"""Merges the handles of each variable in each function."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir

__all__ = ["MergeHandles"]


class MergeHandles:
    """Merges the handles of each variable in each function::

        %a = tfl.var_handle "v"                   %a = tfl.var_handle "v"
        tfl.assign_variable(%a, %x)               tfl.assign_variable(%a, %x)
        %b = tfl.var_handle "v"              -->  %y = tfl.read_variable(%a)
        %y = tfl.read_variable(%b)

    Inlined functions have handles of their own. Fault ``handles-of-one-variable``.
    """

    name: ClassVar[str] = "merge-handles"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            handles: dict[tuple[str, str], ir.OpView] = {}
            for op in operations(function):
                if op.name != "tfl.var_handle":
                    continue
                first = handles.setdefault((str(op.attributes["container"]), str(op.attributes["shared_name"])), op)
                if first is not op:
                    op.results[0].replace_all_uses_with(first.results[0])
                    op.operation.erase()
                    modified = True
        return modified
