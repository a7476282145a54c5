"""The operators of a LiteRT model with their options, and the bytes of its layers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.facts import FileSizes, LayerSize
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.inspection.operators import operators_of
from tests.litert.runtime.models import Graph, model


def test_names_of_the_schema() -> None:
    graph = Graph()
    x, y, z = graph.input("x", (1, 4, 4, 2)), graph.tensor("net/conv/convolution", (1, 4, 4, 3)), graph.output("z", ())
    weights = graph.tensor("w", (3, 3, 3, 2), value=np.zeros((3, 3, 3, 2)))
    graph.builtin("CONV_2D", [x, weights, -1], [y], strideW=2, padding=schema.Padding.VALID, fusedActivationFunction=1)
    graph.builtin("CAST", [y], [z], inDataType=schema.TensorType.FLOAT32, outDataType=77)
    conv, cast = operators_of(model(graph))
    assert (conv.name, conv.kind, conv.inputs, conv.outputs, conv.version) == (
        "CONV_2D",
        "builtin",
        (0, 3, -1),
        (1,),
        1,
    )
    assert conv.options == {
        "padding": "VALID",
        "stride_w": 2,
        "stride_h": 0,
        "fused_activation_function": "RELU",
        "dilation_w_factor": 1,
        "dilation_h_factor": 1,
        "quantized_bias_type": "FLOAT32",
    }
    assert (cast.index, cast.options) == (1, {"in_data_type": "FLOAT32", "out_data_type": 77})


def test_options_of_all_kinds() -> None:
    graph = Graph()
    x = graph.input("x", (2,))
    values = [graph.tensor(str(number), (2,)) for number in range(5)]
    graph.custom("Mine", [x], [values[0]], {"sizes": [1, 2], "scale": float("inf"), "raw": b"\x01"})
    graph.custom("Raw", [values[0]], [values[1]], b"\x01\xff")
    graph.custom("Large", [values[0]], [values[2]], bytes(100))
    graph.custom("None", [values[0]], [values[3]])
    graph.composite("odml.twice", [values[0]], [values[4]], {"k": 0.1}, 1)
    body = Graph()
    a, b = body.input("a", (2,)), body.output("b", (2,))
    body.builtin("LEAKY_RELU", [a], [b], alpha=0.2)
    mine, raw, large, none, composite, leaky = operators_of(model(graph, body))
    assert mine.options == {"sizes": [1, 2], "scale": "inf", "raw": "0x01"}
    assert raw.options == {"bytes": "0x01ff"}
    assert large.options["bytes"].startswith(f"0x{'00' * 64}... 100 bytes with the SHA-256 cd00e292")
    assert none.options == {}
    assert (composite.kind, composite.composite, composite.callees) == ("composite", "odml.twice", (1,))
    assert composite.options["composite_attributes"] == {"k": 0.1}
    assert (leaky.subgraph, leaky.index, leaky.options) == (1, 0, {"alpha": 0.2})  # the decimal of the float32
    assert json.loads(json.dumps([each.options for each in (mine, raw, large, composite)], allow_nan=False))


def test_callees_in_the_order_of_the_options() -> None:
    graph, cond, body = Graph(), Graph(), Graph()
    x, y = graph.input("x", ()), graph.output("y", ())
    graph.builtin("WHILE", [x], [y], condSubgraphIndex=2, bodySubgraphIndex=1)
    body.builtin("NEG", [body.input("a", ())], [body.output("b", ())])
    cond.builtin("EQUAL", [c := cond.input("c", ()), c], [cond.output("d", (), np.bool_)])
    loop, *_ = operators_of(model(graph, body, cond))
    assert loop.callees == (2, 1)


def named(*names: str) -> list[str]:
    """The layers of ops in a row, whose outputs have these names, after the first's constant ``net/first/w``."""
    graph = Graph()
    x, w = graph.input("x", (2,)), graph.tensor("net/first/MatMul/ReadVariableOp", (2,), value=[1, 2])
    for number, name in enumerate(names):
        y = graph.tensor(name, (2,))
        graph.builtin("MUL", [x, w] if not number else [x, x], [y])
        x = y
    return [each.layer for each in operators_of(model(graph))]


def test_layers_of_names_constants_and_neighbours() -> None:
    assert named("net/second/add", "net/third/mul") == ["net/second", "net/third"]
    assert named("StatefulPartitionedCall:0", "lstm_loop3") == ["net/first", "net/first"]


def test_layers_of_composites_and_of_shared_constants() -> None:
    graph, first, second = Graph(), Graph(), Graph()
    x, shared = graph.input("x", (2,)), graph.tensor("net/norm/Const", (2,), value=[1, 2])
    a, b, c = (graph.tensor(name, (2,)) for name in ("composite", "composite1", "StatefulPartitionedCall:0"))
    graph.composite("norm", [x, shared], [a], {}, 1)
    graph.composite("norm", [a, shared], [b], {}, 2)
    graph.builtin("ADD", [b, shared], [c])
    for body, name in ((first, "m"), (second, "net/last/add")):
        y = body.tensor(name, (2,))
        body.builtin("ADD", [body.input("a", (2,)), body.input("b", (2,))], [y])
        body.outputs.append(y)
    content = edited(model(graph, first, second), "net/first/add_2.norm.decomposition")
    assert [each.layer for each in operators_of(content)] == ["net/first", "net/last", "net/last", "", "net/last"]


def edited(content: bytes, name: str) -> bytes:
    """The content with another name of the second subgraph."""
    loaded: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    loaded.subgraphs[1].name = name
    return packed(loaded)


def test_bytes_by_layer() -> None:
    graph = Graph()
    x, y, z = graph.input("x", (8,)), graph.tensor("net/a/add", (8,)), graph.output("net/b/add", (8,))
    first = graph.tensor("arith.constant", (8,), value=np.arange(8))
    small = graph.tensor("net/c/Const", (), np.int8, value=3)
    graph.builtin("ADD", [x, first], [y])
    graph.builtin("ADD", [y, first], [z])
    shared = graph.tensor("net/d/Const", (8,), value=np.arange(8))
    content = model(graph)
    loaded: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    assert shared != small
    facts = facts_of(content)
    assert facts.sizes == FileSizes(
        (LayerSize("net/a", "float32", 32), LayerSize("net/d", "float32", 32), LayerSize("net/c", "int8", 1)),
        metadata=0,
        unread=0,
        structure=len(content) - 65,
    )
    assert facts.sizes is not None
    assert facts.sizes.total == facts.size == len(content)
    # Another tensor of the same buffer, metadata, and a buffer that nothing reads.
    loaded.subgraphs[0].tensors[shared].buffer = loaded.subgraphs[0].tensors[first].buffer
    loaded.metadata = [schema.MetadataT()]
    loaded.metadata[0].name, loaded.metadata[0].buffer = "note", len(loaded.buffers)
    loaded.buffers.append(schema.BufferT())
    loaded.buffers[-1].data = list(b"hello")
    facts = facts_of(packed(loaded))
    assert facts.sizes is not None
    assert facts.sizes.layers == (LayerSize("net/a", "float32", 32), LayerSize("net/c", "int8", 1))
    assert (facts.sizes.metadata, facts.sizes.unread, facts.sizes.total) == (5, 32, facts.size)
    by_name = {each.name: each for each in facts.tensors}
    assert [by_name[each].is_constant for each in ("x", "net/a/add", "arith.constant", "net/d/Const")] == [0, 0, 1, 1]
    assert by_name["arith.constant"].buffer == by_name["net/d/Const"].buffer
    assert [each.index for each in facts.tensors] == list(range(6))


def packed(loaded: Any) -> bytes:
    import flatbuffers

    builder = flatbuffers.Builder(1024)
    builder.Finish(loaded.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def test_buffers_of_the_same_bytes_count_once() -> None:
    graph = Graph()
    x, y = graph.input("x", (16,)), graph.output("y", (16,))
    first = graph.tensor("a/Const", (16,), value=np.zeros(16))
    second = graph.tensor("b/Const", (16,), value=np.zeros(16))
    graph.builtin("ADD", [x, first], [y])
    graph.builtin("ADD", [x, second], [y])
    loaded: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model(graph), 0))
    for each in loaded.buffers[1:]:  # both behind the flatbuffer, the second from the middle of the first on
        each.data, each.size = None, 64
    content = packed(loaded)
    start = len(content) + -len(content) % 16
    loaded.buffers[1].offset, loaded.buffers[2].offset = start, start + 32
    content = packed(loaded).ljust(start, b"\0") + bytes(96)
    sizes = facts_of(content).sizes
    assert sizes is not None
    assert sizes.layers == (LayerSize("a", "float32", 64), LayerSize("b", "float32", 32))
    assert sizes.total == len(content)


def test_constants_without_elements() -> None:
    graph = Graph()
    x, y = graph.input("x", (0,)), graph.output("y", (0,))
    empty = graph.tensor("empty", (0, 3), np.int32, value=np.zeros((0, 3)))
    graph.builtin("ADD", [x, x], [y])
    assert [each.is_constant for each in facts_of(model(graph)).tensors] == [False, False, True]
    assert facts_of(model(graph)).tensors[empty].size == 0


def test_damaged_content_is_refused() -> None:
    graph = Graph()
    x, y = graph.input("x", (1, 4)), graph.output("y", (2, 2))
    graph.builtin("RESHAPE", [x], [y], newShape=[2, 2])
    content = model(graph)
    assert operators_of(content)[0].options == {"new_shape": [2, 2]}
    refused = 0
    for size in range(0, len(content), 5):
        try:
            operators_of(content[:size])
        except InterpreterError:
            refused += 1
    assert refused > 50


def test_vectors_shared_by_many_operators_are_limited() -> None:
    graph = Graph()
    x = graph.input("x", (1,))
    for number in range(40):
        y = graph.tensor(str(number), (1,))
        graph.builtin("RESHAPE", [x], [y], newShape=[1] * 64)
        x = y
    content = bytearray(model(graph))
    root = schema.Model.GetRootAs(content, 0).Subgraphs(0)
    assert len(operators_of(bytes(content))) == 40
    tables = [root.Operators(number).BuiltinOptions() for number in range(40)]
    for table in tables:  # all vectors claim to go on to the end of the file
        vector = table.Vector(table.Offset(4)) - 4
        content[vector : vector + 4] = ((len(content) - vector - 4) // 4).to_bytes(4, "little")
    with pytest.raises(InterpreterError, match="damaged"):
        operators_of(bytes(content))
