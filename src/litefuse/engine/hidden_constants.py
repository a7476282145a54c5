"""Constants that the engine must not see as such, because it computes something else with them.

The engine moves transpositions behind elementwise ops, and puts a constant operand last when it does so::

    %t = tfl.transpose(%x, %order)            %s = tfl.sub(%x, %c')
    %y = tfl.sub(%c, %t)               -->    %y = tfl.transpose(%s, %order)

which is right for sums and products only. It makes transpositions of its own, too, and constants of what is computed of
constants: so every constant that a matrix, or what has more dimensions, is subtracted from or divides is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from litefuse.engine.mlir import ir

__all__ = ["hidden_constants"]

_ORDERED = frozenset({"tf.Div", "tf.RealDiv", "tf.Sub"})
_CONSTANTS = frozenset({"tf.Const", "tfl.pseudo_const"})
_FLOATS = (ir.BF16Type, ir.F16Type, ir.F32Type, ir.F64Type)
_HIDDEN = re.compile(r'group_name = "hidden", offset = (\d+)')


@contextmanager
def hidden_constants(module: ir.Module) -> Generator[None]:
    """Puts placeholders, ``tfl.external_const``, in the place of these constants, and the constants back afterwards."""
    hidden: list[ir.Attribute] = []
    for op in _misread(module):
        _hide(op, hidden)
    try:
        yield
    finally:
        if hidden:
            _show(module, hidden)


def _hide(op: ir.OpView, hidden: list[ir.Attribute]) -> None:
    """Hides the constant that is the first operand, or all that it is computed of."""
    waiting = [(op, 0)]
    seen: set[ir.Value] = set()
    while waiting:
        user, position = waiting.pop()
        value = user.operands[position]
        owner = value.owner
        if value in seen or isinstance(owner, ir.Block):
            continue
        if owner.name in _CONSTANTS:
            with ir.InsertionPoint(user), owner.location:
                user.operands[position] = _placeholder(len(hidden), value.type)
            hidden.append(owner.attributes["value"])
            continue
        seen.add(value)
        kind = _element_type(value)
        waiting += [(owner, i) for i, operand in enumerate(owner.operands) if _element_type(operand) == kind]


def _show(module: ir.Module, hidden: list[ir.Attribute]) -> None:
    placeholders: list[ir.OpView] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == "tfl.external_const":
            placeholders.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    for op in placeholders:
        number = _HIDDEN.search(str(op.attributes["external_buffer"]))
        if number is not None:
            with ir.InsertionPoint(op), op.location:
                attributes = {"value": hidden[int(number[1])]}
                constant = ir.Operation.create("tfl.pseudo_const", [op.results[0].type], [], attributes)
            op.results[0].replace_all_uses_with(constant.result)
            op.operation.erase()


def _placeholder(number: int, kind: ir.Type) -> ir.Value:
    buffer = f'#tfl.external_buffer<group_name="hidden",offset={number},length=1,packing="">'
    attributes = {"external_buffer": ir.Attribute.parse(buffer)}
    return ir.Operation.create("tfl.external_const", [kind], [], attributes).result


def _misread(module: ir.Module) -> list[ir.OpView]:
    """The ops whose first operand is to be hidden."""
    found: list[ir.OpView] = []
    computed: set[ir.Value] = set()  # constants, and floating point numbers that are computed of them

    def look(op: ir.Operation) -> ir.WalkResult:
        operands = op.operands
        if op.name in _CONSTANTS:
            computed.add(op.result)
        elif len(operands) and operands[0] in computed:
            if all(operand in computed for operand in operands):
                computed.update(result for result in op.results if isinstance(_element_type(result), _FLOATS))
            elif op.name in _ORDERED and _may_be_transposed(operands[1]):
                found.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return found


def _may_be_transposed(value: ir.Value) -> bool:
    kind = ir.ShapedType(value.type)
    return not kind.has_rank or kind.rank > 1


def _element_type(value: ir.Value) -> ir.Type:
    return ir.ShapedType(value.type).element_type
