"""Composite annotations of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from litefuse.frontends.saved_model.model import ANNOTATIONS, IMPLEMENTS, KERAS_IMPLEMENTS
from litefuse.ir.attributes import attribute_value, mlir_attribute
from litefuse.ir.mlir import func, ir

KERAS_ATTRIBUTES = ("go_backwards", "time_major")
"""The attributes that Keras 2 gives a function in addition to its annotation."""


class Annotation(NamedTuple):
    """The annotation of a function, by ``experimental_implements`` or by Keras 2.

    Attributes:
        name: The composite's name.
        attributes: Its attributes as Python values, see ``attribute_value``.
        by_prefix: Whether the name consists of an interface and an identifier, as in ``lstm_0b4c...``, which is how
            Keras 2 (``api_implements``) pairs the implementations of one layer.
    """

    name: str
    attributes: Mapping[str, Any]
    by_prefix: bool = False

    @property
    def interface(self) -> str:
        """The name without the identifier of one layer."""
        return self.name.rpartition("_")[0] if self.by_prefix else self.name


def read_annotation(function: func.FuncOp) -> Annotation | None:
    """Returns the function's annotation, or None if it is not a composite."""
    for key in ANNOTATIONS:
        if f"tf.{key}" not in function.attributes:
            continue
        value = function.attributes[f"tf.{key}"]
        if isinstance(value, ir.StringAttr) and key == KERAS_IMPLEMENTS:
            return Annotation(value.value, _function_attributes(function, KERAS_ATTRIBUTES), by_prefix=True)
        if isinstance(value, ir.StringAttr):
            return Annotation(value.value, {})
        if isinstance(value, ir.DictAttr):
            attributes = ir.DictAttr(value["attributes"])
            names = [item.name for item in attributes]
            return Annotation(
                ir.StringAttr(value["name"]).value, {name: attribute_value(attributes[name]) for name in names}
            )
    return None


def annotate(function: func.FuncOp, name: str, attributes: Mapping[str, Any]) -> None:
    """Makes a function a composite, as ``experimental_implements`` does."""
    value: ir.Attribute = ir.StringAttr.get(name)
    if attributes:
        given = {key: mlir_attribute(attribute) for key, attribute in attributes.items()}
        value = ir.DictAttr.get({"name": value, "attributes": ir.DictAttr.get(given)})
    function.attributes[f"tf.{IMPLEMENTS}"] = value


def remove_annotation(function: func.FuncOp | ir.OpView) -> None:
    """Makes a composite a function as any other."""
    for key in ANNOTATIONS:
        if f"tf.{key}" in function.attributes:
            del function.attributes[f"tf.{key}"]


def _function_attributes(function: func.FuncOp, names: Sequence[str]) -> dict[str, Any]:
    return {
        name: attribute_value(function.attributes[f"tf.{name}"])
        for name in names
        if f"tf.{name}" in function.attributes
    }
