from __future__ import annotations

from collections.abc import Iterator

import pytest

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NameAttrList, NodeDef, TensorProto
from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.ir.importer.functions import FunctionImporter
from litefuse.ir.mlir import func, ir, mlir_context
from tests.ir.importer.function_defs import TYPE_F32, callee, function, node, shapes


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    with mlir_context():
        yield


def import_one(definition: FunctionDef, *others: FunctionDef) -> func.FuncOp:
    library = {each.signature.name: each for each in (definition, *others)}
    module = ir.Module.create()
    op = FunctionImporter(library, op_registry(), lambda name: name).import_function(definition, "f", module)
    _keep.append(module)  # an op does not keep its module alive
    return op


_keep: list[ir.Module] = []


def op_names(op: func.FuncOp) -> list[str]:
    return [inner.name for inner in op.entry_block.operations]


def test_types_names_and_defaults() -> None:
    relu = node("block/relu", "LeakyRelu", "x", _output_shapes=shapes((-1, 2)))
    op = import_one(function("f", [relu], results={"y": "block/relu:activations:0"}))
    assert [str(kind) for kind in op.type.inputs] == ["tensor<?x2xf32>"]
    assert [str(kind) for kind in op.type.results] == ["tensor<?x2xf32>"]
    inner = op.entry_block.operations[0]
    assert ir.FloatAttr(inner.attributes["alpha"]).value == pytest.approx(0.2)  # the op's default
    assert isinstance(inner.location, ir.NameLoc)
    assert inner.location.name_str == "block/relu"
    assert isinstance(op.arguments[0].location, ir.NameLoc)
    assert op.arguments[0].location.name_str == "x"


def test_a_value_without_a_shape_is_unranked() -> None:
    op = import_one(function("f", [node("relu", "Relu", "x")], results={"y": "relu:activations:0"}))
    assert [str(kind) for kind in op.type.results] == ["tensor<*xf32>"]


def test_a_shape_that_an_operand_without_one_explains_is_left_to_inference() -> None:
    one = node("one", "Mean", "x", "axis:output:0", _output_shapes=shapes((-1, 1)))
    unknown = node("unknown", "Relu", "x")
    wide = node("wide", "Sub", "unknown:activations:0", "one:output:0", _output_shapes=shapes((-1, 6)))
    tall = node("tall", "Sub", "unknown:activations:0", "one:output:0", _output_shapes=shapes((4, 1)))
    results = {"wide": "wide:z:0", "tall": "tall:z:0"}
    op = import_one(function("f", [constant("axis", 1), one, unknown, wide, tall], results=results))
    assert [str(kind) for kind in op.type.results] == ["tensor<*xf32>", "tensor<4x1xf32>"]
    assert op.operation.verify()


def test_outputs_are_found_by_name_and_number() -> None:
    axis = constant("axis", 1)
    split = node("split", "Split", "axis:output:0", "x", num_split=AttrValue(i=2))
    top = node("top", "TopKV2", "split:output:1", "axis:output:0", sorted=AttrValue(b=True))
    definition = function("f", [axis, split, top], results={"a": "top:values:0", "b": "split:output:0"})
    op = import_one(definition)
    returned = op.entry_block.operations[3].operands
    assert returned[0].owner.name == "tf.TopKV2"
    assert ir.OpResult(returned[0]).result_number == 0
    assert ir.OpResult(returned[1]).result_number == 0
    assert ir.OpResult(op.entry_block.operations[2].operands[0]).result_number == 1


def constant(name: str, value: int) -> NodeDef:
    proto = TensorProto(dtype=DataType.INT32, int_val=[value])
    return NodeDef(
        name=name, op="Const", attr={"dtype": AttrValue(type=DataType.INT32), "value": AttrValue(tensor=proto)}
    )


def test_control_dependencies_order_side_effects() -> None:
    # The nodes stand in the wrong order; the control inputs say print b, print a.
    nodes = [
        node("a", "Assert", "yes:output:0", "x", "^b", T=AttrValue(list=AttrValue.ListValue(type=[DataType.FLOAT32]))),
        node("b", "Assert", "yes:output:0", "x", T=AttrValue(list=AttrValue.ListValue(type=[DataType.FLOAT32]))),
        NodeDef(
            name="yes",
            op="Const",
            attr={
                "dtype": AttrValue(type=DataType.BOOL),
                "value": AttrValue(tensor=TensorProto(dtype=DataType.BOOL, bool_val=[True])),
            },
        ),
        node("y", "Identity", "x", "^join"),
        NodeDef(name="join", op="NoOp", input=["^a"]),
        node("dead", "Relu", "x"),
    ]
    op = import_one(function("f", nodes, results={"y": "y:output:0"}, effects=["a", "b"]))
    assert op_names(op) == ["tf.Const", "tf.Assert", "tf.Assert", "tf.Identity", "func.return"]
    names = [inner.location.name_str for inner in op.entry_block.operations if isinstance(inner.location, ir.NameLoc)]
    assert names[:3] == ["yes", "b", "a"]


def test_stateless_forms_and_calls_by_name() -> None:
    body = function("branch", [node("r", "Relu", "x")], results={"y": "r:activations:0"})
    types = AttrValue(list=AttrValue.ListValue(type=[DataType.FLOAT32]))
    nodes = [
        node("call", "branch", "x"),
        NodeDef(
            name="if",
            op="StatelessIf",
            input=["x", "call:y:0"],
            attr={
                "Tcond": TYPE_F32,
                "Tin": types,
                "Tout": types,
                "then_branch": callee("branch"),
                "else_branch": callee("branch"),
            },
        ),
    ]
    op = import_one(function("f", nodes, results={"y": "if:output:0"}), body)
    call, branch, _ = op.entry_block.operations
    assert call.name == "tf.PartitionedCall"
    assert str(call.attributes["f"]) == "@branch"
    assert branch.name == "tf.If"
    assert ir.BoolAttr(branch.attributes["is_stateless"]).value is True
    assert str(branch.attributes["then_branch"]) == "@branch"


def test_annotations_are_kept_with_their_attributes() -> None:
    attributes = {
        "i": AttrValue(i=3),
        "f": AttrValue(f=0.5),
        "s": AttrValue(s=b"text"),
        "b": AttrValue(b=True),
        "l": AttrValue(list=AttrValue.ListValue(i=[1, 2])),
        "t": AttrValue(type=DataType.BFLOAT16),
        "g": AttrValue(func=NameAttrList(name="other", attr={"k": AttrValue(i=1)})),
    }
    annotation = AttrValue(func=NameAttrList(name="my_op", attr=attributes))
    relu = node("r", "Relu", "x")
    op = import_one(function("f", [relu], results={"y": "r:activations:0"}, attributes={"_implements": annotation}))
    assert str(op.attributes["tf._implements"]) == (
        '{attributes = {b = true, f = 5.000000e-01 : f32, g = {attributes = {k = 1 : i64}, name = "other"}, '
        'i = 3 : i64, l = [1, 2], s = "text", t = bf16}, name = "my_op"}'
    )


def test_keras_2_annotations_are_kept() -> None:
    attributes = {
        "api_implements": AttrValue(s=b"lstm_1234"),
        "time_major": AttrValue(b=False),
        "go_backwards": AttrValue(b=True),
    }
    op = import_one(function("f", [node("r", "Relu", "x")], results={"y": "r:activations:0"}, attributes=attributes))
    assert ir.StringAttr(op.attributes["tf.api_implements"]).value == "lstm_1234"
    assert ir.BoolAttr(op.attributes["tf.time_major"]).value is False
    assert ir.BoolAttr(op.attributes["tf.go_backwards"]).value is True


FLOATS = AttrValue(list=AttrValue.ListValue(type=[DataType.FLOAT32]))
CALL = {"Tin": FLOATS, "Tout": FLOATS}


@pytest.mark.parametrize(
    ("nodes", "result", "message"),
    [
        ([node("r", "NoSuchOp", "x")], "r:y:0", "function f, node r (NoSuchOp): the op NoSuchOp is unknown"),
        ([node("r", "Relu", "missing:y:0")], "r:activations:0", "node r reads from 'missing', which does not exist"),
        ([], "gone:y:0", "a result reads from 'gone'"),
        ([node("r", "Relu", "x")], "r:activations:7", "the input 'r:activations:7' does not exist"),
        ([node("r", "Relu", "r:activations:0")], "r:activations:0", "the graph has a cycle"),
        ([node("r", "Relu", "x"), node("r", "Relu", "x")], "r:activations:0", "two nodes have the same name"),
        ([node("r", "PartitionedCall", "x", f=callee("nowhere"), **CALL)], "r:output:0", "the function 'nowhere'"),
        (
            [node("r", "Unpack", "x", num=AttrValue(i=10**9), T=AttrValue(type=DataType.FLOAT32))],
            "r:output:0",
            "function f, node r (Unpack): an op cannot have 1000000000 outputs",
        ),
        (
            [node("r", "Relu", "x", _output_shapes=shapes((2**31,)))],
            "r:activations:0",
            "function f, node r (Relu): a dimension of the size 2147483648 is more than LiteRT's shapes can note",
        ),
        (
            [node("r", "IdentityN", "x", "x", T=FLOATS)],
            "r:output:0",
            "function f, node r (IdentityN): it has 2 inputs; its op takes 1",
        ),
        ([node("r", "Mul", "x")], "r:z:0", "function f, node r (Mul): it has 1 inputs; its op takes 2"),
        ([node("r", "Relu6", "x", extra=AttrValue(placeholder="T"))], "r:activations:0", "placeholder 'T'"),
    ],
)
def test_what_cannot_be_imported_is_named(nodes: list[NodeDef], result: str, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        import_one(function("f", nodes, results={"y": result}))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("StatefulPartitionedCall", {"f": callee("g"), **CALL}),
        ("While", {"cond": callee("g"), "body": callee("g"), "T": FLOATS}),
        ("If", {"then_branch": callee("g"), "else_branch": callee("g"), **CALL}),
    ],
)
def test_a_call_of_a_function_with_other_results(op: str, attributes: dict[str, AttrValue]) -> None:
    inner = function("g", [node("r", "Relu", "x")], results={"y": "r:activations:0", "z": "r:activations:0"})
    inputs = ["x", "x"] if op == "If" else ["x"]
    with pytest.raises(GraphError, match="it has 1 results, but the function 'g' that it calls gives 2"):
        import_one(function("f", [node("r", op, *inputs, **attributes)], results={"y": "r:output:0"}), inner)
