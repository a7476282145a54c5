"""Loops and branches: their regions become functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litefuse.engine.mlir import func, ir
from litefuse.passes.call_graph import function_symbol, update_function_type
from litefuse.stablehlo.rules.captures import Captures
from litefuse.stablehlo.rules.scans import find_scan
from litefuse.stablehlo.translation import Result, Rules, Translation
from litefuse.stablehlo.values import (
    List,
    Value,
    elements_value,
    known_numbers,
)

__all__ = ["RULES"]


def _while(op: Any, t: Translation) -> list[Result]:
    condition, body = (region.blocks[0] for region in op.regions)
    *_, last = body.operations
    hoisted = _hoist(t, op, body)
    captures = Captures(t, list(op.regions), list(op.operands), hoisted)
    scan = find_scan(t, op, hoisted)
    lists = {} if scan is None else {**scan.reads, **scan.writes}
    # What stays the same and is known needs no variable.
    invariant = {
        i: found
        for i, (operand, argument, result) in enumerate(zip(op.operands, body.arguments, last.operands, strict=True))
        if argument == result and known_numbers((found := t.lazy(operand)).elements) is not None and i not in lists
    }
    changing = [i for i in range(len(op.operands)) if i not in invariant]
    operands = [
        t.value(op.operands[i]) if scan is None or i not in lists else scan.listed(t, i, op.operands[i])
        for i in changing
    ]
    kinds = [operand.type if i in lists else op.operands[i].type for i, operand in zip(changing, operands, strict=True)]
    kinds += captures.kinds()

    def function(name: str, block: ir.Block, *, passing: bool) -> func.FuncOp:
        def emit(given: Sequence[ir.Value]) -> list[ir.Value]:
            inner = t.inner()
            captured = given[len(changing) :]
            captures.bind(inner, captured, block.arguments)
            by_position = dict(zip(changing, given, strict=False))
            own: list[Result] = []
            for i, argument in enumerate(block.arguments):
                if i in invariant:
                    own.append(_again(inner, invariant[i], t.dtype(argument)))
                elif i in lists and scan is not None:
                    own.append(Value(by_position[i], listed=List(by_position[i], by_position[scan.counter])))
                else:
                    own.append(by_position[i])
            results = [
                value.emit() for i, value in enumerate(inner.block(block, own, without=hoisted)) if i not in invariant
            ]
            return [*results, *captured] if passing else results

        return t.functions.define(f"while.{name}", kinds, emit)

    by_condition, by_body = function("cond", condition, passing=False), function("body", body, passing=True)
    operands += captures.operands()
    unused = _unused(by_condition, by_body)
    for i in reversed(unused):
        del operands[i], kinds[i]
    attributes: dict[str, ir.Attribute] = {
        "cond": ir.FlatSymbolRefAttr.get(function_symbol(by_condition)),
        "body": ir.FlatSymbolRefAttr.get(function_symbol(by_body)),
        "is_stateless": ir.BoolAttr.get(value=True),
        "parallel_iterations": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 10),
    }
    loop = ir.Operation.create("tf.While", results=kinds, operands=operands, attributes=attributes)
    left = [i for number, i in enumerate(changing) if number not in unused]
    outcome = dict(zip(left, loop.results, strict=False))
    results: list[Result] = []
    for i, operand in enumerate(op.operands):
        if i not in outcome or (scan is not None and i in scan.reads):
            results.append(t.lazy(operand))
        elif scan is not None and i in scan.writes:
            results.append(scan.stacked(t, i, operand, outcome[i]))
        else:
            results.append(outcome[i])
    return results


def _hoist(t: Translation, op: Any, body: ir.Block) -> set[ir.Operation]:
    """Translates what a loop's body computes from what stays the same, before the loop, and says which ops that is."""
    *ops, last = body.operations
    same: set[ir.Value] = set()
    inside: set[ir.Value] = set(body.arguments)
    for argument, result, operand in zip(body.arguments, last.operands, op.operands, strict=True):
        if argument == result:
            same.add(argument)
            t.bind(argument, t.lazy(operand))
            t.set_dims(argument, t.known_dims(operand))
    found: set[ir.Operation] = set()
    for each in ops:
        inside.update(each.results)
        if each.operation.name == "stablehlo.constant":
            t.translate(each)
            same.update(each.results)
        elif _is_pure(each) and all(value in same or value not in inside for value in each.operands):
            t.translate(each)
            same.update(each.results)
            found.add(each.operation)
    return found


def _is_pure(op: ir.OpView) -> bool:
    return not list(op.regions) and op.operation.name not in {"stablehlo.custom_call", "stablehlo.composite"}


def _unused(condition: func.FuncOp, body: func.FuncOp) -> list[int]:
    """Removes the arguments that are only handed on, and says which they were."""
    *_, last = body.entry_block.operations
    found = [
        i
        for i, argument in enumerate(body.arguments)
        if [(use.owner, use.operand_number) for use in argument.uses] == [(last, i)]
        and not list(condition.entry_block.arguments[i].uses)
    ]
    results = [value for i, value in enumerate(last.operands) if i not in found]
    with ir.InsertionPoint(last), last.location:
        func.ReturnOp(results)
    last.operation.erase()
    for i in reversed(found):
        for function in (condition, body):
            function.entry_block.erase_argument(i)
    for function in (condition, body):
        update_function_type(function)
    return found


def _again(t: Translation, found: Value, dtype: str) -> Value:
    """A value whose elements are known, in a function of its own."""
    assert found.elements is not None
    return elements_value(t.b, found.elements, dtype)


def _if(op: Any, t: Translation) -> list[Result]:
    """The first region is for true."""
    return _branches(op, t, "If", list(op.regions))


def _case(op: Any, t: Translation) -> list[Result]:
    """An index outside of the branches takes the last one, as in TensorFlow."""
    regions, index = list(op.regions), op.operands[0]
    elements = t.elements(index)
    chosen = None if elements is None else elements.item()
    if isinstance(chosen, int):
        region = regions[chosen if 0 <= chosen < len(regions) else -1]
        return list(t.block(region.blocks[0], []))
    condition = _condition(t, index)
    if len(regions) == 2 and condition is not None:
        return _branches(op, t, "If", regions[::-1], condition)
    return _branches(op, t, "Case", regions)


def _condition(t: Translation, index: ir.Value) -> ir.Value | None:
    """The condition whose number an index is, as ``jax.lax.cond`` writes it."""
    owner = index.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.convert" or t.dtype(owner.operands[0]) != "bool":
        return None
    return owner.operands[0]


def _branches(
    op: Any, t: Translation, name: str, regions: list[ir.Region], condition: ir.Value | None = None
) -> list[Result]:
    captures = Captures(t, regions)
    kinds = captures.kinds()

    def function(index: int, block: ir.Block) -> str:
        def emit(given: Sequence[ir.Value]) -> list[ir.Value]:
            inner = t.inner()
            captures.bind(inner, given)
            return [value.emit() for value in inner.block(block, [])]

        return function_symbol(t.functions.define(f"{name.lower()}.{index}", kinds, emit))

    symbols = [function(i, region.blocks[0]) for i, region in enumerate(regions)]
    references = [ir.FlatSymbolRefAttr.get(symbol) for symbol in symbols]
    attributes: dict[str, ir.Attribute] = {"is_stateless": ir.BoolAttr.get(value=True)}
    if name == "If":
        attributes |= dict(zip(("then_branch", "else_branch"), references, strict=True))
    else:
        attributes["branches"] = ir.ArrayAttr.get(references)
    operands = [t.value(op.operands[0] if condition is None else condition), *captures.operands()]
    results = [result.type for result in op.results]
    return list(ir.Operation.create(f"tf.{name}", results=results, operands=operands, attributes=attributes).results)


RULES: Rules = {"stablehlo.case": _case, "stablehlo.if": _if, "stablehlo.while": _while}
