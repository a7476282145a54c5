"""Reading a function's composite annotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from litefuse.engine.mlir import func, ir

__all__ = ["ANNOTATIONS", "Annotation", "attribute_value", "read_annotation"]

#: The function attributes that mark a composite; Keras 2 writes the second.
ANNOTATIONS = ("tf._implements", "tf.api_implements")


@dataclass(frozen=True)
class Annotation:
    """What ``experimental_implements`` said.

    Attributes:
        name: The composite's name.
        attributes: Its attributes as Python values, see ``attribute_value``.
    """

    name: str
    attributes: Mapping[str, Any]


def read_annotation(function: func.FuncOp) -> Annotation | None:
    """The function's annotation, or None when it is no composite."""
    for key in ANNOTATIONS:
        if key not in function.attributes:
            continue
        value = function.attributes[key]
        if isinstance(value, ir.StringAttr):
            return Annotation(value.value, {})
        if isinstance(value, ir.DictAttr):
            attributes = ir.DictAttr(value["attributes"])
            names = [item.name for item in attributes]
            return Annotation(
                ir.StringAttr(value["name"]).value, {name: attribute_value(attributes[name]) for name in names}
            )
    return None


def attribute_value(attribute: ir.Attribute) -> Any:
    """An MLIR attribute as a Python value: int, float, bool, str, or a list of them; other kinds as they are.

    A string that is not UTF-8 stays bytes.
    """
    if isinstance(attribute, (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr)):
        return attribute.value
    if isinstance(attribute, ir.StringAttr):
        try:
            return attribute.value_bytes.decode()
        except UnicodeDecodeError:
            return attribute.value_bytes
    if isinstance(attribute, ir.ArrayAttr):
        return [attribute_value(item) for item in attribute]
    return attribute
