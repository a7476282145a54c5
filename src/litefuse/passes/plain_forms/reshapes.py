"""Reshaped values, for passes on lowered modules, and one reshape in the place of several, or none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.litert_ops import int32_vector, integers
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import is_used

# The dtypes of constants that are reshaped here; others get an op.
_DTYPES = frozenset({"f32", "i1", "i32", "i64"})


def is_fixed(*values: ir.Value) -> bool:
    """Whether all sizes of values are known, and none is 0."""
    return all(
        isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape and math.prod(value.type.shape) > 0
        for value in values
    )


def reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """Emits RESHAPE, at the current insertion point and location; the value itself if it has the shape.

    A constant whose elements are in the module becomes another constant.
    """
    kind = resized(value.type, shape)
    if kind == value.type:
        return value
    elements = stored(value)
    if elements is not None and str(kind.element_type) in _DTYPES:
        array = np.array(elements).reshape(elements.type.shape).reshape(shape)
        return pseudo_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=kind))
    return create_value("tfl.reshape", kind, [value, int32_vector(shape)])


def sliced(value: ir.Value, begins: Sequence[int], counts: Sequence[int]) -> ir.Value:
    """Emits SLICE, at the current insertion point and location."""
    return create_value("tfl.slice", resized(value.type, counts), [value, int32_vector(begins), int32_vector(counts)])


def resized(kind: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """Returns a type with the same element type and another shape."""
    return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(kind).element_type)


@module_pass
def join_reshapes(module: ir.Module) -> bool:
    """Reshapes once, or not at all::

    %0 = tfl.reshape(%x : tensor<2x6xf32>, [2, 3, 2])
    %1 = tfl.reshape(%0, [12])                         -->  %1 = tfl.reshape(%x, [12])
    %2 = tfl.reshape(%1, [2, 6])                            %x in the place of %2
    """
    modified = False
    reshapes = [op for op in all_operations(module) if op.name == "tfl.reshape"]
    for op in reshapes:
        source = op.operands[0]
        while (inner := producer(source, "tfl.reshape")) is not None:
            source = inner.operands[0]
        if (source == op.operands[0] and source.type != op.results[0].type) or not is_fixed(source, op.results[0]):
            continue
        with ir.InsertionPoint(op), op.location:
            shape = ir.RankedTensorType(op.results[0].type).shape
            op.results[0].replace_all_uses_with(reshaped(source, shape))
        modified = True
    for op in reversed(reshapes):
        if not is_used(op):
            op.erase()
            modified = True
    return modified


# Ops on elements, and ops on elements or along one axis.
_BROADCASTING = frozenset({"tfl.add", "tfl.div", "tfl.maximum", "tfl.minimum", "tfl.mul", "tfl.select_v2", "tfl.sub"})
_MOVING = _BROADCASTING | {"tfl.concatenation", "tfl.logistic", "tfl.neg", "tfl.reshape", "tfl.softmax", "tfl.split"}
_MOST_AXES, _MOST_OPS = 4, 64


@module_pass
def reshape_once(module: ir.Module) -> bool:
    """Computes in one shape between two reshapes, and broadcasts what need not be reshaped::

        %q = tfl.reshape(%x : tensor<1x512xf32>, [1, 8, 64])
        %r = tfl.mul(%q, %cos : tensor<64xf32>)                %q = tfl.reshape(%x, [4, 2, 64])
        %y = tfl.reshape(%r, [4, 2, 64])                  -->  %y = tfl.mul(%q, %cos)

        %b = tfl.reshape(%bias : tensor<1x64xf32>, [64])
        %y = tfl.add(%x : tensor<4x2x64xf32>, %b)         -->  %y = tfl.add(%x, %bias)

    So are queries rotated and scores masked in the shape in which they are multiplied. The ops in between work on
    elements or along the last axis, which stays, and their other operands have no axis but that.
    """
    modified, left = False, set[ir.Operation]()
    for op in [op for op in all_operations(module, nested=False) if op.name == "tfl.reshape"]:
        value, result = op.operands[0], op.results[0]
        if not is_fixed(value, result):
            continue
        before, after = (ir.RankedTensorType(one.type).shape for one in (value, result))
        if math.prod(before[:-1]) == math.prod(after[:-1]) and len(after) <= _MOST_AXES:
            chain = _Chain(before[:-1], after[:-1])
            with ir.InsertionPoint(op), op.location:
                moved = chain.moved(value)
            if moved is not None and chain.is_read_by(op):
                result.replace_all_uses_with(moved)
            left.update(chain.members, chain.emitted, [op.operation])
        for use in [*result.uses] if _without_ones(before) == _without_ones(after) else ():
            if use.owner.name in _BROADCASTING and len(before) <= ir.ShapedType(use.owner.results[0].type).rank:
                use.owner.operands[use.operand_number] = value
                left.add(op.operation)
    for op in [*all_operations(module, nested=False)][::-1] if left else ():
        if op.operation in left and not is_used(op):
            op.operation.erase()
            modified = True
    return modified


def _without_ones(shape: Sequence[int]) -> Sequence[int]:
    return shape[next((axis for axis, size in enumerate(shape) if size != 1), len(shape)) :]


class _Chain:
    """The ops from reshapes to a value, computed in another shape: with other axes before the last.

    Attributes:
        members: The ops, operands first.
        emitted: The ops that compute the same in the other shape.
    """

    def __init__(self, before: Sequence[int], after: Sequence[int]) -> None:
        self.members: list[ir.Operation] = []
        self.emitted: list[ir.Operation] = []
        self._before, self._after, self._seen = before, after, 0
        self._made: dict[ir.Value, ir.Value] = {}

    def moved(self, value: ir.Value) -> ir.Value | None:
        """Returns a value in the other shape, or one that broadcasts in both; None if it is not made of reshapes."""
        shape = [*ir.RankedTensorType(value.type).shape] if is_fixed(value) else [0, 0]
        if all(size == 1 for size in shape[:-1]) and shape[:-1] != self._before and len(shape) <= len(self._after) + 1:
            return value
        self._seen += 1
        if value not in self._made and shape[:-1] == self._before and self._seen <= _MOST_OPS:
            op = None if isinstance(value.owner, ir.Block) else value.owner.operation
            if op is not None and op.name in _MOVING and _is_along_last(op):
                self._move(op)
        return self._made.get(value)

    def _move(self, op: ir.Operation) -> None:
        kinds = [resized(one.type, [*self._after, ir.RankedTensorType(one.type).shape[-1]]) for one in op.results]
        if op.name == "tfl.reshape":
            results = [reshaped(op.operands[0], kinds[0].shape)]
        else:
            operands = [moved for operand in op.operands if (moved := self.moved(operand)) is not None]
            if len(operands) < len(op.operands):
                return
            axis = {"axis": -1} if op.name == "tfl.concatenation" else {}
            results = [*create_like(op, operands, kinds, axis).results]
        self.members.append(op)
        self.emitted += [one.owner.operation for one in results if not isinstance(one.owner, ir.Block)]
        self._made.update(zip(op.results, results, strict=True))

    def is_read_by(self, op: ir.OpView) -> bool:
        """Whether an op and these ops alone read what they make, but for reshapes that are undone."""
        read = [
            one for one in self.members if one.name != "tfl.reshape" or self._made[one.results[0]] != one.operands[0]
        ]
        users = {use.owner.operation for one in read for result in one.results for use in result.uses}
        return users <= {*self.members, op.operation} and any(one.name != "tfl.reshape" for one in self.members)


def _is_along_last(op: ir.Operation) -> bool:
    if op.name == "tfl.split":
        return integers(op.operands[0]) == [-1]
    rank = ir.ShapedType(op.results[0].type).rank
    return op.name != "tfl.concatenation" or ir.IntegerAttr(op.attributes["axis"]).value % rank == rank - 1
