"""Ops that call functions: what the ``tf`` dialect calls them and which attributes they need there."""

from __future__ import annotations

from litefuse.ir.mlir import ir
from litefuse.saved_model.messages import NodeDef

__all__ = ["call_attributes", "callees_with_its_results", "control_flow_attributes", "dialect_op_name", "is_redundant"]

# The stateless forms are not ops of the dialect: they are the same op with a flag.
_STATELESS = {"StatelessIf": "If", "StatelessWhile": "While", "StatelessCase": "Case"}
_CONTROL_FLOW = frozenset({*_STATELESS, *_STATELESS.values()})


_CALLS = frozenset({*_CONTROL_FLOW, "PartitionedCall", "StatefulPartitionedCall"})
# What the operands and results of a call say themselves; passes change those.
_REDUNDANT = frozenset({"T", "Tin", "Tout", "Tcond", "output_shapes", "config", "config_proto", "executor_type"})


_CALLEES = {
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), ("f",)),
    **dict.fromkeys(("If", "StatelessIf"), ("then_branch", "else_branch")),
    **dict.fromkeys(("For", "While", "StatelessWhile"), ("body",)),
    **dict.fromkeys(("Case", "StatelessCase"), ("branches",)),
}


def callees_with_its_results(node: NodeDef) -> list[str]:
    """The names of the functions whose results are a node's: all that it calls but the condition of a loop."""
    values = [node.attr[name] for name in _CALLEES.get(node.op, ()) if name in node.attr]
    return [each.name for value in values for each in (value.func, *value.list.func) if each.name]


def is_redundant(op: str, attribute: str) -> bool:
    """Whether the module has no use for a node's attribute: a call's operand types and runtime settings."""
    return op in _CALLS and attribute in _REDUNDANT


def dialect_op_name(op: str) -> str:
    """The name in the ``tf`` dialect of a TensorFlow op."""
    return f"tf.{_STATELESS.get(op, op)}"


def control_flow_attributes(op: str) -> dict[str, ir.Attribute]:
    """The attributes that the dialect needs beside the node's own on If, While and Case; none for other ops."""
    return {"is_stateless": ir.BoolAttr.get(op in _STATELESS)} if op in _CONTROL_FLOW else {}


def call_attributes(symbol: str) -> dict[str, ir.Attribute]:
    """The attributes of a PartitionedCall of ``symbol``, for a node whose op is the function's own name."""
    empty = ir.StringAttr.get("")
    return {"f": ir.FlatSymbolRefAttr.get(symbol), "config": empty, "config_proto": empty, "executor_type": empty}
