"""Initializes states of LSTM ops: memory that holds the initial value at the beginning of every call."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import all_operations
from litefuse.ir.litert_ops import create_fill, packed, splat
from litefuse.ir.marks import INITIAL_STATE
from litefuse.ir.mlir import ir, producer

__all__ = ["InitializeStates"]

_CONSTANT_OR_PACKED = ("arith.constant", "tfl.pack", "tfl.pseudo_const")


class InitializeStates:
    """Adds the ops that write each state's initial value in every call::

        %s = litefuse.initial_state(0.0)  -->  %s = tfl.fill(%dims, 0.0)
        %s = litefuse.initial_state(%v)   -->  %s = tfl.broadcast_to(%v, tfl.pack(%size0, %size1))

    An LSTM op updates its states in place, in variable tensors of the flatbuffer. A state that an op writes is new in
    every call. A constant state is not: the fault ``constant-state``.

    FILL is computed in every call even if its operands are constants, and so is BROADCAST_TO to a computed shape. The
    engine would fold both, so this pass comes after it. A dynamic dimension must not be known before the call, as the
    result of SHAPE is: the fault ``state-of-the-first-batch``.
    """

    name: ClassVar[str] = "initialize-states"

    def run(self, module: ir.Module) -> bool:
        states = [
            op
            for op in all_operations(module)
            if op.name == "tfl.custom" and ir.StringAttr(op.attributes["custom_code"]).value == INITIAL_STATE
        ]
        for op in states:
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_initialized(op.operands[0], op.results[0].type))
            _erase(op)
        return bool(states)


def _erase(op: ir.OpView) -> None:
    """Erases the op, and its FILL if that has no other uses."""
    value = op.operands[0]
    op.operation.erase()
    if not isinstance(value.owner, ir.Block) and value.owner.name == "tfl.fill" and not list(value.uses):
        value.owner.erase()


def _initialized(value: ir.Value, kind: ir.Type) -> ir.Value:
    fill = producer(value, "tfl.fill")
    if fill is not None:
        dims, number = fill.operands
        return _create("tfl.fill", [_computed(dims), number], kind)
    elements = splat(value)
    if elements is not None:
        return create_fill(elements, kind)
    int32 = ir.IntegerType.get_signless(32)
    shape = _create("tfl.shape", [value], ir.RankedTensorType.get([ir.ShapedType(kind).rank], int32))
    return _create("tfl.broadcast_to", [value, packed(shape)], kind)


def _computed(dims: ir.Value) -> ir.Value:
    """Returns dims that are constant, or built from elements at run time; packs them if they are not.

    Only then does the op that takes them allocate its result itself. It must do so after ops whose result sizes are
    only known in the call (a loop, Where): the fault ``state-that-is-prepared-in-a-call``.
    """
    joined = producer(dims, "tfl.concatenation")
    # SLICE is computed in the call, and so are the ops on its result.
    in_the_call = joined is not None and any(producer(part, "tfl.slice") for part in joined.operands)
    return dims if in_the_call or producer(dims, *_CONSTANT_OR_PACKED) else packed(dims)


def _create(
    name: str, operands: list[ir.Value], kind: ir.Type, attributes: dict[str, ir.Attribute] | None = None
) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes).result
