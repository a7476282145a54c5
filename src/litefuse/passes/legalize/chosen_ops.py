"""The pass that keeps TensorFlow ops which the user named from everything that would rewrite them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from litefuse.ir.call_graph import attributes_of
from litefuse.ir.mlir import ir
from litefuse.ir.passes import visit_ops
from litefuse.ir.types import is_resource, is_variant
from litefuse.passes.legalize.lacking_ops import withhold

_REASON = "it was chosen to be a custom op"


@dataclass(frozen=True)
class WithholdChosenOps:
    """Gives the ops that are to become custom ops, whatever LiteRT has for them, names that no other pass knows.

    ::

        tf.ExtractImagePatches(%x)  -->  tf.ExtractImagePatches.withheld(%x)

    It runs before all else, so that no recognizer, no simplification and no rewriting finds these ops; what is known of
    their results' shapes is. Constants stay, and so do ops that run functions, or work on variables, tables or lists: a
    kernel cannot reach these.
    """

    name = "withhold-chosen-ops"
    chosen: Collection[str]

    def run(self, module: ir.Module) -> bool:
        return bool(self.chosen) and visit_ops(module, {f"tf.{name}": _withhold for name in self.chosen})


def _withhold(op: ir.OpView) -> bool:
    can_be_custom = _can_be_custom(op)
    if can_be_custom:
        withhold(op, _REASON, chosen=True)
    return can_be_custom


def _can_be_custom(op: ir.OpView) -> bool:
    if op.name == "tf.Const" or any(is_resource(each) or is_variant(each) for each in (*op.operands, *op.results)):
        return False
    return not any(map(_names_a_function, attributes_of(op).values()))


def _names_a_function(attribute: ir.Attribute) -> bool:
    if isinstance(attribute, ir.ArrayAttr):
        return any(map(_names_a_function, attribute))
    return isinstance(attribute, ir.FlatSymbolRefAttr)
