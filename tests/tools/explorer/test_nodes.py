"""Node data have the ids of Model Explorer's own graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.layers.layers import Layer, Layers
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.tools.benchmarking.measurement import Latency, Measurement, Memory, OpTime
from litefuse.tools.explorer.node_data import (
    NodeData,
    byte_data,
    error_data,
    op_seconds,
    read_node_data,
    time_data,
    write_node_data,
)
from litefuse.tools.explorer.nodes import explorer_graphs
from tests.litert.runtime.models import Graph, model

# The graphs that Model Explorer makes of files: by file and graph, the id, the label and the results of each node.
# tests/tools/explorer/on_model_explorer.py records and compares them.
RECORDED: dict[str, dict[str, list[tuple[str, str, list[str]]]]] = json.loads(
    Path(__file__).with_name("graphs.json").read_text(encoding="utf-8")
)


def labels(data: NodeData, file: str) -> dict[tuple[str, str, str], Any]:
    """The values by graph, by the label of the node that Model Explorer shows them at, and by the name of its result.

    As Model Explorer does it, a key is first looked up among the names of results, then among the ids of nodes.
    """
    found: dict[tuple[str, str, str], Any] = {}
    for graph_id, content in data.graphs.items():
        nodes = {key: (label, results) for key, label, results in RECORDED[file][graph_id]}
        by_result = {name: key for key, (_, results) in nodes.items() for name in results}
        for key, result in content["results"].items():
            label, results = nodes[by_result.get(str(key), str(key))]
            found[graph_id, label, (results or [""])[0]] = result["value"]
    return found


def many_kinds() -> bytes:
    """A model with a custom op, a composite and a builtin op with constants, in two signatures."""
    first, second, body = Graph(), Graph(), Graph()
    x, w = first.input("x", (2, 3)), first.tensor("w", (3,), value=[1.0, 2.0, 3.0])
    y, z = first.tensor("y", (2, 3)), first.tensor("z", (2, 3))
    out = first.output("out", (2, 3))
    first.builtin("ADD", [x, w], [y])
    first.custom("My<Op>", [y], [z], {"alpha": 0.5, "name": "größe"})
    first.composite("my.composite", [z, w], [out], {"scale": 2.0}, 2)
    a, v, b = second.input("a", (2,)), second.tensor("v", (2,), np.int32, value=[1, 2]), second.output("b", (2,))
    second.builtin("ADD", [a, v], [b])
    p, q, r = body.input("p", (2, 3)), body.input("q", (3,)), body.output("r", (2, 3))
    body.builtin("MUL", [p, q], [r])
    return model(first, second, body, signatures={"serve": 0, "other": 1})


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.tflite"
    path.write_bytes(many_kinds())
    return path


def test_the_graphs_and_ops_of_model_explorer(many: Path, demo_model: Path) -> None:
    for path, name in ((many, "many"), (demo_model, "demo")):
        shown, own = RECORDED[name], explorer_graphs(path)
        assert [each.id for each in own] == [*shown]
        for each in own:
            ids = {key: label for key, label, _ in shown[each.id or ""]}
            assert [*map(str, range(len(each.keys)))] == [*each.keys]
            assert {*each.keys} <= {*ids}
            others = {label for key, label in ids.items() if key not in each.keys}
            assert others <= {"GraphInputs", "GraphOutputs", "pseudo_const"}


def test_bytes_stand_at_the_ops(many: Path, demo_model: Path) -> None:
    # The weight that two ops use counts once.
    assert labels(byte_data(many), "many") == {("serve", "add", "y"): 12, ("other", "add", "b"): 8}
    found = labels(byte_data(demo_model), "demo")
    assert found["embed", "embedding_lookup", "embedding_matmul"] == 20 * 4 * 4
    assert found["serving_default", "conv_2d", "BiasAdd;Conv2D;BiasAdd/ReadVariableOp1"] == (4 * 27 + 4) * 4


def test_times_stand_at_the_ops(many: Path) -> None:
    seconds = {(0, 1): 2.5e-6, (0, 2): 1e-3, (1, 0): 0.0}
    assert labels(time_data(many, seconds), "many") == {
        ("serve", "My<Op>", "z"): 2.5,
        ("serve", "stablehlo_composite", "out"): 1000.0,
        ("other", "add", "b"): 0.0,
    }
    with pytest.raises(LitefuseError, match="subgraph 0 has no op 3: the values are another file's"):
        time_data(many, {(0, 3): 1.0})
    with pytest.raises(LitefuseError, match="no op -1"):
        time_data(many, {(0, -1): 1.0})


def op(subgraph: int, index: int, seconds: float | None, runs: float = 1.0) -> OpTime:
    return OpTime(subgraph, index, "ADD", "y", "", seconds, runs, "LiteRT")


def measurement(*ops: OpTime) -> Measurement:
    return Measurement("m", "s", (), True, 1, True, 0.0, 0.0, Latency.of([1.0]), Memory(1), 1.0, ops)


def test_the_times_of_a_benchmark() -> None:
    first = measurement(op(0, 0, 0.5), op(0, 1, None), op(0, 2, 0.0, runs=0.0), op(2, 0, 0.1))
    second = measurement(op(1, 0, 0.25), op(2, 0, 0.2), op(0, 3, None))
    assert op_seconds([first, second]) == ({(0, 0): 0.5, (2, 0): 0.2, (1, 0): 0.25}, 2)
    assert op_seconds([]) == ({}, 0)


LAYERS = (
    Layer("y", "ADD", error=1e-6),
    Layer("z", "My<Op>", error=float("inf")),
    Layer("out", "my.composite"),
)


def test_errors_stand_at_the_ops_and_are_within_json(many: Path) -> None:
    data = error_data(many, Layers("serve", 1, LAYERS), 1e-4)
    assert labels(data, "many") == {("serve", "add", "y"): 1e-6, ("serve", "My<Op>", "z"): "inf"}
    content = json.loads(data.to_json(), parse_constant=pytest.fail)
    assert [each["value"] for each in content["serve"]["thresholds"][:2]] == [1e-4, 1e-3]
    assert content["serve"]["results"]["1"]["bgColor"] == content["serve"]["thresholds"][2]["bgColor"]


def test_layers_of_another_file(many: Path) -> None:
    with pytest.raises(LitefuseError, match="the layers that were compared are not those of this file"):
        error_data(many, Layers("serve", 1, LAYERS[1:]), 1e-4)


def split() -> bytes:
    graph = Graph()
    axis, x = graph.tensor("axis", (), np.int32, value=0), graph.input("x", (2, 3))
    parts = [graph.output(name, (1, 3)) for name in "ab"]
    graph.builtin("SPLIT", [axis, x], parts, numSplits=2)
    return model(graph, signatures={"serve": 0})


def test_the_worst_of_several_results_counts(tmp_path: Path) -> None:
    path = tmp_path / "split.tflite"
    path.write_bytes(split())
    for errors in ((1e-3, 2.0), (2.0, 1e-3)):
        layers = tuple(Layer(name, "SPLIT", error=error) for name, error in zip("ab", errors, strict=True))
        data = error_data(path, Layers("serve", 1, layers), 1e-4)
        assert [each["value"] for each in data.graphs["serve"]["results"].values()] == [2.0]


def named_like_ids() -> Graph:
    """Ops 0, 1 and 2, and tensors that are called 0 and 1: the result of op 1 is called 0."""
    graph = Graph()
    x, y, z = graph.input("1", (2,)), graph.tensor("first", (2,)), graph.tensor("0", (2,))
    graph.builtin("ABS", [x], [y])
    graph.builtin("NEG", [y], [z])
    graph.builtin("EXP", [z], [graph.output("last", (2,))])
    return graph


def test_names_that_are_ids_of_other_nodes(tmp_path: Path) -> None:
    path = tmp_path / "digits.tflite"
    path.write_bytes(model(named_like_ids(), signatures={"serve": 0}))
    data = time_data(path, {(0, op): float(op) for op in range(3)})
    assert labels(data, "digits") == {
        ("serve", "abs", "first"): 0.0,
        ("serve", "neg", "0"): 1e6,
        ("serve", "exp", "last"): 2e6,
    }


def test_subgraphs_of_one_name_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "twice.tflite"
    one, other = Graph(), Graph()
    for graph in (one, other):
        graph.builtin("ABS", [graph.input("x", (2,))], [graph.output("y", (2,))])
    # Both without a name, and a signature that is called as the other subgraph.
    path.write_bytes(model(one, other, signatures={"subgraph_1": 0}))
    data = time_data(path, {(0, 0): 1.0, (1, 0): 1.0})
    assert (data.graphs, data.left_out) == ({}, 2)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    for content, message in ((b"", "the file is empty"), (b"nonsense" * 9, "not a LiteRT model")):
        (tmp_path / "m.tflite").write_bytes(content)
        with pytest.raises(InterpreterError, match=message):
            byte_data(tmp_path / "m.tflite")
    with pytest.raises(InterpreterError, match="no such file"):
        byte_data(tmp_path / "absent.tflite")
    cut = many_kinds()[:-200]
    (tmp_path / "m.tflite").write_bytes(cut)
    with pytest.raises(InterpreterError):
        byte_data(tmp_path / "m.tflite")


def test_node_data_that_are_written_and_read(tmp_path: Path, many: Path) -> None:
    folder = tmp_path / "data"
    (written,) = write_node_data(folder, [byte_data(many)])
    assert written == folder / "bytes.json"
    assert read_node_data(written).graphs == byte_data(many).graphs
    assert read_node_data(written).name == "bytes"
    with pytest.raises(LitefuseError, match="node data cannot be written"):
        write_node_data(written, [])  # a file is in the folder's place
    for content in ("[1]", "{", "[" * 100_000, "\x00", '{"main": {"results": {"0": {"value": NaN}}}}'):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(LitefuseError, match=r"not (node data|valid JSON)"):
            read_node_data(tmp_path / "bad.json")
    with pytest.raises(LitefuseError, match="no such file"):
        read_node_data(tmp_path / "absent.json")
