"""Handles and reads of variables as XNNPACK needs them: one handle for a variable, a read for each operand."""

from __future__ import annotations

from litefuse.ir.call_graph import all_operations, functions, operations
from litefuse.ir.mlir import ir, producer
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import replace_op


@module_pass
def merge_handles(module: ir.Module) -> bool:
    """Merges the handles of each variable in each function::

        %a = tfl.var_handle "v"                   %a = tfl.var_handle "v"
        tfl.assign_variable(%a, %x)               tfl.assign_variable(%a, %x)
        %b = tfl.var_handle "v"              -->  %y = tfl.read_variable(%a)
        %y = tfl.read_variable(%b)

    Inlined functions have handles of their own. Fault ``handles-of-one-variable``.
    """
    modified = False
    for function in functions(module).values():
        handles: dict[tuple[str, str], ir.OpView] = {}
        for op in operations(function):
            if op.name != "tfl.var_handle":
                continue
            first = handles.setdefault((str(op.attributes["container"]), str(op.attributes["shared_name"])), op)
            if first is not op:
                replace_op(op, [first.results[0]])
                modified = True
    return modified


@module_pass
def separate_reads(module: ir.Module) -> bool:
    """Reads a variable once for each operand, if an op takes the same read more than once::

        %a = tfl.read_variable(%v)                %a = tfl.read_variable(%v)
        tfl.assign_variable(%v, %x)               %b = tfl.read_variable(%v)
        %y = tfl.mul(%a, %a)                 -->  tfl.assign_variable(%v, %x)
                                                  %y = tfl.mul(%a, %b)

    Fault ``variable-that-is-both-operands``.
    """
    modified = False
    for op in all_operations(module, nested=False):
        seen: set[ir.Value] = set()
        for index, value in enumerate(op.operands):
            read = producer(value, "tfl.read_variable")
            if value in seen and read is not None:
                copy = read.operation.clone(ip=ir.InsertionPoint.after(read.operation))
                op.operands[index] = copy.operation.result
                modified = True
            seen.add(value)
    return modified
