"""How LiteRT's runtime runs graphs: branches, loops, composites, states, and what it knows before a call."""

from __future__ import annotations

from collections.abc import Sequence

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from flatbuffers import flexbuffers

from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import converter_api_ext, ir
from tests.ir.engine.faults.graph import FLAGS, NONE, Array, WrittenGraph, call, export, int32, run
from tests.ir.engine.faults.reproducer import alone, differ, is_refused, kills, reproducer

_NUMBERS: Array = np.arange(1, 1000, dtype=np.float32)
_SEQUENCES = np.random.default_rng(0).normal(size=(4, 3, 2)).astype(np.float32)
_FUNCTIONS = """
  func.func private @twice(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %y = "tfl.sin"(%x) : (tensor<?xf32>) -> tensor<?xf32>
    return %y, %y : tensor<?xf32>, tensor<?xf32>
  }
  func.func private @same(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    return %x, %x : tensor<?xf32>, tensor<?xf32>
  }
"""
_SIX = """
  func.func private @six(%x: tensor<?xf32>) -> tensor<2x3xf32> {
    %0 = "tfl.pseudo_const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
    %1 = "tfl.reshape"(%x, %0) : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
  func.func private @none(%x: tensor<?xf32>) -> tensor<2x3xf32> {
    %0 = "tfl.pseudo_const"() {value = dense<0.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
"""
# Three steps, each of which takes %i, %x and %y, all of the types of the inputs.
_STEPS = """
  func.func private @goes_on(%i: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<i1> {
    %end = arith.constant dense<3> : tensor<i32>
    %less = "tfl.less"(%i, %end) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %less : tensor<i1>
  }
  func.func private @step(%i: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>)
      -> (tensor<i32>, tensor<?xf32>, tensor<?xf32>) {
    %one = arith.constant dense<1> : tensor<i32>
    %next = tfl.add %i, %one {fused_activation_function = "NONE"} : tensor<i32>
    STEP
  }
  func.func public @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %i = arith.constant dense<0> : tensor<i32>
    %r:3 = "tfl.while"(%i, %x, %x) ({
      ^bb0(%a: tensor<i32>, %b: tensor<?xf32>, %c: tensor<?xf32>):
        %0 = func.call @goes_on(%a, %b, %c) : (tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> tensor<i1>
        "tfl.yield"(%0) : (tensor<i1>) -> ()
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<?xf32>, %c: tensor<?xf32>):
        %0:3 = func.call @step(%a, %b, %c) : (tensor<i32>, tensor<?xf32>, tensor<?xf32>)
          -> (tensor<i32>, tensor<?xf32>, tensor<?xf32>)
        "tfl.yield"(%0#0, %0#1, %0#2) : (tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> ()
    }) : (tensor<i32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>, tensor<?xf32>)
    return %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>
  }
"""


@alone
def branch_result_twice() -> bool:
    graph = WrittenGraph("i1", "?xf32", functions=_FUNCTIONS)
    branches = {"then_branch": ir.FlatSymbolRefAttr.get("twice"), "else_branch": ir.FlatSymbolRefAttr.get("same")}
    graph.returns(*graph.ops("tf.If", graph.inputs, ["?xf32"] * 2, **branches, is_stateless=False))
    return differ(graph.run(True, _NUMBERS), np.sin(_NUMBERS), np.sin(_NUMBERS))


@reproducer
def branch_not_taken() -> bool:
    graph = WrittenGraph("i1", "?xf32", functions=_SIX)
    branches = {"then_branch": ir.FlatSymbolRefAttr.get("six"), "else_branch": ir.FlatSymbolRefAttr.get("none")}
    graph.returns(*graph.ops("tf.If", graph.inputs, ["2x3xf32"], **branches, is_stateless=False))
    return is_refused("failed to prepare", graph.run, False, _NUMBERS[:5])


def _composite(body: str, attributes: str = "") -> bytes:
    graph = WrittenGraph("?xf32", functions=_FUNCTIONS)
    texts = {
        "name": '#vhlo.string_v1<"my.op">',
        "decomposition": f'#vhlo.string_v1<"{body}">',
        "version": "#vhlo.integer_v1<1 : i32>",
        "composite_attributes": f"#vhlo.dict_v1<{{{attributes}}}>",
    }
    parsed = {key: ir.Attribute.parse(value) for key, value in texts.items()}
    return graph.returns(*graph.ops("vhlo.composite_v1", graph.inputs, ["?xf32"] * 2, **parsed)).model()


@alone
def composite_result_twice() -> bool:
    return differ(run(_composite("twice"), _NUMBERS), np.sin(_NUMBERS), np.sin(_NUMBERS))


@reproducer
def lists_in_composites() -> bool:
    content = _composite("same", '#vhlo.string_v1<"list"> = #vhlo.array_v1<[#vhlo.integer_v1<1 : i64>]>')
    (operator,) = schema.ModelT.InitFromPackedBuf(content).subgraphs[0].operators
    (value,) = flexbuffers.GetRoot(bytes(bytearray(operator.builtinOptions2.compositeAttributes))).AsMap.Values
    return not value.IsTypedVector


def _looped(step: str, x: Sequence[float]) -> list[Array]:
    module = ir.Module.parse(_STEPS.replace("STEP", step))
    converter_api_ext.set_signature(functions(module)["main"], "main", ["x"], ["y0", "y1"])
    return run(export(module), x)


@reproducer
def variable_in_a_later_place() -> bool:
    step = """
      %z = "tfl.neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
      return %next, %z, %x : tensor<i32>, tensor<?xf32>, tensor<?xf32>"""
    return differ(_looped(step, [1.0]), [-1], [1])


@reproducer
def loop_that_grows_from_nothing() -> bool:
    step = """
      %more = arith.constant dense<7.0> : tensor<1xf32>
      %z = "tfl.concatenation"(%x, %more) {axis = 0 : i32, fused_activation_function = "NONE"}
        : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
      return %next, %z, %y : tensor<i32>, tensor<?xf32>, tensor<?xf32>"""
    return is_refused("(WHILE) failed to invoke", _looped, step, [])


def _size(graph: WrittenGraph, kind: str) -> ir.Value:
    """The first size of the argument, a scalar or a vector of one element."""
    sizes = graph.op("tfl.shape", graph.inputs, "2xi32")
    flags = {name: int32(name == "shrink_axis_mask" and kind == "i32") for name in FLAGS}
    bounds = graph.constants([0], [1], [1])
    return graph.op("tfl.strided_slice", [sizes, *bounds], kind, **flags, offset=False)


def _prepared_shape(graph: WrittenGraph, result: ir.Value) -> list[int]:
    """The shape that a result has before the call, of an argument of 3 by 4 elements."""
    interpreter = Interpreter(model_content=graph.returns(result).model())
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], [3, 4])
    interpreter.allocate_tensors()
    return interpreter.get_output_details()[0]["shape"].tolist()


@reproducer
def packed_shape() -> bool:
    graph = WrittenGraph("?x4xf32")
    sizes = [_size(graph, "i32"), graph.constant(2), graph.constant(2)]
    shape = graph.op("tfl.pack", sizes, "3xi32", axis=int32(0), values_count=int32(3))
    return _prepared_shape(graph, graph.op("tfl.reshape", [*graph.inputs, shape], "?x2x2xf32")) != [3, 2, 2]


@reproducer
def slice_of_known_sizes() -> bool:
    graph = WrittenGraph("?x4xf32")
    sizes = graph.op("tfl.concatenation", [_size(graph, "1xi32"), graph.constant([2])], "2xi32", **NONE, axis=int32(0))
    sliced = graph.op("tfl.slice", [*graph.inputs, graph.constant([0, 0]), sizes], "?x2xf32")
    return _prepared_shape(graph, sliced) != [3, 2]


@reproducer
def range_of_floats() -> bool:
    graph = WrittenGraph("?x4xf32")
    end = graph.op("tfl.cast", [_size(graph, "i32")], "f32")
    numbers = graph.op("tfl.range", [graph.constant(0.0), end, graph.constant(1.0)], "?xf32")
    return _prepared_shape(graph, numbers) != [3]


def _lstm(graph: WrittenGraph, x: ir.Value, states: Sequence[ir.Value], shape: str) -> bytes:
    random, none = np.random.default_rng(1), graph.none()
    weights = [graph.constant(random.normal(size=(2, 2))) for _ in range(8)]
    biases = [graph.constant([0.1, 0.2]) for _ in range(4)]
    operands = [x, *weights, *[none] * 3, *biases, none, none, *states, *[none] * 4]
    options = {"fused_activation_function": "TANH", "cell_clip": 0.0, "proj_clip": 0.0, "time_major": False}
    return graph.returns(graph.op("tfl.unidirectional_sequence_lstm", operands, shape, **options)).model()


@reproducer
def constant_state() -> bool:
    graph = WrittenGraph("1x3x2xf32")
    states = [graph.constant([[number] * 2]) for number in (0.5, 0.25)]
    interpreter = Interpreter(model_content=_lstm(graph, graph.inputs[0], states, "1x3x2xf32"))
    first = call(interpreter, _SEQUENCES[:1])
    interpreter.invoke()
    return differ([interpreter.get_tensor(interpreter.get_output_details()[0]["index"])], *first)


@kills
def state_that_is_prepared_in_a_call() -> None:
    graph = WrittenGraph("?x3x2xf32")
    large = graph.op("tfl.greater", [*graph.inputs, graph.constant(-9.0)], "?x3x2xi1")
    places = graph.op("tfl.cast", [graph.op("tfl.where", [large], "?x3xi64")], "?x3xi32")
    found = graph.op("tfl.gather_nd", [*graph.inputs, places], "?xf32")
    x = graph.op("tfl.reshape", [found, graph.constant([-1, 3, 2])], "?x3x2xf32")
    flags = {
        name: int32(2 if name == "shrink_axis_mask" else 5 if name in {"begin_mask", "end_mask"} else 0)
        for name in FLAGS
    }
    bounds = graph.constants([0, 0, 0], [0, 1, 0], [1, 1, 1])
    first = graph.op("tfl.strided_slice", [x, *bounds], "?x2xf32", **flags, offset=False)
    dims = graph.op("tfl.shape", [first], "2xi32")
    zeros = [graph.op("tfl.fill", [dims, graph.constant(number)], "?x2xf32") for number in (0.0, -0.0)]
    states = [graph.op("tfl.add", [each, graph.constant(0.5)], "?x2xf32", **NONE) for each in zeros]
    run(_lstm(graph, x, states, "?x3x2xf32"), np.zeros((5000, 3, 2)))


@alone
def merged_directions() -> bool:
    graph = WrittenGraph("4x3x2xf32")
    random, units = np.random.default_rng(1), 8
    weights = [*[(units, 2)] * 4, *[(units, units)] * 4]
    zeros, identity = graph.constant([0.0] * units), graph.constant(np.eye(units))
    operands = [*graph.inputs]
    for _ in range(2):
        operands += [graph.constant(random.normal(size=size)) for size in weights]
        operands += [*[zeros] * 3, *(graph.constant(random.normal(size=units)) for _ in range(4)), identity, zeros]
    dims = graph.constant([4, units])
    operands += [graph.op("tfl.fill", [dims, graph.constant(0.0)], f"4x{units}xf32") for _ in range(4)]
    operands += [graph.none()] * 9
    options = {"fused_activation_function": "TANH", "cell_clip": 0.0, "proj_clip": 0.0}
    flags = {"merge_outputs": False, "time_major": False}
    results = [f"4x3x{units}xf32"] * 2
    graph.returns(*graph.ops("tfl.bidirectional_sequence_lstm", operands, results, **options, **flags))
    content = graph.model()
    # The dialect has no such op of one output.
    model = schema.ModelT.InitFromPackedBuf(content)
    (subgraph,) = model.subgraphs
    operator = subgraph.operators[-1]
    operator.builtinOptions.mergeOutputs = True
    operator.outputs = subgraph.outputs = [int(operator.outputs[0])]
    subgraph.tensors[operator.outputs[0]].shape = [4, 3, 2 * units]
    model.signatureDefs = []
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return differ(run(bytes(builder.Output()), _SEQUENCES), np.concatenate(run(content, _SEQUENCES), -1))
