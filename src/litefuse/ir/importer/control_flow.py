"""Ops that call functions: their names and attributes in the ``tf`` dialect."""

from __future__ import annotations

from litefuse.frontends.saved_model.messages import NodeDef
from litefuse.frontends.saved_model.nodes import functions_in
from litefuse.ir.mlir import ir

__all__ = ["call_attributes", "callees_with_its_results", "control_flow_attributes", "dialect_op_name", "is_redundant"]

# The dialect has no stateless forms, but a flag on the same op.
_STATELESS = {"StatelessIf": "If", "StatelessWhile": "While", "StatelessCase": "Case"}
_CONTROL_FLOW = frozenset({*_STATELESS, *_STATELESS.values()})


_CALLS = frozenset({*_CONTROL_FLOW, "PartitionedCall", "StatefulPartitionedCall"})
# Attributes of a call that its operands and results imply (passes change those), and settings of the runtime.
_REDUNDANT = frozenset({"T", "Tin", "Tout", "Tcond", "output_shapes", "config", "config_proto", "executor_type"})


_CALLEES = {
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), ("f",)),
    **dict.fromkeys(("If", "StatelessIf"), ("then_branch", "else_branch")),
    **dict.fromkeys(("For", "While", "StatelessWhile"), ("body",)),
    **dict.fromkeys(("Case", "StatelessCase"), ("branches",)),
}


def callees_with_its_results(node: NodeDef) -> list[str]:
    """Returns the names of the functions whose results are a node's: all its callees but the condition of a loop."""
    values = [node.attr[name] for name in _CALLEES.get(node.op, ()) if name in node.attr]
    return [function.name for value in values for function in functions_in(value)]


def is_redundant(op: str, attribute: str) -> bool:
    """Whether the module does not need a node's attribute: a call's operand types and runtime settings."""
    return op in _CALLS and attribute in _REDUNDANT


def dialect_op_name(op: str) -> str:
    """Returns the name in the ``tf`` dialect of a TensorFlow op."""
    return f"tf.{_STATELESS.get(op, op)}"


def control_flow_attributes(op: str) -> dict[str, ir.Attribute]:
    """Returns the attributes that the dialect adds to the node's own on If, While and Case; none for other ops."""
    return {"is_stateless": ir.BoolAttr.get(op in _STATELESS)} if op in _CONTROL_FLOW else {}


def call_attributes(symbol: str) -> dict[str, ir.Attribute]:
    """Returns the attributes of a PartitionedCall of ``symbol``, for a node whose op is the function's own name."""
    empty = ir.StringAttr.get("")
    return {"f": ir.FlatSymbolRefAttr.get(symbol), "config": empty, "config_proto": empty, "executor_type": empty}
