"""Outlines ops into an annotated function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from litefuse.fusions.recognizers.outline import empty_composite, value_name
from litefuse.fusions.recognizers.regions import region_between
from litefuse.ir.call_graph import create_call, function_symbol, update_function_type
from litefuse.ir.mlir import func, ir

__all__ = ["outline_ops"]


def outline_ops(
    module: ir.Module,
    function: func.FuncOp,
    name: str,
    attributes: Mapping[str, Any],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Value],
) -> func.FuncOp:
    """Moves the ops that compute results into an annotated function, and calls it in place of the first result.

    Args:
        module: The module.
        function: The function that has the ops.
        name: The name of the annotation.
        attributes: Its attributes.
        arguments: The values that the results are computed from.
        results: The results; the first is computed from all others.

    Returns:
        The annotated function.

    Raises:
        NotRecognized: The results are computed from other values too.
    """
    region = region_between(function, arguments, results)
    owner = region.ops[region.last]
    with ir.InsertionPoint(owner), owner.location:
        types = [value.type for value in arguments]
        composite = empty_composite(module, value_name(results[0]), name, attributes, types)
        copies: dict[ir.Value, ir.Value] = dict(zip(arguments, composite.entry_block.arguments, strict=True))
        with ir.InsertionPoint(composite.entry_block):
            region.copy_into(copies)
            func.ReturnOp([copies[value] for value in results])
        update_function_type(composite)
        call = create_call(function_symbol(composite), [value.type for value in results], arguments)
    for old, new in zip(results, call.results, strict=True):
        for use in list(old.uses):
            position = region.position(use.owner)
            if position not in region.inside and position > region.last:
                use.owner.operands[use.operand_number] = new
    region.erase_unused()
    return composite
