"""States of LSTM ops: memory that holds the initial value at the beginning of every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from litefuse.engine.mlir import ir
from litefuse.fusions.builder import INITIAL_STATE
from litefuse.passes.call_graph import functions

__all__ = ["InitializeStates"]

_CONSTANTS = frozenset({"arith.constant", "tfl.pseudo_const"})


@dataclass(frozen=True)
class InitializeStates:
    """Gives each state the ops that write its initial value in every call::

        %s = litefuse.initial_state(0.0)  -->  %s = tfl.fill(%dims, 0.0)
        %s = litefuse.initial_state(%v)   -->  %s = tfl.add(%v, tfl.fill(tfl.shape(%v), -0.0))

    An LSTM op updates its states in place, in what the flatbuffer calls variable tensors. One that an op writes is
    fresh in every call. One that is a constant is not: the file does not even hold its value, the runtime begins with
    zeros, and the next call goes on from where the last one stopped.

    FILL is computed in every call even if its operands are constants; other ops of constants need not be, nor does the
    engine keep them. So this pass comes after the engine, and adds what is not filled to a FILL. Adding -0.0 changes
    no value.
    """

    name: ClassVar[str] = "initialize-states"

    def run(self, module: ir.Module) -> bool:
        states = [
            op
            for function in functions(module).values()
            if not function.is_external
            for op in _operations(function.entry_block)
            if op.name == "tfl.custom" and ir.StringAttr(op.attributes["custom_code"]).value == INITIAL_STATE
        ]
        for op in states:
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_initialized(op.operands[0], op.results[0].type))
            _erase(op)
        return bool(states)


def _erase(op: ir.OpView) -> None:
    """Erases the op, and the FILL that it was the only one to use."""
    value = op.operands[0]
    op.operation.erase()
    if not isinstance(value.owner, ir.Block) and value.owner.name == "tfl.fill" and not list(value.uses):
        value.owner.erase()


def _operations(block: ir.Block) -> Iterator[ir.OpView]:
    for op in list(block.operations):
        yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _operations(inner)


def _initialized(value: ir.Value, kind: ir.Type) -> ir.Value:
    producer = None if isinstance(value.owner, ir.Block) else value.owner
    if producer is not None and producer.name == "tfl.fill":
        return _create("tfl.fill", [*producer.operands], kind)
    if producer is not None and producer.name in _CONSTANTS:
        constant = producer.attributes["value"]
        if isinstance(constant, ir.DenseElementsAttr) and constant.is_splat:
            scalar = ir.DenseElementsAttr.get_splat(
                ir.RankedTensorType.get([], constant.type.element_type), constant.get_splat_value()
            )
            return _create("tfl.fill", [_shape(value, kind), _constant(scalar)], kind)
    zero = _constant(ir.DenseElementsAttr.get(np.array(-0.0, np.float32)))
    attributes: dict[str, ir.Attribute] = {"fused_activation_function": ir.StringAttr.get("NONE")}
    return _create("tfl.add", [value, _create("tfl.fill", [_shape(value, kind), zero], kind)], kind, attributes)


def _shape(value: ir.Value, kind: ir.Type) -> ir.Value:
    shaped = ir.ShapedType(kind)
    if shaped.has_static_shape:
        return _constant(ir.DenseElementsAttr.get(np.array(shaped.shape, np.int32)))
    return _create("tfl.shape", [value], ir.RankedTensorType.get([shaped.rank], ir.IntegerType.get_signless(32)))


def _constant(attribute: ir.DenseElementsAttr) -> ir.Value:
    return _create("tfl.pseudo_const", [], attribute.type, {"value": attribute})


def _create(
    name: str, operands: list[ir.Value], kind: ir.Type, attributes: dict[str, ir.Attribute] | None = None
) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes).result
