"""LiteRT's loops: buffers that they fill, variables that nothing reads, and bodies as functions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from litefuse.ir.call_graph import (
    all_operations,
    attributes_of,
    defined_functions,
    function_symbol,
    functions,
    terminator_of,
)
from litefuse.ir.constants import CONSTANTS, pseudo_constant
from litefuse.ir.litert_ops import copied, create_fill, splat
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import is_pure, is_used
from litefuse.ir.types import tensor_type_of

_CONFIGURING = CONSTANTS | {"tfl.no_value"}
# The dtypes of LiteRT's FILL that such a buffer may have.
_DTYPES = frozenset({"f16", "f32", "i1", "i8", "i16", "i32", "i64"})
_MIN_ELEMENTS = 256


@module_pass
def fill_buffers(module: ir.Module) -> bool:
    """Creates the buffer that a loop collects its results in at run time, instead of storing it in the file::

        %z = arith.constant dense<0.0> : tensor<500x1x512xf32>         %z = tfl.fill([500, 1, 512], 0.0)
        tfl.while(%z)                                             -->  tfl.while(%z)

    The engine folds a fill of known size into a constant, so this pass comes after it. The runtime copies a loop
    variable's first value in any case.
    """
    return visit_ops(module, {"tfl.while": _fill_operands})


def _fill_operands(op: ir.OpView) -> bool:
    splats = [(position, _large_splat(value)) for position, value in enumerate(op.operands)]
    large = [(elements, position) for position, elements in splats if elements is not None]
    for elements, position in large:
        _fill(elements, op, position)
    return bool(large)


def _large_splat(value: ir.Value) -> ir.DenseElementsAttr | None:
    elements = splat(value)
    if elements is None or str(elements.type.element_type) not in _DTYPES:
        return None
    return elements if math.prod(elements.type.shape) >= _MIN_ELEMENTS else None


def _fill(elements: ir.DenseElementsAttr, loop: ir.OpView, position: int) -> None:
    constant = loop.operands[position].owner
    assert not isinstance(constant, ir.Block)
    with ir.InsertionPoint(loop), constant.location:
        loop.operands[position] = create_fill(elements, elements.type)
    if not is_used(constant):  # otherwise it would be written to the file
        constant.erase()


@module_pass
def drop_loop_variables(module: ir.Module) -> bool:
    """Removes the variables of loops on which no result, no condition and no side effect depends::

        %r:2 = tfl.while(%zero, %x) {           %r = tfl.while(%x) {
          tfl.less(%v, 10.0)                      tfl.less(%v, 10.0)
        } do {                             -->  } do {
          %n = tfl.add(%i, 1)
          %w = tfl.add(%v, 1.0)                   %w = tfl.add(%v, 1.0)
          tfl.yield(%n, %w)                       tfl.yield(%w)
        }                                       }

    Each ``tf.while_loop`` has such a counter, which only ``maximum_iterations`` reads.
    """
    modified = False
    loops = [op for op in all_operations(module) if op.name == "tfl.while"]
    for loop in reversed(loops):  # a variable of an inner loop may be all that reads one of an outer loop
        unused = _unused(loop)
        if unused and len(unused) < len(loop.results):
            _drop(loop, unused)
            modified = True
    return modified


def _unused(loop: ir.OpView) -> set[int]:
    """Returns the positions of the variables that only they themselves depend on."""
    cond, body = (region.blocks[0] for region in loop.regions)
    unused = {
        index
        for index, (result, argument) in enumerate(zip(loop.results, cond.arguments, strict=True))
        if not any(True for _ in result.uses) and not any(True for _ in argument.uses)
    }
    while used := {index for index in unused if not _goes_only_to(body, index, unused)}:
        unused -= used
    return unused


def _goes_only_to(body: ir.Block, index: int, variables: set[int]) -> bool:
    """Whether a variable's next values, and nothing else, depend on the value of a variable in a step."""
    waiting: list[ir.Value] = [body.arguments[index]]
    seen: set[ir.Value] = set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            op = use.owner
            if op.name == "tfl.yield" and op.operation.block == body:
                if use.operand_number not in variables:
                    return False
            elif len(op.regions) or op.operation.block != body or not is_pure(op.name):
                return False
            else:
                waiting += op.results
    return True


def _drop(loop: ir.OpView, unused: set[int]) -> None:
    kept = [index for index in range(len(loop.results)) if index not in unused]
    new = _loop_like(loop, [loop.results[index].type for index in kept], [loop.operands[index] for index in kept])
    cond, body = (region.blocks[0] for region in loop.regions)
    yielding = terminator_of(body)
    _yield_instead(yielding, [yielding.operands[index] for index in kept])
    for op in reversed(list(body.operations)):
        if len(op.results) and is_pure(op.name) and not is_used(op):
            op.operation.erase()
    for region, block in zip(new.regions, (cond, body), strict=True):
        for index in sorted(unused, reverse=True):
            block.erase_argument(index)
        block.append_to(region)
    for index, result in zip(kept, new.results, strict=True):
        loop.results[index].replace_all_uses_with(result)
    loop.operation.erase()


@module_pass
def outline_loops(module: ir.Module) -> bool:
    """Moves the regions of ``tfl.while`` into functions::

        %r = tfl.while(%x) (..., { uses %w })  -->  %r, %_ = tfl.while(%x, %w) ({ call @f.cond }, { call @f.body })

    A value that a region captures becomes a loop variable that never changes, except a constant, which is copied into
    the function. A loop whose tensors may grow from empty gets a variable whose size always changes, so that the
    runtime resizes them.

    Loops that were outlined before are left unchanged.
    """
    modified = False
    copied_constants: dict[ir.OpView, None] = {}
    for function in defined_functions(module):
        for number, loop in enumerate(list(_loops(function.entry_block))):
            _outline(module, loop, f"{function_symbol(function)}.while.{number}", copied_constants)
            modified = True
    for constant in copied_constants:
        if not is_used(constant):  # otherwise it would be a tensor of the file
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
    captures = list(dict.fromkeys(value for block in (cond, body) for value in _captured(block, copied_constants)))
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
    terminator = terminator_of(body)
    _yield_instead(terminator, [*terminator.operands, *yielded])

    operands = [*loop.operands, *added]
    results = [*(result.type for result in loop.results), *(argument.type for argument in _last(body, len(added)))]
    new = _loop_like(loop, results, operands)
    for region, block, part in zip(new.regions, (cond, body), ("cond", "body"), strict=True):
        function = _function_from(module, block, f"{base}.{part}")
        _call_only(region, function)
    for old, replacement in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(replacement)
    loop.operation.erase()


def _captured(block: ir.Block, copied_constants: dict[ir.OpView, None]) -> list[ir.Value]:
    """Returns the values that ops of a block capture from outside, after constants were copied in."""
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
    """Adds an argument to the blocks, whose size is 2 before the loop and 3 after a step; returns both values.

    One variable whose size changes in another way avoids the fault ``loop-that-grows-from-nothing``.
    """
    kind = ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size()], ir.IntegerType.get_signless(32))
    for block in blocks:
        block.add_argument(kind, loop.location)
    before = _vector(2, ir.InsertionPoint(loop), loop.location)
    after = _vector(3, ir.InsertionPoint.at_block_begin(blocks[1]), loop.location)
    return before, after


def _vector(count: int, point: ir.InsertionPoint, location: ir.Location) -> ir.Value:
    with point, location:
        return pseudo_constant(ir.DenseElementsAttr.get(np.arange(count, dtype=np.int32)))


def _yield_instead(terminator: ir.OpView, values: Sequence[ir.Value]) -> None:
    create_op("tfl.yield", [], values, location=terminator.location, point=ir.InsertionPoint(terminator))
    terminator.operation.erase()


def _loop_like(loop: ir.OpView, results: Sequence[ir.Type], operands: Sequence[ir.Value]) -> ir.Operation:
    """Emits a loop without its regions before another one, with other variables."""
    point, attributes = ir.InsertionPoint(loop), attributes_of(loop)
    return ir.Operation.create("tfl.while", results, operands, attributes, regions=2, loc=loop.location, ip=point)


def _function_from(module: ir.Module, block: ir.Block, symbol: str) -> func.FuncOp:
    terminator = terminator_of(block)
    inputs = [argument.type for argument in block.arguments]
    kind = ir.FunctionType.get(inputs, [value.type for value in terminator.operands])
    taken = functions(module)
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
        callee = {"callee": ir.FlatSymbolRefAttr.get(function_symbol(function))}
        call = create_op("func.call", function.type.results, block.arguments, callee)
        create_op("tfl.yield", [], call.results)
