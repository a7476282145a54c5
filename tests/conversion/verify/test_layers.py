"""What layers are compared with, and how they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from google.protobuf import text_format

from litefuse.conversion.verify.layers import model_values
from litefuse.conversion.verify.layers.flat_graph import FlatGraph, flatten
from litefuse.conversion.verify.layers.model_values import Observation, ObservationJob, observe_model, values_file
from litefuse.conversion.verify.layers.observed_copy import ObservedCopy, layer_graph
from litefuse.conversion.verify.layers.original_values import same_order, value_node
from litefuse.conversion.verify.model_process import ModelJob
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.frontends.saved_model.messages import GraphDef, OpDef
from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.litert.inputs.model_inputs import ModelInputs
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

if TYPE_CHECKING:
    from pathlib import Path

DEPTHS = {"a": 1, "a/b": 2, "c": 5, "c_1": 3, "d": 9, "d_1": 4, "d_11": 2}


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("a/b", ["a/b"]),
        ("a;c;a/b", ["c", "a/b", "a"]),
        ("c;nothing;a", ["c", "a"]),
        ("a;c;", ["c", "a"]),
        ("a; c2", ["c", "a"]),
        ("c_1", ["c_1"]),
        ("c_15", ["c_1"]),
        ("d_11", ["d_11"]),
        ("d_12", ["d_1"]),
        ("d_112", ["d_11"]),
        ("c:3", ["c"]),
        ("", []),
        (";", []),
        ("123", []),
        ("größe", []),
    ],
)
def test_the_nodes_of_a_name(name: str, nodes: list[str]) -> None:
    assert value_node(name, DEPTHS) == nodes


@pytest.mark.parametrize(
    ("shape", "other", "same"),
    [
        ([2, 3], [2, 3], True),
        ([1, 2, 1, 3], [2, 3], True),
        ([2, 12], [2, 3, 4], True),
        ([24], [2, 3, 4], True),
        ([], [1, 1], True),
        ([2, 3], [3, 2], False),
        ([1, 4, 4, 3], [1, 3, 4, 4], False),
        ([2, 3], [2, 4], False),
        ([6], [7], False),
        ([0, 3], [0], True),
        ([0, 3], [3], False),
    ],
)
def test_elements_in_the_same_order(shape: list[int], other: list[int], same: bool) -> None:
    assert same_order(shape, other) is same
    assert same_order(other, shape) is same


CALLS = """
node { name: "x" op: "Placeholder" }
node { name: "first" op: "StatefulPartitionedCall" input: "x" input: "x"
       attr { key: "f" value { func { name: "outer" } } } }
node { name: "second" op: "outer" input: "first:1" input: "x" input: "^first" }
node { name: "sum" op: "AddV2" input: "second" input: "second:1" }
node { name: "wait" op: "NoOp" input: "^second" }
library {
  function {
    signature { name: "outer" input_arg { name: "a" } input_arg { name: "b" }
                output_arg { name: "p" } output_arg { name: "q" } }
    node_def { name: "call" op: "PartitionedCall" input: "parts:output:1" input: "a"
               attr { key: "f" value { func { name: "inner" } } }
               attr { key: "Tout" value { list { type: DT_FLOAT } } } }
    node_def { name: "parts" op: "Split" input: "axis:output:0" input: "double:z:0"
               attr { key: "num_split" value { i: 2 } } }
    node_def { name: "axis" op: "Const" }
    node_def { name: "double" op: "Mul" input: "b" input: "b" attr { key: "_class" value { s: "loc:@axis" } } }
    node_def { name: "effect" op: "Assert" input: "a" }
    ret { key: "p" value: "call:output:0" } ret { key: "q" value: "b" }
    control_ret { key: "effect" value: "effect" }
  }
  function {
    signature { name: "inner" input_arg { name: "a" } input_arg { name: "b" } output_arg { name: "r" } }
    node_def { name: "sum" op: "AddV2" input: "a" input: "b" }
    ret { key: "r" value: "sum:z:0" }
  }
}
"""


def flat(text: str) -> FlatGraph:
    return flatten(text_format.Parse(text, GraphDef()), definition)


def definition(op: str) -> OpDef:
    found = op_registry().get(op)
    assert found is not None
    return found


def test_bodies_in_the_place_of_calls() -> None:
    graph = flat(CALLS)
    nodes: dict[str, Any] = {node.name: node for node in graph.definition.node}
    assert not {node.op for node in nodes.values()} & {"PartitionedCall", "StatefulPartitionedCall", "outer", "inner"}
    inner = graph.nodes["sum"]
    assert len(inner) == 3
    assert len(graph.nodes["parts"]) == len(graph.nodes["double"]) == 2
    first, second = graph.nodes["parts"]
    # The same tensor twice stays twice; an argument is what the caller gives.
    assert list(nodes[graph.nodes["double"][0]].input) == ["x:0", "x:0"]
    assert list(nodes[first].input)[:2] == [f"{graph.nodes['axis'][0]}:0", f"{graph.nodes['double'][0]}:0"]
    sums = {nodes[name].input[0]: name for name in inner}
    assert {f"{first}:1", f"{second}:1"} <= sums.keys()
    # q of the first call is its argument, x: so that is a of the second.
    assert nodes[sums[f"{second}:1"]].input[1] == "x:0"
    assert list(nodes["sum"].input) == [f"{sums[f'{second}:1']}:0", "x:0"]
    assert graph.tensor("second:0") == f"{sums[f'{second}:1']}:0"
    assert graph.tensor("sum:0") == "sum:0"
    assert "_class" not in nodes[graph.nodes["double"][0]].attr
    # What waits for a call waits for its effects, and what is in the second waits for the first.
    ends = {name: set(nodes[graph.ends[name]].input) for name in ("first", "second")}
    assert f"^{graph.nodes['effect'][0]}" in ends["first"]
    assert list(nodes["wait"].input) == [f"^{graph.ends['second']}"]
    (start,) = [each[1:] for each in nodes[graph.nodes["axis"][1]].input]
    assert list(nodes[start].input) == [f"^{graph.ends['first']}"]
    assert graph.depths["sum"] > graph.depths[inner[0]] > graph.depths[first] > graph.depths["x"]


def test_a_function_that_calls_itself_is_left() -> None:
    graph = flat(
        """node { name: "x" op: "Placeholder" } node { name: "y" op: "f" input: "x" }
        library { function { signature { name: "f" input_arg { name: "a" } output_arg { name: "r" } }
          node_def { name: "again" op: "f" input: "a" } ret { key: "r" value: "again:r:0" } } }"""
    )
    assert [node.op for node in graph.definition.node].count("f") == 1


def test_loops_and_branches_of_tensorflow_1() -> None:
    graph = flat(
        """
        node { name: "x" op: "Placeholder" } node { name: "p" op: "Less" input: "x" input: "x" }
        node { name: "switch" op: "Switch" input: "x" input: "p" }
        node { name: "pivot" op: "Identity" input: "switch:1" }
        node { name: "one" op: "Const" input: "^pivot" }
        node { name: "then" op: "AddV2" input: "switch:1" input: "one" }
        node { name: "merge" op: "Merge" input: "switch" input: "then" }
        node { name: "enter" op: "Enter" input: "merge" }
        node { name: "loop" op: "Merge" input: "enter" input: "next" }
        node { name: "go" op: "LoopCond" input: "loop" }
        node { name: "turn" op: "Switch" input: "loop" input: "go" }
        node { name: "body" op: "Neg" input: "turn:1" }
        node { name: "next" op: "NextIteration" input: "body" }
        node { name: "exit" op: "Exit" input: "turn" }
        node { name: "y" op: "Neg" input: "exit" }
        """
    )
    inside = {"switch", "pivot", "one", "then", "enter", "loop", "go", "turn", "body", "next"}
    assert graph.conditional == inside
    assert graph.depths["y"] > graph.depths["exit"] > graph.depths["merge"] > graph.depths["x"]


def random_call(model: Path) -> Call:
    key, inputs = next(iter(ModelInputs.of_file(model).calls(batch=1, size=1).items()))
    return Call(key, inputs)


def test_a_copy_with_more_outputs(demo_model: Path, tmp_path: Path) -> None:
    call = random_call(demo_model)
    graph = layer_graph(str(demo_model), call.signature)
    inside = [each.index for each in graph.tensors if each.readable and each.index not in graph.outputs]
    assert inside
    expected = Interpreter(demo_model).get_signature_runner(call.signature)(**call.inputs)
    for model in (str(demo_model), demo_model.read_bytes()):
        copy = ObservedCopy(model, tmp_path / "copy.tflite", graph.subgraph)
        for extra in (inside, inside[:1], []):
            copy.set_outputs([*graph.outputs, *extra])
            assert layer_graph(str(copy.path), call.signature).outputs == (*graph.outputs, *extra)
            found = Interpreter(copy.path).get_signature_runner(call.signature)(**call.inputs)
            assert {name: value.tobytes() for name, value in found.items()} == {
                name: value.tobytes() for name, value in expected.items()
            }
        assert copy.path.stat().st_size < demo_model.stat().st_size + 16


def with_weights_behind(content: bytes) -> bytes:
    """A model whose buffers are behind the flatbuffer, as in files of more than 2 GB."""
    model: Any = schema.ModelT.InitFromPackedBuf(content, 0)
    buffers = [each for each in model.buffers if each.data is not None and len(each.data)]
    blobs = [bytes(bytearray(each.data)) for each in buffers]
    packed, weights, begin = b"", b"", 2**20
    for _ in range(2):  # the first time for the size
        weights = b""
        for buffer, blob in zip(buffers, blobs, strict=True):
            buffer.data, buffer.offset, buffer.size = None, begin + len(weights), len(blob)
            weights += blob + bytes(-len(blob) % 16)
        builder: Any = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        packed = bytes(builder.Output())
        packed += bytes(-len(packed) % 16)
        begin = len(packed)
    return packed + weights


def test_weights_behind_the_flatbuffer_are_moved(demo_model: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(with_weights_behind(demo_model.read_bytes()))
    call = random_call(model)
    graph = layer_graph(str(model), call.signature)
    runs: list[Arrays] = []
    copy = ObservedCopy(str(model), tmp_path / "copy.tflite", graph.subgraph)
    for each in (demo_model, model, copy.path, copy.path):
        copy.set_outputs([*graph.outputs, *(tensor.index for tensor in graph.tensors if tensor.readable)])
        runs.append(Interpreter(each).get_signature_runner(call.signature)(**call.inputs))
    assert len({tuple(value.tobytes() for value in outputs.values()) for outputs in runs}) == 1
    assert copy.path.stat().st_size == model.stat().st_size + 4096


def observed(model: Path, folder: Path) -> Observation:
    return observe_model(ObservationJob(ModelJob(str(model)), (random_call(model),), folder), lambda _: None)


def test_looking_that_changes_the_outputs(demo_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a delegate fuses ops otherwise: the tensor that does it is found, and all others are seen without it."""
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})  # which the job replaces, in this process
    calm = observed(demo_model, tmp_path)
    assert calm.seen
    assert not any(each.change for each in calm.seen.values())
    values = {index: np.load(values_file(tmp_path, index)) for index in calm.seen}
    disturbing = [index for index in calm.seen if index not in calm.graph.outputs][-1]
    run: Any = model_values._Looking._run  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    def disturbed(self: Any, model: str | bytes) -> tuple[Interpreter, Arrays]:
        interpreter, outputs = run(self, model)
        if disturbing in layer_graph(model, random_call(demo_model).signature).outputs[1:]:
            outputs = {name: value + np.ones_like(value) for name, value in outputs.items()}
        return interpreter, outputs

    monkeypatch.setattr(model_values._Looking, "_run", disturbed)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    shaken = observed(demo_model, tmp_path)
    assert {index: each.change > 0 for index, each in shaken.seen.items()} == {
        index: index == disturbing for index in calm.seen
    }
    for index, value in values.items():
        np.testing.assert_array_equal(np.load(values_file(tmp_path, index)), value)


KERNEL = """
import litefuse

@litefuse.custom_op("Doubled")
class Doubled(litefuse.CustomOp):
    def prepare(self, x):
        return x

    def invoke(self, inputs, outputs):
        outputs[0][...] = inputs[0] * 2
"""


def test_kernels_of_modules_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    kernel, graph = tmp_path / "kernel.py", Graph()
    kernel.write_text(KERNEL)
    x, doubled = graph.input("x", [3]), graph.tensor("doubled", [3])
    graph.custom("Doubled", [x], [doubled])
    graph.builtin("NEG", [doubled], [graph.output("y", [3])])
    path = saved(tmp_path / "model.tflite", graph)
    call = Call(random_call(path).signature, {"x": np.array([1, -2, 3], np.float32)})
    job = ObservationJob(ModelJob(str(path), kernel_modules=(str(kernel),)), (call,), tmp_path)
    assert {*observe_model(job, lambda _: None).seen} >= {doubled}
    np.testing.assert_array_equal(np.load(values_file(tmp_path, doubled)), [2, -4, 6])
