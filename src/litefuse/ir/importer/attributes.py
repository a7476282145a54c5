"""Attributes of nodes as MLIR attributes, as the ``tf`` dialect declares them, and of ops that call functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.dtypes import shape_from_proto
from litefuse.frontends.saved_model.messages import AttrValue, NameAttrList, NodeDef
from litefuse.frontends.saved_model.nodes import functions_in
from litefuse.ir.importer.constants import element_type, shape_text, tensor_elements_attribute
from litefuse.ir.mlir import ir

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


def attribute(value: AttrValue) -> ir.Attribute:
    """Returns the MLIR attribute of an AttrValue.

    Integers become ``i64``, floats ``f32``, types and shapes their attribute kinds, functions symbol references
    (without their own attributes, which belong to the callee), lists arrays.

    Raises:
        GraphError: The attribute has no value, or is a placeholder of a function that was never instantiated.
    """
    kind = value.WhichOneof("value")
    if kind == "list":
        return _list(value.list)
    if kind is None:
        raise GraphError("has no value")
    if kind == "placeholder":
        raise GraphError(f"is the placeholder {value.placeholder!r}: the function was never instantiated")
    return _scalar(kind, getattr(value, kind))


def _scalar(kind: str, value: Any) -> ir.Attribute:
    if kind == "s":
        return ir.StringAttr.get(value)
    if kind == "i":
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if kind == "f":
        return ir.FloatAttr.get(ir.F32Type.get(), value)
    if kind == "b":
        return ir.BoolAttr.get(value)
    if kind == "type":
        return ir.TypeAttr.get(element_type(value))
    if kind == "shape":
        return ir.Attribute.parse(f"#tf_type.shape<{shape_text(shape_from_proto(value))}>")
    if kind == "tensor":
        return tensor_elements_attribute(value)
    return ir.FlatSymbolRefAttr.get(value.name)


def _list(value: AttrValue.ListValue) -> ir.ArrayAttr:
    for kind in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(value, kind)
        if len(items):
            return ir.ArrayAttr.get([_scalar(kind, item) for item in items])
    return ir.ArrayAttr.get([])


def attribute_dict(values: Mapping[str, AttrValue]) -> ir.DictAttr:
    """Returns the attributes of a NameAttrList or a function as a dictionary, with those of nested functions."""
    if "" in values:
        raise GraphError("has an attribute without a name")
    return ir.DictAttr.get({name: _nested(value) for name, value in sorted(values.items())})


def _nested(value: AttrValue) -> ir.Attribute:
    if value.WhichOneof("value") == "func":
        return name_and_attributes(value.func)
    return attribute(value)


def name_and_attributes(value: NameAttrList) -> ir.DictAttr:
    """Converts a NameAttrList to ``{name = "...", attributes = {...}}``."""
    return ir.DictAttr.get({"attributes": attribute_dict(value.attr), "name": ir.StringAttr.get(value.name)})


def implements_attribute(value: AttrValue) -> ir.Attribute:
    """Converts the value of ``_implements`` or ``api_implements`` to the form that the composite passes expect.

    A plain string stays a string, with hexadecimal escapes for bytes that are not UTF-8. A name with attributes (which
    ``experimental_implements`` becomes if it parses as a text-format NameAttrList) becomes
    ``{name = "...", attributes = {...}}``, whose parts can be read individually.
    """
    kind = value.WhichOneof("value")
    if kind == "s":  # any bytes; they end up in names in reports and files
        return ir.StringAttr.get(value.s.decode(errors="backslashreplace"))
    if kind == "func":
        return name_and_attributes(value.func)
    raise GraphError(f"the annotation is a value of kind {kind!r}, not a string or a name with attributes")


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
