"""Regions of a function: the ops that compute some values from others, and their outlining."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litefuse.ir.annotations import annotate
from litefuse.ir.call_graph import ORIGINAL_NAME, create_call, free_symbol, function_symbol, update_function_type
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir


class NotRecognized(Exception):  # noqa: N818  not an error: the loop stays a loop
    """Something is not of the expected kind; the text says why.

    Attributes:
        kind: The expected kind.
    """

    def __init__(self, reason: str, kind: str = "a recurrent layer") -> None:
        super().__init__(reason)
        self.kind = kind


def value_name(value: ir.Value) -> str:
    """Returns the name of the node that computes a value."""
    owner = value.owner
    assert not isinstance(owner, ir.Block)
    return node_name(owner.location) or owner.name


@dataclass(frozen=True)
class Region:
    """Some ops of a function.

    Attributes:
        ops: All ops of the function.
        order: The position of each value's defining op.
        inside: The positions of the region's ops.
    """

    ops: Sequence[ir.OpView]
    order: dict[ir.Value, int]
    inside: frozenset[int]

    @property
    def last(self) -> int:
        """The position of its last op."""
        return max(self.inside)

    def position(self, op: ir.OpView | ir.Operation) -> int:
        """Returns the position of an op of the function; one without results is the function's return."""
        return self.order.get(op.results[0], len(self.ops)) if len(op.results) else len(self.ops) - 1

    def users(self, value: ir.Value) -> list[int]:
        """Returns the positions of the ops outside that use a value."""
        return [position for use in value.uses if (position := self.position(use.owner)) not in self.inside]

    def copy_into(self, copies: dict[ir.Value, ir.Value]) -> None:
        """Emits copies of the ops at the insertion point.

        Args:
            copies: The replacements of values from outside; filled with the copies of the region's values.
        """
        for index in sorted(self.inside):
            op = self.ops[index]
            copy = op.clone()
            for position, operand in enumerate(op.operands):
                copy.operands[position] = copies[operand]
            copies.update(zip(op.results, copy.results, strict=True))

    def erase_unused(self) -> None:
        """Erases those of its ops that have no uses left."""
        for index in sorted(self.inside, reverse=True):
            if not any(list(result.uses) for result in self.ops[index].results):
                self.ops[index].operation.erase()


def region_between(function: func.FuncOp, sources: Iterable[ir.Value], results: Iterable[ir.Value]) -> Region:
    """Returns the ops that compute values from others.

    Raises:
        NotRecognized: They need other values too.
    """
    ops = list(function.entry_block.operations)
    return region_of(ops, {result: index for index, op in enumerate(ops) for result in op.results}, sources, results)


def region_of(
    ops: Sequence[ir.OpView], order: dict[ir.Value, int], sources: Iterable[ir.Value], results: Iterable[ir.Value]
) -> Region:
    """Returns the ops among those of a function that compute values from others.

    Raises:
        NotRecognized: They need other values too.
    """
    positions: set[int] = set()
    seen = set(sources)
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, ir.Block):
            raise NotRecognized("it takes something that the formula does not")
        positions.add(order[value])
        waiting += owner.operands
    return Region(ops, order, frozenset(positions))


def empty_composite(
    module: ir.Module, place: str, name: str, attributes: Mapping[str, Any], types: Sequence[ir.Type]
) -> func.FuncOp:
    """Creates an annotated function without ops.

    Args:
        module: The module to add it to.
        place: The name of the layer or node that it is outlined from.
        name: The composite's name.
        attributes: Its attributes.
        types: The types of its arguments.
    """
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(
            free_symbol(module, f"{place}.{name}"), ir.FunctionType.get(list(types), []), visibility="private"
        )
    annotate(function, name, attributes)
    function.attributes[ORIGINAL_NAME] = ir.StringAttr.get(place)
    function.add_entry_block()
    return function


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
