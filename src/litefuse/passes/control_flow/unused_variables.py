"""Removes what loops count or compute for nobody."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import all_operations, terminator_of
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.purity import is_pure

__all__ = ["DropLoopVariables"]


class DropLoopVariables:
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

    name: ClassVar[str] = "drop-loop-variables"

    def run(self, module: ir.Module) -> bool:
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
    found = {
        index
        for index, (result, argument) in enumerate(zip(loop.results, cond.arguments, strict=True))
        if not any(True for _ in result.uses) and not any(True for _ in argument.uses)
    }
    while used := {index for index in found if not _goes_only_to(body, index, found)}:
        found -= used
    return found


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
    attributes = {name: loop.attributes[name] for name in loop.attributes}
    new = ir.Operation.create(
        "tfl.while",
        [loop.results[index].type for index in kept],
        [loop.operands[index] for index in kept],
        attributes,
        regions=2,
        loc=loop.location,
        ip=ir.InsertionPoint(loop),
    )
    cond, body = (region.blocks[0] for region in loop.regions)
    yielding = terminator_of(body)
    create_op(
        "tfl.yield",
        [],
        [yielding.operands[index] for index in kept],
        location=yielding.location,
        point=ir.InsertionPoint(yielding),
    )
    yielding.operation.erase()
    for op in reversed(list(body.operations)):
        if len(op.results) and is_pure(op.name) and not any(True for each in op.results for _ in each.uses):
            op.operation.erase()
    for region, block in zip(new.regions, (cond, body), strict=True):
        for index in sorted(unused, reverse=True):
            block.erase_argument(index)
        block.append_to(region)
    for index, result in zip(kept, new.results, strict=True):
        loop.results[index].replace_all_uses_with(result)
    loop.operation.erase()
