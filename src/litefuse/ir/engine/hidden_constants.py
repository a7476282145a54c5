"""Hides constants from the engine if it would miscompile ops on them.

The engine moves transpositions behind elementwise ops, and makes a constant the last operand when it does so::

    %t = tfl.transpose(%x, %order)            %s = tfl.sub(%x, %c')
    %y = tfl.sub(%c, %t)               -->    %y = tfl.transpose(%s, %order)

This is only correct for sums and products. The engine also creates transpositions of its own, turns sums with a
negated value (``-x + c``) into differences, and folds constants. So a constant is hidden if a tensor of rank 2 or more
is subtracted from it, or if it is divided by one.

The engine also moves transpositions behind reshapes: if another transposition follows, the shape of a reshape to a
dynamic dimension is hidden.

Also hidden are a constant int8 factor, the axes of a norm of all elements or with a bound that L2_NORMALIZATION does
not have, and a factor 0 (``legalize.zero_operands`` handles those of many elements); an addend that cancels an
earlier one, which the engine adds to that; the axis along which the smallest element of a softmax is found; numbers
of int64 that others are compared with, as with the positions of ONE_HOT; and a constant that is reshaped to a dynamic
shape, which would be that of a constant.

Faults ``transposed-subtrahend``, ``transposed-divisor``, ``transposed-negative``, ``transposed-reciprocal``,
``transposed-open-reshape``, ``product-with-int8-constant``, ``norm-of-all``, ``bound-of-norm``, ``zero-factor``,
``zero-times-infinity``, ``cancelled-addends``, ``smallest-of-softmax``, ``one-hot-of-int64``,
``reshape-to-open-shape``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator
from contextlib import contextmanager

from litefuse.ir.constants import DENSE_CONSTANTS, PLACEHOLDER, is_zero, splat_number
from litefuse.ir.mlir import ir, producer

_ORDERED = frozenset({"tf.Div", "tf.RealDiv", "tf.Sub"})
_PRODUCTS = frozenset({"tf.BatchMatMul", "tf.BatchMatMulV2", "tf.BatchMatMulV3"})
_SUMS = frozenset({"tf.Add", "tf.AddV2"})
_FACTORED = frozenset({"tf.Mul", "tfl.mul"})  # the engine's passes on LiteRT's ops fold a factor 0 as well
_LARGEST = {"f16": 65504.0, "bf16": 2.0**128 - 2.0**120, "f32": 2.0**128 - 2.0**104}
_RESHAPES = frozenset({"tf.Cast", "tf.ExpandDims", "tf.Reshape", "tf.Squeeze"})
_FLOATS = (ir.BF16Type, ir.F16Type, ir.F32Type, ir.F64Type)
# The least norm that L2_NORMALIZATION divides by (tensorflow/lite/kernels/l2norm.cc), and its square.
_LEAST, _LEAST_SQUARE = 1e-6, 1e-12
_HIDDEN = re.compile(r'group_name = "hidden", offset = (\d+)')


@contextmanager
def hidden_constants(module: ir.Module) -> Generator[None]:
    """Replaces these constants by placeholders, ``tfl.external_const``, and restores them afterwards."""
    hidden: list[ir.Attribute] = []
    for op, position in _misread(module):
        _hide(op, position, hidden)
    try:
        yield
    finally:
        if hidden:
            _show(module, hidden)


def _hide(op: ir.OpView, position: int, hidden: list[ir.Attribute]) -> None:
    """Hides a constant operand, or all constants that the operand is computed from."""
    waiting = [(op, position)]
    seen: set[ir.Value] = set()
    while waiting:
        user, position = waiting.pop()
        value = user.operands[position]
        owner = value.owner
        if value in seen or isinstance(owner, ir.Block):
            continue
        if owner.name in DENSE_CONSTANTS:
            with ir.InsertionPoint(user), owner.location:
                user.operands[position] = _placeholder(len(hidden), value.type)
            hidden.append(owner.attributes["value"])
            continue
        seen.add(value)
        kinds = {_element_type(value)}
        if owner.name == "tf.Cast":
            kinds.add(_element_type(owner.operands[0]))
        waiting += [(owner, i) for i, operand in enumerate(owner.operands) if _element_type(operand) in kinds]


def _show(module: ir.Module, hidden: list[ir.Attribute]) -> None:
    placeholders: list[ir.OpView] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == PLACEHOLDER:
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
    return ir.Operation.create(PLACEHOLDER, [kind], [], attributes).result


def _misread(module: ir.Module) -> list[tuple[ir.OpView, int]]:
    """Returns the operands to hide, each as its op and position."""
    misread: list[tuple[ir.OpView, int]] = []
    computed: set[ir.Value] = set()  # constants, and floats that are computed from them
    turned: set[ir.Value] = set()  # transposed values, and the results of elementwise ops and reshapes of them
    reshapes: list[ir.OpView] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        name, operands = op.name, op.operands
        if name in DENSE_CONSTANTS:
            computed.add(op.result)
        elif len(operands):
            opened = name == "tf.Reshape" and not _is_static(op.result)
            hidden = 0 if opened and operands[0] in computed else _zero_factor(op) if name in _FACTORED else None
            if hidden is None and all(operand in computed for operand in operands):
                computed.update(result for result in op.results if isinstance(_element_type(result), _FLOATS))
            elif hidden is None:
                hidden = _misread_operand(op, computed)
            if hidden is not None:
                misread.append((op.opview, hidden))
            if name == "tf.Transpose" or (turned and not turned.isdisjoint(operands) and _may_be_turned(op)):
                turned.add(op.result)
            if opened and op.result in turned and operands[1] in computed:
                reshapes.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    others: set[ir.Value] = set()
    misread += [(op, 1) for op in reshapes if _is_turned_later(op.result, others)]
    return misread


def _is_turned_later(value: ir.Value, others: set[ir.Value]) -> bool:
    """Whether a value, or the result of elementwise ops on it, is transposed; if not, adds them all to ``others``."""
    waiting, seen = [value], {value}
    while waiting:
        for use in waiting.pop().uses:
            op: ir.Operation = use.owner.operation
            if op.name == "tf.Transpose":
                return True
            if _may_be_turned(op) and op.result not in others and op.result not in seen:
                seen.add(op.result)
                waiting.append(op.result)
    others |= seen
    return False


def _may_be_turned(op: ir.Operation) -> bool:
    """Whether a transposition of an op's operand may be moved behind the op."""
    if op.name in _RESHAPES:
        return True
    return len(op.results) == 1 and any(operand.type == op.result.type for operand in op.operands)


def _misread_operand(op: ir.Operation, computed: set[ir.Value]) -> int | None:
    """Returns the position of a constant, perhaps a norm's axes, with which the engine miscompiles the op, or None."""
    name, operands = op.name, op.operands
    if name in _ORDERED:
        return 0 if operands[0] in computed and _may_be_transposed(operands[1]) else None
    if name in _SUMS:
        for constant, other in ((0, 1), (1, 0)):
            if operands[constant] in computed and producer(operands[other], "tf.Neg"):
                return constant if _may_be_transposed(operands[other]) else None
        return _cancelled_addend(op)
    if name == "tf.Equal":
        return next((place for place in (0, 1) if operands[place] in computed and _is_int64(operands[place])), None)
    if name == "tf.ArgMin":
        return 1 if producer(operands[0], "tf.Softmax", "tf.LogSoftmax") else None
    if name in _PRODUCTS:
        return 1 if operands[1] in computed and isinstance(_element_type(operands[1]), ir.IntegerType) else None
    return 1 if name == "tf.Sum" and _is_misread_norm(op) else None


def _cancelled_addend(op: ir.Operation) -> int | None:
    """Returns the position of a constant that cancels most of one that was added before, or exceeds floats with it."""
    for constant, other in ((0, 1), (1, 0)):
        earlier, number = producer(op.operands[other], *_SUMS), _splat(op.operands[constant])
        for operand in () if earlier is None or number is None else earlier.operands:
            added, largest = _splat(operand), _LARGEST.get(str(_element_type(operand)))
            if added is None or number is None or largest is None:
                continue
            if not max(abs(added), abs(number)) / 8 <= abs(added + number) <= largest:
                return constant
    return None


def _splat(value: ir.Value) -> float | None:
    constant = producer(value, "tf.Const")
    return None if constant is None else splat_number(constant.attributes["value"])


def _is_misread_norm(op: ir.Operation) -> bool:
    """Whether an op sums squares: those of all elements of a tensor of rank 2 or more, or with an unusual bound."""
    squares = producer(op.operands[0], "tf.Mul", "tf.Square")
    if squares is None or squares.operands[0] != squares.operands[-1]:
        return False
    if any(_is_other_bound(use.owner.operation, op.result, _LEAST_SQUARE) for use in op.result.uses):
        return True
    roots = [use.owner.operation for use in op.result.uses if use.owner.name == "tf.Sqrt"]
    if any(_is_other_bound(use.owner.operation, root.result, _LEAST) for root in roots for use in root.result.uses):
        return True
    kind, axes = ir.ShapedType(op.operands[0].type), ir.ShapedType(op.operands[1].type)
    if not _may_be_transposed(op.operands[0]):
        return False
    return not kind.has_rank or not axes.has_static_shape or math.prod(axes.shape) == kind.rank


def _is_other_bound(op: ir.Operation, value: ir.Value, least: float) -> bool:
    """Whether an op bounds a norm or its square, or adds to it, by another constant than L2_NORMALIZATION does."""
    if op.name != "tf.Maximum" and op.name not in _SUMS:
        return False
    number = _splat(op.operands[1 if op.operands[0] == value else 0])
    if number is None:
        return False
    return number > 1.01 * least or (op.name == "tf.Maximum" and number < 0.99 * least)


def _zero_factor(op: ir.Operation) -> int | None:
    """Returns the position of the factor 0 of a product, if it has one element or integers; None without one."""
    for position, factor in enumerate(op.operands):
        lowered = producer(factor, "tfl.pseudo_const")
        if is_zero(factor) or (lowered is not None and splat_number(lowered.attributes["value"]) == 0):
            kind = ir.ShapedType(factor.type)
            if not isinstance(kind.element_type, _FLOATS) or all(size == 1 for size in kind.shape):
                return position
    return None


def _is_int64(value: ir.Value) -> bool:
    element = _element_type(value)
    return isinstance(element, ir.IntegerType) and element.width == 64


def _may_be_transposed(value: ir.Value) -> bool:
    kind = ir.ShapedType(value.type)
    return not kind.has_rank or kind.rank > 1


def _is_static(value: ir.Value) -> bool:
    kind = ir.ShapedType(value.type)
    return kind.has_rank and kind.has_static_shape


def _element_type(value: ir.Value) -> ir.Type:
    return ir.ShapedType(value.type).element_type
