"""Operands of other dtypes than their op takes, and handles of other things than it works on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from litefuse.errors import GraphError, LimitError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef, OpDef
from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.ir.annotations import read_annotation
from litefuse.ir.importer.functions import FunctionImporter
from litefuse.ir.mlir import ir, mlir_context, stablehlo
from litefuse.passes.stablehlo.xla_call_module import lower_xla_call_module
from litefuse.passes.variables.resource_handles import check_handles
from tests.ir.importer.function_defs import function, node


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    with mlir_context():
        yield


def import_one(definition: FunctionDef) -> str:
    module = ir.Module.create()
    FunctionImporter({definition.signature.name: definition}, op_registry(), lambda name: name).import_function(
        definition, "f", module
    )
    return str(module)


def of(arguments: dict[str, DataType], *nodes: NodeDef, result: str, dtype: DataType) -> FunctionDef:
    signature = OpDef(
        name="f",
        input_arg=[OpDef.ArgDef(name=name, type=each) for name, each in arguments.items()],
        output_arg=[OpDef.ArgDef(name="y", type=dtype)],
    )
    return FunctionDef(signature=signature, node_def=nodes, ret={"y": result})


def find(table: DataType, keys: DataType, default: DataType) -> FunctionDef:
    attributes = {"Tin": AttrValue(type=DataType.STRING), "Tout": AttrValue(type=DataType.INT64)}
    lookup = NodeDef(name="look", op="LookupTableFindV2", input=["table", "keys", "default"], attr=attributes)
    arguments = {"table": table, "keys": keys, "default": default}
    return of(arguments, lookup, result="look:values:0", dtype=DataType.INT64)


RESOURCE, STRING, INT64, FLOAT, VARIANT = (
    DataType.RESOURCE,
    DataType.STRING,
    DataType.INT64,
    DataType.FLOAT32,
    DataType.VARIANT,
)


def test_a_lookup_that_is_right() -> None:
    assert "tf.LookupTableFindV2" in import_one(find(RESOURCE, STRING, INT64))


@pytest.mark.parametrize(
    ("dtypes", "message"),
    [
        ((STRING, STRING, INT64), "its operand 'table_handle' takes resource, but 'table' is string"),
        ((VARIANT, STRING, INT64), "its operand 'table_handle' takes resource, but 'table' is variant"),
        ((RESOURCE, FLOAT, INT64), "its operand 'keys' takes string, but 'keys' is float32"),
        ((RESOURCE, STRING, RESOURCE), "its operand 'default_value' takes int64, but 'default' is resource"),
    ],
)
def test_a_lookup_of_other_dtypes(dtypes: tuple[DataType, DataType, DataType], message: str) -> None:
    with pytest.raises(GraphError) as caught:
        import_one(find(*dtypes))
    assert caught.value.message == message
    assert caught.value.where == "function f, node look (LookupTableFindV2)"


@pytest.mark.parametrize(
    ("op", "attributes", "message"),
    [
        ("AddV2", {}, "its operand 'y' takes float32, but 'b' is string"),
        ("AddN", {"N": AttrValue(i=2)}, "its operand 'inputs' takes float32, but 'b' is string"),
        (
            "IdentityN",
            {"T": AttrValue(list=AttrValue.ListValue(type=[FLOAT, FLOAT]))},
            "its operand 'input' takes float32, but 'b' is string",
        ),
    ],
)
def test_operands_by_attributes(op: str, attributes: dict[str, AttrValue], message: str) -> None:
    made = node("n", op, "a", "b", **attributes)
    with pytest.raises(GraphError) as caught:
        import_one(_live(made))
    assert caught.value.message == message


def _live(made: NodeDef) -> FunctionDef:
    definition = of({"a": FLOAT, "b": STRING}, made, result="a", dtype=FLOAT)
    definition.control_ret["n"] = "n"
    return definition


TABLE = """
  %t = "tf.HashTableV2"() {container = "", shared_name = "words", use_node_name_sharing = false,
    key_dtype = !tf_type.string, value_dtype = i64} : () -> tensor<!tf_type.resource>"""
VARIABLE = """
  %t = "tf.VarHandleOp"() {container = "", shared_name = "weight"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>"""
LOOKUP = """
  %y = "tf.LookupTableFindV2"(%t, %k, %d) : (tensor<!tf_type.resource{of}>, tensor<?x{key}>, tensor<{value}>)
    -> tensor<?x{value}>"""


def check(handle: str, use: str, key: str = "!tf_type.string", value: str = "i64") -> None:
    body = handle + use.format(of="<tensor<2xf32>>" if handle is VARIABLE else "", key=key, value=value)
    text = f"func.func @f(%k: tensor<?x{key}>, %d: tensor<{value}>) {{{body}\n  return\n}}"
    check_handles.run(ir.Module.parse(text))


READ = """
  %y = "tf.ReadVariableOp"(%t) : (tensor<!tf_type.resource{of}>) -> tensor<2xf32>"""


def test_handles_that_fit() -> None:
    check(TABLE, LOOKUP)
    check(VARIABLE, READ)


@pytest.mark.parametrize(
    ("handle", "use", "key", "value", "message"),
    [
        (VARIABLE, LOOKUP, "!tf_type.string", "i64", "operand 0 takes a table, but it is the variable 'weight'"),
        (TABLE, READ, "!tf_type.string", "i64", "operand 0 takes a variable, but it is the table 'words'"),
        (TABLE, LOOKUP, "i64", "i64", "operand 1 is int64, but the table 'words' has the key_dtype string"),
        (
            TABLE,
            LOOKUP,
            "!tf_type.string",
            "f32",
            "operand 2 is float32, but the table 'words' has the value_dtype int64",
        ),
    ],
)
def test_handles_of_something_else(handle: str, use: str, key: str, value: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        check(handle, use, key, value)


def test_a_composite_whose_name_is_not_utf8() -> None:
    definition = function("f", [node("r", "Relu", "x")], results={"y": "r:activations:0"})
    definition.attr["_implements"].s = b"my\xff\xfeop"
    module = ir.Module.create()
    op = FunctionImporter({"f": definition}, op_registry(), lambda name: name).import_function(definition, "f", module)
    annotation = read_annotation(op)
    assert annotation is not None
    assert annotation.name == r"my\xff\xfeop"


# Programs of JAX.


def program(text: str, operand: str) -> ir.Module:
    dialect = stablehlo()
    artifact = dialect.serialize_portable_artifact_str(text, dialect.get_current_version())
    module = ir.Module.parse(f"func.func @f(%x: {operand}) {{ return }}")
    block = module.body.operations[0].regions[0].blocks[0]
    with ir.InsertionPoint.at_block_terminator(block), ir.Location.name("program"):
        attributes: dict[str, ir.Attribute] = {
            "module": ir.StringAttr.get(artifact),
            "version": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 9),
            "Sout": ir.ArrayAttr.get([ir.Attribute.parse("#tf_type.shape<2>")]),
        }
        kind = ir.Type.parse("tensor<2xf32>")
        made = ir.Operation.create("tf.XlaCallModule", [kind], [block.arguments[0]], attributes)
        ir.Operation.create("tf.Neg", [kind], [made.result])
    return module


def test_a_program_over_a_value_without_a_shape() -> None:
    text = """func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    module = program(text, "tensor<*xf32>")
    lower_xla_call_module.run(module)
    assert module.operation.verify()
    assert "tensor<*xf32>) -> tensor<2xf32>" in str(module)
    assert "XlaCallModule" not in str(module)


def test_a_program_whose_calls_double() -> None:
    kind = "(tensor<2xf32>) -> tensor<2xf32>"
    functions = ["func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {"]
    for level in range(60):
        functions.append(f"  %a = func.call @f{level}(%x) : {kind}\n  %b = func.call @f{level}(%a) : {kind}")
        functions.append(
            f"  return %b : tensor<2xf32>\n}}\nfunc.func private @f{level}(%x: tensor<2xf32>) -> tensor<2xf32> {{"
        )
    functions.append("  return %x : tensor<2xf32>\n}")
    with pytest.raises(LimitError, match=r"2\*\*6\d ops"):
        lower_xla_call_module.run(program("\n".join(functions), "tensor<2xf32>"))
