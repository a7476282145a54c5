"""Whether the ops that litefuse emits have all of the attributes that their definitions say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.op_creation import attribute_defaults, create_like, create_op

_SOURCES = Path(__file__).parents[2] / "src" / "litefuse"

# What these have besides is of the TensorFlow runtime, or they are calls, whose functions are set apart from the rest.
_OF_CALLS = {"If", "While", "StatefulPartitionedCall", "PartitionedCall", "VarHandleOp", "AssignVariableOp"}
_EMITTING = re.compile(r"\b(create|create_op|create_value|ops?|editor\.add)\(")
_TYPES = {"type", "list(type)", "shape", "list(shape)", "func", "list(func)"}


def _stated(name: str) -> set[str]:
    """The attributes of an op that no operand or result implies."""
    definition = op_registry().get(name)
    if definition is None or name in _OF_CALLS:
        return set()
    arguments = (*definition.input_arg, *definition.output_arg)
    implied = {each for arg in arguments for each in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    return {each.name for each in definition.attr if each.type not in _TYPES} - implied


def _literals(node: ast.expr | None) -> set[str] | None:
    """The keys of a dictionary; None if it is anything else."""
    if node is None:
        return set()
    if not isinstance(node, ast.Dict) or None in node.keys:
        return None
    return {str(key.value) for key in node.keys if isinstance(key, ast.Constant)}


def _lacking(call: ast.Call) -> tuple[str, set[str]] | None:
    """The op that a call emits by its name, and the attributes that it lacks."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    texts = [each.value if isinstance(each, ast.Constant) else None for each in call.args]
    name = next((each for each in texts[:2] if isinstance(each, str)), None)
    if name is None:
        return None
    keywords = {each.arg: each.value for each in call.keywords}
    if function == "create" and name.startswith("tf."):
        given = _literals(keywords.get("attributes", call.args[3] if len(call.args) > 3 else None))
        return (name, _stated(name[3:]) - given) if given is not None else (name, set())
    if function in {"op", "ops"} and texts[0] == name:
        return (
            (name, set()) if None in keywords else (name, _stated(name) - keywords.keys() - {*attribute_defaults(name)})
        )
    if function in {"add", "create_op", "create_value"}:
        given = _literals(call.args[-1 if function == "add" else 3] if len(call.args) > 3 else None)
        own = name.removeprefix("tf.")
        return (name, set()) if given is None else (name, _stated(own) - given - {*attribute_defaults(own)})
    return None


def _emitted() -> Iterator[tuple[str, str, set[str]]]:
    for path in _SOURCES.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if _EMITTING.search(text) else ():
            if isinstance(node, ast.Call) and (lacking := _lacking(node)) is not None:
                yield f"{path.relative_to(_SOURCES)}:{node.lineno}", *lacking


def test_no_op_lacks_an_attribute() -> None:
    emitted = list(_emitted())
    assert len(emitted) > 300
    assert {place: (op, lacking) for place, op, lacking in emitted if lacking} == {}


def test_attributes_have_their_defaults() -> None:
    with mlir_context():
        module = ir.Module.parse("func.func @main(%x: tensor<4x3xf32>, %i: tensor<i32>) { return }")
        (function,) = module.body.operations
        assert isinstance(function, func.FuncOp)
        block = function.entry_block
        x, i = block.arguments
        with ir.InsertionPoint.at_block_begin(block):
            kind = ir.Type.parse("tensor<3xf32>")
            row = create_op("GatherV2", [kind], [x, i, i])
            assert str(row.attributes["batch_dims"]) == "0 : i64"
            other = create_op("GatherV2", [kind], [x, i, i], {"batch_dims": 1})
            assert str(other.attributes["batch_dims"]) == "1 : i64"
            squeezed = create_op("Squeeze", [kind], [x])
            assert str(squeezed.attributes["squeeze_dims"]) == "[]"
            product = create_op("MatMul", [kind], [x, x])
            assert {key: str(product.attributes[key]) for key in product.attributes} == dict.fromkeys(
                ("grad_a", "grad_b", "transpose_a", "transpose_b"), "false"
            )


def test_integers_have_the_width_of_the_dialect() -> None:
    with mlir_context():
        module = ir.Module.parse("func.func @main(%x: tensor<4x3xf32>, %i: tensor<2xi32>) { return }")
        (function,) = module.body.operations
        assert isinstance(function, func.FuncOp)
        x, i = function.entry_block.arguments
        with ir.InsertionPoint.at_block_begin(function.entry_block):
            kind = ir.Type.parse("tensor<2x3xf32>")
            gathered = create_op("tfl.gather", [kind], [x, i], {"axis": 0, "batch_dims": 0})
            packed = create_op("tf.Pack", [ir.Type.parse("tensor<1x2x3xf32>")], [gathered.result], {"axis": 0})
        assert str(gathered.attributes["axis"]) == "0 : i32"
        assert str(packed.attributes["axis"]) == "0 : i64"


def test_an_op_like_another_keeps_its_attributes() -> None:
    with mlir_context():
        module = ir.Module.parse("""
func.func @main(%x: tensor<4x3xf32>, %y: tensor<3x4xf32>) -> tensor<4x4xf32> {
  %z = "tfl.batch_matmul"(%x, %y) {adj_x = false, adj_y = false} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}""")
        (function,) = module.body.operations
        assert isinstance(function, func.FuncOp)
        product = function.entry_block.operations[0]
        with ir.InsertionPoint(product):
            other = create_like(product, product.operands, [product.results[0].type], {"adj_y": True})
        assert other.name == "tfl.batch_matmul"
        assert {key: str(other.attributes[key]) for key in other.attributes} == {"adj_x": "false", "adj_y": "true"}
