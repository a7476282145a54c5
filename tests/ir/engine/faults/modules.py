"""Control flow, state, and what the engine writes beside the ops."""

from __future__ import annotations

import numpy as np

from litefuse.ir.mlir import converter_api_ext, ir, stablehlo
from tests.ir.engine.faults.graph import Graph, WrittenGraph, export, int32, text
from tests.ir.engine.faults.reproducer import is_refused, kills, reproducer

_BRANCHES = """
  func.func private @then(%x: tensor<f32>) -> tensor<f32> {
    %y = "tf.Sin"(%x) : (tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }
  func.func private @else(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
"""
_LOOP = """
  func.func private @cond(%x: tensor<f32>) -> tensor<i1> {
    %end = "tf.Const"() {value = dense<9.0> : tensor<f32>} : () -> tensor<f32>
    %y = "tf.Less"(%x, %end) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %y : tensor<i1>
  }
  func.func private @body(%x: tensor<f32>) -> tensor<f32> {
    %y = "tf.AddV2"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }
"""


def _symbol(name: str) -> ir.Attribute:
    return ir.FlatSymbolRefAttr.get(name)


@reproducer
def decided_branch() -> bool:
    graph = Graph("f32", functions=_BRANCHES)
    total = graph.op("Sum", [graph.constant([1.0, 2.0]), graph.constant([0])], "f32", keep_dims=False)
    branches = {"then_branch": _symbol("then"), "else_branch": _symbol("else"), "is_stateless": False}
    less = graph.op("Less", [total, graph.constant(9.0)], "i1")
    graph.returns(graph.op("If", [less, *graph.inputs], "f32", **branches))
    return "tf.StatefulPartitionedCall" in text(graph.lowered())


def _loop(name: str) -> Graph:
    graph = Graph("f32", functions=_LOOP)
    called = {"cond": _symbol("cond"), "body": _symbol("body"), "is_stateless": False}
    return graph.returns(graph.op(name, graph.inputs, "f32", **called)).lowered()


@reproducer
def loops_in_regions() -> bool:
    """The message of the refusal is empty."""
    return is_refused("Failed to export flatbuffer: ", export, _loop("While").module)


@reproducer
def stateless_loop() -> bool:
    return "tfl.custom_tf" in text(_loop("StatelessWhile"))


@reproducer
def several_branches() -> bool:
    graph = Graph("i32", "f32", functions=_BRANCHES)
    branches = ir.ArrayAttr.get([_symbol("then"), _symbol("else")])
    graph.returns(graph.op("Case", graph.inputs, "f32", branches=branches, is_stateless=False))
    return "tf.Case" in text(graph.lowered())


@reproducer
def lists_of_open_shape() -> bool:
    graph = Graph("?x4xf32")
    operands = [graph.constant([-1, 4]), graph.constant(3)]
    reserved = graph.op("TensorListReserve", operands, "!tf_type.variant<tensor<?x4xf32>>")
    graph.returns(graph.op("TensorListLength", [reserved], "i32"))
    return is_refused("requires element_shape to be static", graph.lowered)


@reproducer
def table_of_other_dtypes() -> bool:
    graph = Graph("2x!tf_type.string")
    dtypes = {
        "key_dtype": ir.TypeAttr.get(ir.Type.parse("!tf_type.string")),
        "value_dtype": ir.TypeAttr.get(ir.F32Type.get()),
    }
    options = {"container": "", "shared_name": "t", "use_node_name_sharing": False}
    table = graph.op("HashTableV2", [], "!tf_type.resource", **options, **dtypes)
    graph.returns(graph.op("LookupTableFindV2", [table, *graph.inputs, graph.constant(0.0)], "2xf32"))
    return "tf.LookupTableFindV2" in text(graph.lowered())


@kills
def initializers_of_a_saved_model() -> None:
    graph = Graph("f32")
    graph.module.context.allow_unregistered_dialects = True
    with ir.InsertionPoint(graph.module.body):
        ir.Operation.create("tf_saved_model.session_initializer", [], [], {"initializers": ir.ArrayAttr.get([])})
    graph.returns(*graph.inputs).lowered()


@reproducer
def private_initializer() -> bool:
    graph = Graph("f32", functions="func.func private @initialize() { return }")
    graph.returns(graph.op("Sin", graph.inputs, "f32")).lowered()
    initializer: dict[str, ir.Attribute] = {"session_init_function": ir.StringAttr.get("initialize")}
    ir.Operation.create("tfl.call_once", [], [], initializer, ip=ir.InsertionPoint.at_block_begin(graph.block))
    try:
        export(graph.module)
    except IndexError:
        return True
    return False


@reproducer
def unused_constants() -> bool:
    graph = WrittenGraph("f32")
    graph.constant(np.arange(1000.0))
    graph.returns(graph.op("tfl.sin", graph.inputs, "f32"))
    return len(graph.model()) > 4000


@reproducer
def operands_of_different_dtypes() -> bool:
    graph = Graph("?xf32", "?xi32")
    graph.returns(graph.op("ConcatV2", [*graph.inputs, graph.constant(0)], "?xf32"))
    return "tfl.concatenation" in text(graph.lowered())


def _composite(name: str) -> Graph:
    stablehlo()
    graph = Graph("f32", functions=_BRANCHES)
    attributes = {
        "version": int32(1),
        "composite_attributes": ir.Attribute.parse("{}"),
        "decomposition": _symbol("else"),
    }
    return graph.returns(graph.op("stablehlo.composite", graph.inputs, "f32", name=name, **attributes))


@reproducer
def composite_without_a_namespace() -> bool:
    return is_refused("name must be a valid namespaced op name", _composite("my").lowered)


@kills
def composite_with_a_name_of_the_engine() -> None:
    _composite("tfl.gelu").lowered()


@kills
def bidirectional_lstm_without_peepholes() -> None:
    graph = WrittenGraph("1x3x2xf32")
    none, square, vector = graph.none(), graph.constant(np.eye(2)), graph.constant([0.0, 0.0])
    direction = [*[square] * 8, *[none] * 3, *[vector] * 4, square, vector]
    operands = [*graph.inputs, *direction, *direction, *[graph.constant(np.zeros((1, 2)))] * 4, *[none] * 9]
    options = {"fused_activation_function": "TANH", "cell_clip": 0.0, "proj_clip": 0.0}
    flags = {"merge_outputs": False, "time_major": False}
    graph.ops("tfl.bidirectional_sequence_lstm", operands, ["1x3x2xf32"] * 2, **options, **flags)
    graph.module.operation.verify()


@kills
def full_disk() -> None:
    graph = WrittenGraph("f32")
    graph.returns(graph.op("tfl.sin", graph.inputs, "f32"))
    converter_api_ext.export_flatbuffer_to_file(graph.module.operation, "/dev/full")
