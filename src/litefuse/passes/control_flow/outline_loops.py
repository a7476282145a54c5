"""Outlines loop bodies into functions, which the flatbuffer's WHILE refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from litefuse.ir.call_graph import function_symbol, functions, terminator_of
from litefuse.ir.constants import CONSTANTS, pseudo_constant
from litefuse.ir.litert_ops import copied
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.types import tensor_type_of

__all__ = ["OutlineLoops"]

_CONFIGURING = CONSTANTS | {"tfl.no_value"}


class OutlineLoops:
    """Moves the regions of ``tfl.while`` into functions::

        %r = tfl.while(%x) (..., { uses %w })  -->  %r, %_ = tfl.while(%x, %w) ({ call @f.cond }, { call @f.body })

    A value that a region captures becomes a loop variable that never changes, except a constant, which is copied into
    the function. A loop whose tensors may grow from empty gets a variable whose size always changes, so that the
    runtime resizes them.

    Loops that were outlined before are left unchanged.
    """

    name: ClassVar[str] = "outline-loops"

    def run(self, module: ir.Module) -> bool:
        modified = False
        copied_constants: dict[ir.OpView, None] = {}
        for symbol, function in functions(module).items():
            if function.is_external:
                continue
            for number, loop in enumerate(list(_loops(function.entry_block))):
                _outline(module, loop, f"{symbol}.while.{number}", copied_constants)
                modified = True
        for constant in copied_constants:
            if not list(constant.results[0].uses):  # otherwise it would be a tensor of the file
                constant.erase()
        return modified


def _loops(block: ir.Block) -> Iterator[ir.OpView]:
    """Yields the loops to outline in a block and in the regions of its ops, inner ones first."""
    for op in list(block.operations):
        for region in op.regions:
            for inner in region.blocks:
                yield from _loops(inner)
        if op.name == "tfl.while" and not _is_outlined(op):
            yield op


def _is_outlined(loop: ir.OpView) -> bool:
    return [op.name for op in loop.regions[1].blocks[0].operations] == ["func.call", "tfl.yield"]


def _outline(module: ir.Module, loop: ir.OpView, base: str, copied_constants: dict[ir.OpView, None]) -> None:
    cond, body = (region.blocks[0] for region in loop.regions)
    captures: list[ir.Value] = []
    for block in (cond, body):
        for value in _captured(block, copied_constants):
            if value not in captures:
                captures.append(value)
    for value in captures:
        for block in (cond, body):
            argument = block.add_argument(value.type, value.location)
            _replace_uses_inside(block, value, argument)
    _copy_moved_variables(body)
    yielded: list[ir.Value] = _last(body, len(captures))
    added = list(captures)
    if _grows_from_nothing(loop, body):
        before, after = _changing_size(loop, (cond, body))
        added.append(before)
        yielded.append(after)
    _yield_also(body, yielded)

    operands = [*loop.operands, *added]
    results = [*(result.type for result in loop.results), *(argument.type for argument in _last(body, len(added)))]
    attributes = {name: loop.attributes[name] for name in loop.attributes}
    new = ir.Operation.create(
        "tfl.while", results, operands, attributes, regions=2, loc=loop.location, ip=ir.InsertionPoint(loop)
    )
    for region, block, part in zip(new.regions, (cond, body), ("cond", "body"), strict=True):
        function = _function_from(module, block, f"{base}.{part}")
        _call_only(region, function)
    for old, replacement in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(replacement)
    loop.operation.erase()


def _captured(block: ir.Block, copied_constants: dict[ir.OpView, None]) -> list[ir.Value]:
    """Returns the values that ops of a block capture from outside, after constants were copied in.

    Args:
        block: The block.
        copied_constants: Filled with the constants that were copied.
    """
    inside: set[ir.Value] = set(block.arguments)
    copies: dict[ir.Value, ir.Value] = {}
    captured: list[ir.Value] = []

    def visit(current: ir.Block) -> None:
        for op in list(current.operations):
            for index, value in enumerate(op.operands):
                if value in inside:
                    continue
                owner = value.owner
                if not isinstance(owner, ir.Block) and owner.name in _CONFIGURING:
                    if value not in copies:
                        copies[value] = owner.clone(ip=ir.InsertionPoint.at_block_begin(block)).results[0]
                        copied_constants[owner] = None
                    op.operands[index] = copies[value]
                elif value not in captured:
                    captured.append(value)
            inside.update(op.results)
            for region in op.regions:
                for nested in region.blocks:
                    inside.update(nested.arguments)
                    visit(nested)

    visit(block)
    return captured


def _replace_uses_inside(block: ir.Block, old: ir.Value, new: ir.Value) -> None:
    for op in block.operations:
        for index, value in enumerate(op.operands):
            if value == old:
                op.operands[index] = new
        for region in op.regions:
            for nested in region.blocks:
                _replace_uses_inside(nested, old, new)


def _copy_moved_variables(body: ir.Block) -> None:
    """Copies a loop variable that the body yields at a later position: fault ``variable-in-a-later-place``."""
    terminator = terminator_of(body)
    for position, value in enumerate(terminator.operands):
        if isinstance(value.owner, ir.Block) and ir.BlockArgument(value).arg_number < position:
            with ir.InsertionPoint(terminator), terminator.location:
                terminator.operands[position] = copied(value)


def _last(block: ir.Block, count: int) -> list[ir.Value]:
    arguments = list(block.arguments)
    return list[ir.Value](arguments[len(arguments) - count :])


def _grows_from_nothing(loop: ir.OpView, body: ir.Block) -> bool:
    """Whether a variable may be empty at first, and is concatenated to in each step."""
    terminator = terminator_of(body)
    for first, value in zip(loop.operands, terminator.operands, strict=False):
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name != "tfl.concatenation":
            continue
        shape = tensor_type_of(first).shape or (None,)
        axis = ir.IntegerAttr(owner.attributes["axis"]).value
        if axis in (0, -len(shape)) and not shape[0]:
            return True
    return False


def _changing_size(loop: ir.OpView, blocks: Sequence[ir.Block]) -> tuple[ir.Value, ir.Value]:
    """Adds an argument to the blocks, whose size is 2 before the loop and 3 after a step.

    One variable whose size changes in another way avoids the fault ``loop-that-grows-from-nothing``.

    Returns:
        The values before the loop and after a step.
    """
    kind = ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size()], ir.IntegerType.get_signless(32))
    for block in blocks:
        block.add_argument(kind, loop.location)
    before = _vector(2, ir.InsertionPoint(loop), loop.location)
    after = _vector(3, ir.InsertionPoint.at_block_begin(blocks[-1]), loop.location)
    return before, after


def _vector(count: int, point: ir.InsertionPoint, location: ir.Location) -> ir.Value:
    with point, location:
        return pseudo_constant(ir.DenseElementsAttr.get(np.arange(count, dtype=np.int32)))


def _yield_also(block: ir.Block, values: Sequence[ir.Value]) -> None:
    terminator = terminator_of(block)
    operands = [*terminator.operands, *values]
    create_op("tfl.yield", [], operands, location=terminator.location, point=ir.InsertionPoint(terminator))
    terminator.operation.erase()


def _function_from(module: ir.Module, block: ir.Block, symbol: str) -> func.FuncOp:
    terminator = terminator_of(block)
    inputs = [argument.type for argument in block.arguments]
    kind = ir.FunctionType.get(inputs, [value.type for value in terminator.operands])
    taken = {function_symbol(op) for op in module.body.operations if isinstance(op, func.FuncOp)}
    while symbol in taken:
        symbol += "_"
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(symbol, kind, visibility="private")
    entry = function.add_entry_block([argument.location for argument in block.arguments])
    for old, new in zip(block.arguments, entry.arguments, strict=True):
        old.replace_all_uses_with(new)
    with ir.InsertionPoint(entry):
        func.ReturnOp(list(terminator.operands), loc=terminator.location)
    last = terminator_of(entry)
    terminator.operation.erase()
    for op in list(block.operations):
        op.operation.move_before(last)
    return function


def _call_only(region: ir.Region, function: func.FuncOp) -> None:
    block = region.blocks.append(*function.type.inputs)
    with ir.InsertionPoint(block):
        call = create_op(
            "func.call",
            function.type.results,
            block.arguments,
            {"callee": ir.FlatSymbolRefAttr.get(function_symbol(function))},
        )
        create_op("tfl.yield", [], call.results)
