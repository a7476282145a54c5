"""Unrolls loops whose number of steps is known, for targets that take no loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import callees_first, functions, is_call, operations, terminator_of, update_function_type
from litefuse.ir.constants import stored, tensor_constant, without_copies
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.locations import called_at, calling_layer, layer_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.numbers import FUNCTIONS
from litefuse.ir.purity import has_side_effects, is_pure, is_repeatable, is_used
from litefuse.ir.shapes.call_types import refine_type
from litefuse.support.options.limits import MAX_UNROLLED_OPS, MAX_UNROLLED_STEPS

_KnownValues: TypeAlias = "Mapping[ir.Value, npt.NDArray[Any]]"

_LARGEST = 8
_DTYPES: dict[str, npt.DTypeLike] = {"i1": np.bool_, "i32": np.int32, "i64": np.int64}

_ARITHMETIC = (
    *("Add", "AddV2", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "Maximum", "Minimum", "Mul", "Neg"),
    *("NotEqual", "Sub"),
)
_RULES: dict[str, Callable[..., Any]] = {
    **{f"tf.{name}": FUNCTIONS[name] for name in _ARITHMETIC},
    "tf.LogicalAnd": np.logical_and,
    "tf.LogicalNot": np.logical_not,
    "tf.LogicalOr": np.logical_or,
    "tf.Pack": lambda *parts: np.stack(parts),
}
# Casts are the only of these ops whose result has a dtype of its own.
_MOVING = frozenset({"tf.Cast", "tf.Identity"})


class _Buffer(NamedTuple):
    """A tensor some of whose items were replaced: what was written, by its place in the first dimension."""

    base: ir.Value
    items: Mapping[int, ir.Value]


def _item_at(value: ir.Value, place: npt.NDArray[Any], axis: npt.NDArray[Any], b: Builder) -> ir.Value | None:
    """Emits the slice that is ``tf.gather(value, place, axis=axis)``; None where the place is not within bounds."""
    kind = ir.ShapedType(value.type)
    if place.ndim or not kind.has_rank or not kind.has_static_shape or not -kind.rank <= int(axis) < kind.rank:
        return None
    dimension = int(axis) % kind.rank
    if not 0 <= int(place) < kind.shape[dimension]:
        return None
    return _slice(value, int(place), dimension, b)


def _write_at(
    op: ir.OpView, value: ir.Value, update: ir.Value, place: npt.NDArray[Any], buffers: Mapping[ir.Value, _Buffer]
) -> _Buffer | None:
    """Returns what the result of ``tf.XlaDynamicUpdateSlice`` holds; None unless it replaces one item of a tensor."""
    kinds = [ir.ShapedType(tensor.type) for tensor in (value, update, op.results[0])]
    if not all(kind.has_rank and kind.has_static_shape for kind in kinds) or not kinds[0].rank:
        return None
    shape = list(kinds[0].shape)
    if [*kinds[1].shape] != [1, *shape[1:]] or any(place[1:]) or not 0 <= int(place[0]) < shape[0]:
        return None
    base, items = buffers.get(value, _Buffer(value, {}))
    return _Buffer(base, {**items, int(place[0]): update})


def _joined(buffer: _Buffer, b: Builder) -> ir.Value:
    """Emits the PACK of a buffer's items; those that were not written are those of the tensor before."""
    items = [
        _written_item(buffer.items[place], b) if place in buffer.items else _slice(buffer.base, place, 0, b)
        for place in range(ir.ShapedType(buffer.base.type).shape[0])
    ]
    return b.stack(items, 0)


def _written_item(update: ir.Value, b: Builder) -> ir.Value:
    owner = update.owner
    shape = list(b.shape(update))[1:]
    if not isinstance(owner, ir.Block) and owner.name == "tf.ExpandDims" and list(b.shape(owner.operands[0])) == shape:
        return owner.operands[0]
    return b.op("Reshape", [update, b.constant(cast("list[int]", shape), "int32")], shape, b.dtype(update))


def _slice(value: ir.Value, place: int, axis: int, b: Builder) -> ir.Value:
    shape = list(b.shape(value))
    rank, others = len(shape), (1 << len(shape)) - 1 - (1 << axis)
    del shape[axis]
    corners = [[at if dimension == axis else 0 for dimension in range(rank)] for at in (place, place + 1)]
    operands = [value, *(b.constant(corner, "int32") for corner in (*corners, [1] * rank))]
    masks = {"begin_mask": others, "end_mask": others, "shrink_axis_mask": 1 << axis}
    return b.op("StridedSlice", operands, shape, b.dtype(value), ellipsis_mask=0, new_axis_mask=0, **masks)


def _known_values(function: func.FuncOp, arguments: _KnownValues) -> dict[ir.Value, npt.NDArray[Any]]:
    """Evaluates what a loop's body or condition computes of known integers and booleans, of a few elements each."""
    known = {**arguments}
    for op in operations(function):
        if len(op.results) != 1:
            continue
        value = _value(op, known)
        if value is not None:
            known[op.results[0]] = value
    return known


def _small_integers(value: ir.Value) -> npt.NDArray[Any] | None:
    """Returns the elements of a ``tf.Const`` of a few integers or booleans; None for any other value."""
    elements = stored(value)
    dtype = _dtype(value)
    if elements is None or dtype is None or elements.type.rank > 1 or math.prod(elements.type.shape) > _LARGEST:
        return None
    return np.array(elements, dtype).reshape(elements.type.shape)


def _value(op: ir.OpView, known: _KnownValues) -> npt.NDArray[Any] | None:
    if op.name == "tf.Const":
        return _small_integers(op.results[0])
    dtype = _dtype(op.results[0])
    if dtype is None or (op.name not in _RULES and op.name not in _MOVING):
        return None
    operands = [known[operand] for operand in op.operands if operand in known]
    if len(operands) < len(op.operands) or (op.name == "tf.Pack" and any(operand.ndim for operand in operands)):
        return None
    if op.name in _MOVING:
        return operands[0].astype(dtype)
    with np.errstate(over="ignore"):  # integers wrap, as they do in the model
        return np.asarray(_RULES[op.name](*operands), dtype)


def _dtype(value: ir.Value) -> npt.DTypeLike | None:
    return _DTYPES.get(str(ir.ShapedType(value.type).element_type)) if isinstance(value.type, ir.ShapedType) else None


class LoopOutcome(NamedTuple):
    """Outcome of unrolling one loop.

    Attributes:
        layer: The loop's layer, from its node.
        caller: The layer whose function it is in, if it was inlined.
        steps: The number of its steps, if it was unrolled; else None.
        reason: Why it was not.
    """

    layer: str
    caller: str
    steps: int | None
    reason: str = ""


class _Kept(Exception):  # noqa: N818  not an error: the loop stays a loop
    """The loop cannot be unrolled; the text says why."""


class UnrollLoops:
    """Puts the steps of a loop in its place, one after the other, if it is known how many there are::

        %r:3 = tf.While(0, %h, %ys) {               %x0 = %xs[0]
          tf.Less(%t, 2)                            %h0 = tf.Tanh(tf.AddV2(%x0, %h))
        } do {                                -->   %x1 = %xs[1]
          %x = tf.GatherV2(%xs, %t)                 %h1 = tf.Tanh(tf.AddV2(%x1, %h0))
          %n = tf.Tanh(tf.AddV2(%x, %h))            %ys = tf.Pack(%h0, %h1)
          %w = tf.XlaDynamicUpdateSlice(%ys, %n, %t)
          return tf.AddV2(%t, 1), %n, %w
        }

    Counters, and places computed of them, are constants in each step; what is the same in every step is computed once.

    Args:
        outcomes: Filled with what became of each loop.
    """

    name = "unroll-loops"

    def __init__(self, outcomes: list[LoopOutcome]) -> None:
        self._outcomes = outcomes

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        remaining = MAX_UNROLLED_OPS
        modified = False
        for symbol in callees_first(by_symbol):  # inner loops before the loops that they are in
            function = by_symbol[symbol]
            for op in operations(function):
                if op.name != "tf.While":
                    continue
                layer, caller = layer_name(op), calling_layer(op)
                try:
                    steps, count = _unroll(op, function, by_symbol, remaining)
                except _Kept as reason:
                    self._outcomes.append(LoopOutcome(layer, caller, None, str(reason)))
                    continue
                self._outcomes.append(LoopOutcome(layer, caller, steps))
                remaining -= count
                modified = True
        if modified:
            run_mlir_passes(module, "symbol-dce")  # the bodies that nothing runs anymore
        return modified


def _unroll(
    op: ir.OpView, function: func.FuncOp, by_symbol: Mapping[str, func.FuncOp], remaining: int
) -> tuple[int, int]:
    """Unrolls one loop; returns the numbers of its steps and of the ops that it became."""
    cond, body = (by_symbol[ir.FlatSymbolRefAttr(op.attributes[name]).value] for name in ("cond", "body"))
    _check_ops([*operations(cond), *operations(body)])
    steps = _steps(op, cond, body)
    count = len(steps) * sum(operation.name != "tf.Const" for operation in operations(body))
    if count > remaining:
        raise _Kept(
            f"its {len(steps)} steps would be {count:,} ops, and {MAX_UNROLLED_OPS:,} is the limit for all loops"
        )
    _Steps(op, body).emit(steps)
    update_function_type(function)
    return len(steps), count


def _check_ops(ops: Sequence[ir.OpView]) -> None:
    for op in ops:
        if is_call(op) or len(op.regions):
            raise _Kept("there are loops or branches in it")
        if not has_side_effects(op.name) and not is_repeatable(op.name):
            raise _Kept("it draws random numbers")


def _steps(op: ir.OpView, cond: func.FuncOp, body: func.FuncOp) -> list[dict[ir.Value, npt.NDArray[Any]]]:
    """Returns the known values of the body in each step; raises ``_Kept`` if these are not known, or too many."""
    steps: list[dict[ir.Value, npt.NDArray[Any]]] = []
    variables = [_small_integers(without_copies(operand)) for operand in op.operands]
    while True:
        goes_on = _known_values(cond, _of_arguments(cond, variables)).get(terminator_of(cond.entry_block).operands[0])
        if goes_on is None:
            raise _Kept("the number of its steps is known only in the call")
        if not goes_on.all():
            return steps
        if len(steps) == MAX_UNROLLED_STEPS:
            raise _Kept(f"it has more than {MAX_UNROLLED_STEPS} steps, the limit")
        known = _known_values(body, _of_arguments(body, variables))
        steps.append(known)
        variables = [known.get(value) for value in terminator_of(body.entry_block).operands]


def _of_arguments(function: func.FuncOp, values: Sequence[npt.NDArray[Any] | None]) -> dict[ir.Value, npt.NDArray[Any]]:
    arguments = function.entry_block.arguments
    return {argument: value for argument, value in zip(arguments, values, strict=True) if value is not None}


class _Steps:
    """Emits the steps of a loop before it, and erases it."""

    def __init__(self, loop: ir.OpView, body: func.FuncOp) -> None:
        self._loop = loop
        self._body = body
        self._ops = list(operations(body))
        self._emitted: list[ir.OpView | ir.Operation] = []
        self._constants: dict[tuple[str, bytes, int], ir.Value] = {}
        self._last: dict[ir.Value, tuple[list[ir.Value], list[ir.Value]]] = {}
        self._buffers: dict[ir.Value, _Buffer] = {}

    def emit(self, steps: Sequence[_KnownValues]) -> None:
        """Emits all steps, and puts their results in the place of the loop's."""
        *ops, terminator = self._ops
        following = list(terminator.operands)
        values: list[ir.Value] = list(self._loop.operands)
        for known in steps:
            copies: dict[ir.Value, ir.Value] = dict(zip(self._body.entry_block.arguments, values, strict=True))
            for op in ops:
                if len(op.results) and all(result in known for result in op.results):
                    continue
                operands = [self._copy(operand, copies, known) for operand in op.operands]
                copies.update(zip(op.results, self._step(op, operands, known), strict=True))
            values = [self._copy(value, copies, known) for value in following]
        with ir.InsertionPoint(self._loop), self._loop.location:
            for result, value in zip(self._loop.results, values, strict=True):
                if not any(True for _ in result.uses):
                    continue
                final = self._final(value)
                if not isinstance(final.owner, ir.Block) and not is_call(final.owner):
                    refine_type(final, result.type)
                result.replace_all_uses_with(final)
        self._loop.operation.erase()
        for op in reversed(self._emitted):
            if is_pure(op.name) and not is_used(op):
                op.operation.erase()

    def _final(self, value: ir.Value) -> ir.Value:
        """Returns what a loop returns: of a buffer at least half of which was written, its items side by side."""
        buffer = self._buffers.get(value)
        if buffer is None or len(buffer.items) * 2 < ir.ShapedType(value.type).shape[0]:
            return value
        return _joined(buffer, Builder())

    def _copy(self, value: ir.Value, copies: dict[ir.Value, ir.Value], known: _KnownValues) -> ir.Value:
        if value not in known:
            return copies[value]
        array = known[value]
        key = (str(value.type), array.tobytes(), array.ndim)
        if key not in self._constants:
            element = ir.ShapedType(value.type).element_type
            with ir.InsertionPoint(self._loop), self._loop.location:
                kind = ir.RankedTensorType.get(array.shape, element)
                packed = ir.DenseElementsAttr.get(array, type=kind)
                self._constants[key] = tensor_constant(packed)
            owner = self._constants[key].owner
            assert not isinstance(owner, ir.Block)
            self._emitted.append(owner)
        return self._constants[key]

    def _step(self, op: ir.OpView, operands: list[ir.Value], known: _KnownValues) -> list[ir.Value]:
        key = op.results[0] if len(op.results) else None
        if key in self._last and self._last[key][0] == operands and is_pure(op.name):
            return self._last[key][1]
        given = [known.get(operand) for operand in op.operands]
        results = self._item(op, operands, given) or self._clone(op, operands)
        if op.name == "tf.XlaDynamicUpdateSlice" and given[2] is not None:
            buffer = _write_at(op, operands[0], operands[1], given[2], self._buffers)
            if buffer is not None:
                self._buffers[results[0]] = buffer
        if key is not None:
            self._last[key] = (operands, results)
        return results

    def _item(
        self, op: ir.OpView, operands: list[ir.Value], given: list[npt.NDArray[Any] | None]
    ) -> list[ir.Value] | None:
        if op.name != "tf.GatherV2" or ir.IntegerAttr(op.attributes["batch_dims"]).value:
            return None
        _, place, axis = given
        if place is None or axis is None:
            return None
        with ir.InsertionPoint(self._loop), called_at(op.location, self._loop.location):
            item = _item_at(operands[0], place, axis, Builder())
        if item is None:
            return None
        owner = item.owner
        assert not isinstance(owner, ir.Block)
        self._emitted.append(owner)
        return [item]

    def _clone(self, op: ir.OpView, operands: list[ir.Value]) -> list[ir.Value]:
        copy = op.clone(ip=ir.InsertionPoint(self._loop))
        copy.operation.location = called_at(op.location, self._loop.location)
        for index, operand in enumerate(operands):
            copy.operands[index] = operand
        self._emitted.append(copy.operation)
        return list(copy.results)
