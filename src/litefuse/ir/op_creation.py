"""Creation of TensorFlow ops with all of their attributes, as imported ones have them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.mlir import ir

__all__ = ["attribute_defaults", "create_op"]

_NONE: Mapping[str, Any] = MappingProxyType({})


def create_op(
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    attributes: Mapping[str, Any] = _NONE,
    *,
    location: ir.Location | None = None,
    point: ir.InsertionPoint | None = None,
) -> ir.Operation:
    """Emits a TensorFlow op; attributes that are not given have the defaults of its definition.

    Whoever reads an op's attributes may rely on all of them, but for types, which operands and results imply.

    Args:
        name: Its name, without the dialect.
        results: The types of its results.
        operands: Its operands.
        attributes: Its attributes, as Python values or MLIR's.
        location: Its location; None for the current one.
        point: The insertion point; None for the current one.
    """
    stated = {
        key: value if isinstance(value, ir.Attribute) else mlir_attribute(value)
        for key, value in {**attribute_defaults(name), **attributes}.items()
    }
    return ir.Operation.create(f"tf.{name}", list(results), list(operands), stated, loc=location, ip=point)


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
