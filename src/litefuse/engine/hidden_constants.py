"""Constants that the engine must not see as such, because it computes something else with them.

The engine moves transpositions behind elementwise ops, and puts a constant operand last when it does so::

    %t = tfl.transpose(%x, %order)            %s = tfl.sub(%x, %c')
    %y = tfl.sub(%c, %t)               -->    %y = tfl.transpose(%s, %order)

which is right for sums and products only. It makes transpositions of its own, too, and constants of what is computed of
constants: so every constant that a matrix, or what has more dimensions, is subtracted from or divides is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator
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
    for op in _ops(module, _ORDERED):
        first, second = op.operands
        if _may_be_transposed(second) and _is_computed(first) and not _is_computed(second):
            _hide(op, 0, hidden)
    try:
        yield
    finally:
        if hidden:
            _show(module, hidden)


def _hide(op: ir.OpView, position: int, hidden: list[ir.Attribute]) -> None:
    value = op.operands[position]
    owner = value.owner
    if isinstance(owner, ir.Block):
        return
    if owner.name in _CONSTANTS:
        with ir.InsertionPoint(op), owner.location:
            op.operands[position] = _placeholder(len(hidden), value.type)
        hidden.append(owner.attributes["value"])
        return
    for inner, operand in enumerate(owner.operands):
        if _element_type(operand) == _element_type(value):
            _hide(owner, inner, hidden)


def _show(module: ir.Module, hidden: list[ir.Attribute]) -> None:
    for op in _ops(module, {"tfl.external_const"}):
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


def _ops(module: ir.Module, names: Collection[str]) -> list[ir.OpView]:
    found: list[ir.OpView] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name in names:
            found.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    return found


def _may_be_transposed(value: ir.Value) -> bool:
    kind = ir.ShapedType(value.type)
    return not kind.has_rank or kind.rank > 1


def _is_computed(value: ir.Value) -> bool:
    """Whether a value is a constant, or, of floating point numbers, computed of constants alone."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name in _CONSTANTS:
        return True
    if not isinstance(_element_type(value), _FLOATS) or not len(owner.operands):
        return False
    return all(map(_is_computed, owner.operands))


def _element_type(value: ir.Value) -> ir.Type:
    return ir.ShapedType(value.type).element_type
