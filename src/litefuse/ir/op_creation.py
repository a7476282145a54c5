"""Creation of ops: TensorFlow's have all of their attributes, as imported ones have them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.call_graph import attributes_of
from litefuse.ir.mlir import ir

_NONE: Mapping[str, Any] = MappingProxyType({})


def create_op(
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value] = (),
    attributes: Mapping[str, Any] = _NONE,
    *,
    location: ir.Location | None = None,
    point: ir.InsertionPoint | None = None,
) -> ir.Operation:
    """Emits an op; attributes of a TensorFlow op that are not given have the defaults of its definition.

    Whoever reads an op's attributes may rely on all of them, but for types, which operands and results imply.

    Args:
        name: Its name with its dialect, such as ``tfl.pack``; without one, it is TensorFlow's.
        results: The types of its results.
        operands: Its operands.
        attributes: Its attributes, as Python values or MLIR's. Integers have the dialect's width.
        location: Its location; None for the current one.
        point: The insertion point; None for the current one.
    """
    name = name if "." in name else f"tf.{name}"
    dialect, _, own = name.partition(".")
    stated = {**attribute_defaults(own), **attributes} if dialect == "tf" else attributes
    held = _attributes(name, stated)
    return ir.Operation.create(name, list(results), list(operands), held, loc=location, ip=point)


def create_value(
    name: str, kind: ir.Type, operands: Sequence[ir.Value] = (), attributes: Mapping[str, Any] = _NONE
) -> ir.Value:
    """Emits an op with one result of a type at the current insertion point and location, as ``create_op`` does."""
    return create_op(name, [kind], operands, attributes).result


def create_like(
    op: ir.OpView | ir.Operation,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, Any] = _NONE,
) -> ir.Operation:
    """Emits an op of the same name and attributes, but for those that are given, with other operands and results."""
    held = attributes_of(op) | _attributes(op.name, attributes)
    return ir.Operation.create(op.name, list(results), list(operands), held)


def _attributes(name: str, values: Mapping[str, Any]) -> dict[str, ir.Attribute]:
    """Returns attributes of an op as MLIR's; integers have the width that its dialect uses."""
    width = 32 if name.startswith("tfl.") else 64
    return {key: _attribute(value, width) for key, value in values.items()}


def _attribute(value: Any, width: int) -> ir.Attribute:
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(width), value)
    return mlir_attribute(value)


@functools.cache
def attribute_defaults(name: str) -> Mapping[str, Any]:
    """Returns the defaults of an op's attributes, except for types and functions; none for an unknown op."""
    defaults: dict[str, Any] = {}
    for key, value in op_registry().defaults(name).items():
        kind = value.WhichOneof("value")
        if kind == "list":
            lists = (value.list.s, value.list.i, value.list.f, value.list.b)
            if not len(value.list.type) and not len(value.list.shape):
                defaults[key] = [item for items in lists for item in items]
        elif kind in {"s", "i", "f", "b"}:
            defaults[key] = getattr(value, kind)
    return MappingProxyType(defaults)
