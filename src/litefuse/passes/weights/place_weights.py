"""Replaces weights whose values the engine does not need by placeholders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from litefuse.ir.importer.constants import loaded_attribute
from litefuse.ir.mlir import ir
from litefuse.ir.passes import visit_ops
from litefuse.passes.weights import Weights, takes_placeholder

__all__ = ["LoadWeights", "PlaceWeights"]


@dataclass(frozen=True)
class PlaceWeights:
    """Passes placeholders of weights that stay mapped to the engine, and the values of the others::

        %w = tf.Const() dense_resource<weight>        %w = tfl.external_const() {offset = 7}
        %y = tf.MatMul(%x, %w)                   -->  %y = tf.MatMul(%x, %w)

    A weight gets a placeholder only if the engine lowers all of its uses in such a way that ``fold-weights`` can apply
    to the weight itself what the engine would have applied to its value. Constants of the graph that are as large are
    weights, too.

    Attributes:
        weights: The weights of the conversion.
    """

    name: ClassVar[str] = "place-weights"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tf.Const": self._placed})

    def _placed(self, op: ir.OpView) -> ir.Value | bool:
        value = op.attributes["value"]
        if isinstance(value, ir.DenseElementsAttr):
            number = self.weights.adopt(value) if takes_placeholder(op.results[0]) else None
        else:
            number = self.weights.find(value)
        if number is None:
            return False
        _remove_casts(op.results[0])
        if takes_placeholder(op.results[0]):
            return self.weights.emit(number)
        op.attributes["value"] = loaded_attribute(op.attributes["value"])
        return True


class LoadWeights:
    """Passes the values of all weights to the engine."""

    name: ClassVar[str] = "load-weights"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tf.Const": _load})


def _load(op: ir.OpView) -> bool:
    value = op.attributes["value"]
    loaded = loaded_attribute(value)
    if loaded is not value:
        op.attributes["value"] = loaded
    return loaded is not value


def _remove_casts(weight: ir.Value) -> None:
    """Removes the casts that only drop the shape, which the inliner inserts for calls."""
    for use in list(weight.uses):
        cast = use.owner
        if cast.name == "tf.Cast" and (
            ir.ShapedType(cast.results[0].type).element_type == ir.ShapedType(weight.type).element_type
        ):
            cast.results[0].replace_all_uses_with(weight)
            cast.operation.erase()
