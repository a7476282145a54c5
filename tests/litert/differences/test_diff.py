"""Differences of LiteRT files that were changed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from click.testing import CliRunner

import litefuse
from litefuse.errors import InterpreterError
from litefuse.litert.differences.alignment import moved
from litefuse.litert.differences.changes import NameChange, OperatorChange, SizeChange, ValueChange
from litefuse.litert.differences.model_diff import answer
from litefuse.tools.cli.app import app
from tests.litert.differences.edited import edited
from tests.litert.runtime.models import Graph, model

WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)


def network(*, before: bool = False, after: bool = False) -> bytes:
    """``relu(x w1) w2``, with a negation before or after the first product."""
    graph = Graph()
    x = graph.input("x", (1, 4))
    first, second = (
        graph.tensor("net/a/w", (3, 4), value=WEIGHTS),
        graph.tensor("net/b/w", (2, 3), value=np.ones((2, 3))),
    )
    if before:
        graph.builtin("NEG", [x], [x := graph.tensor("net/neg/Neg", (1, 4))])
    y = graph.tensor("net/a/MatMul", (1, 3))
    graph.builtin("FULLY_CONNECTED", [x, first, -1], [y], fusedActivationFunction=1)
    if after:
        graph.builtin("NEG", [y], [y := graph.tensor("net/neg/Neg", (1, 3))])
    z = graph.output("net/b/MatMul", (1, 2))
    graph.builtin("FULLY_CONNECTED", [y, second, -1], [z])
    return model(graph, signatures={"serve": 0})


def named(tensor: int, name: str) -> Callable[[Any], None]:
    """Gives a tensor another name."""

    def change(loaded: Any) -> None:
        loaded.subgraphs[0].tensors[tensor].name = name

    return change


def of(change: Callable[[Any], object]) -> litefuse.ModelDiff:
    return litefuse.diff(network(), edited(network(), change))


def test_the_same_bytes() -> None:
    found = litefuse.diff(network(), network())
    assert (found.verdict, found.categories, found.same_computation) == ("identical", (), True)
    assert str(found).splitlines()[0] == "Identical: the same bytes"


def test_another_layout() -> None:
    def reorder(loaded: Any) -> None:
        graph = loaded.subgraphs[0]
        count = len(graph.tensors)
        graph.tensors.reverse()
        for each in (graph, *graph.operators):
            each.inputs = [index if index < 0 else count - 1 - index for index in each.inputs]
            each.outputs = [count - 1 - index for index in each.outputs]
        for each in (*loaded.signatureDefs[0].inputs, *loaded.signatureDefs[0].outputs):
            each.tensorIndex = count - 1 - each.tensorIndex
        loaded.buffers[1], loaded.buffers[2] = loaded.buffers[2], loaded.buffers[1]
        for each in graph.tensors:
            each.buffer = {1: 2, 2: 1}.get(each.buffer, each.buffer)

    found = of(reorder)
    assert found.before.sha256 != found.after.sha256
    assert (found.verdict, found.categories, found.same_weights) == ("same", (), 2)
    assert answer(found) == "The same computation in another layout: nothing else differs"


def test_names_alone() -> None:
    found = of(named(3, "another"))
    assert found.names == (NameChange("net/a/MatMul", "another"),)
    assert (found.verdict, found.categories, found.same_computation) == ("differs", ("names",), True)
    assert answer(found) == "The same computation; differs in names of tensors (1)"


def test_an_op_that_was_added() -> None:
    found = litefuse.diff(network(), network(before=True))
    added, changed = sorted(found.operators, key=lambda each: each.change)
    assert added == OperatorChange("added", "NEG", "net/neg", "net/neg/Neg", place_after=(0, 0))
    assert changed.values == (ValueChange("input 0", "x", "net/neg/Neg"),)
    assert (changed.place_before, changed.place_after) == ((0, 0), (0, 1))
    assert found.op_counts == (ValueChange("NEG", 0, 1),)
    assert found.categories == ("operators", "tensors")
    back = litefuse.diff(network(before=True), network())
    assert [each.change for each in back.operators] == ["removed", "changed"]


def test_an_op_whose_name_another_one_has() -> None:
    def reduced(*, reshapes: bool) -> bytes:
        graph = Graph()
        x, axes = graph.input("x", (1, 4)), graph.tensor("axes", (1,), np.int32, value=[1])
        y = graph.tensor("net/a/Mean" if reshapes else "net/b/Reshape", (1,))
        graph.builtin("MEAN", [x, axes], [y])
        if reshapes:
            graph.builtin("SQUEEZE", [y], [y := graph.tensor("net/b/Reshape", (1,))])
        graph.builtin("NEG", [y], [graph.output("net/c/Neg", (1,))])
        return model(graph)

    found = {each.name: each for each in litefuse.diff(reduced(reshapes=True), reduced(reshapes=False)).operators}
    assert found["SQUEEZE"].change == "removed"
    assert found["NEG"].values == (ValueChange("input 0", "SQUEEZE 1, output 0", "MEAN 0, output 0"),)


def test_an_op_in_another_place() -> None:
    found = litefuse.diff(network(before=True), network(after=True))
    changed = {each.result: each.values for each in found.operators}
    assert changed["net/a/MatMul"] == (ValueChange("input 0", "net/neg/Neg", "x"),)
    assert changed["net/neg/Neg"] == (ValueChange("input 0", "x", "net/a/MatMul"),)
    (tensor,) = found.tensors
    assert tensor.values == (ValueChange("shape", [1, 4], [1, 3]),)


def test_options_version_and_kind() -> None:
    def change(loaded: Any) -> None:
        first, second = loaded.subgraphs[0].operators
        first.builtinOptions.fusedActivationFunction = schema.ActivationFunctionType.RELU6
        loaded.operatorCodes[0].version = 5
        loaded.operatorCodes.append(schema.OperatorCodeT())
        loaded.operatorCodes[1].builtinCode = loaded.operatorCodes[1].deprecatedBuiltinCode = 32
        loaded.operatorCodes[1].customCode = "Mine"
        second.opcodeIndex, second.builtinOptionsType, second.builtinOptions = 1, 0, None

    first, second = of(change).operators
    assert first.values == (
        ValueChange("version", 1, 5),
        ValueChange("fused_activation_function", "RELU", "RELU6"),
    )
    assert second.values[0] == ValueChange("op", "FULLY_CONNECTED", "Mine")


def test_ops_with_the_same_change_are_shown_together() -> None:
    def chain(kind: int) -> bytes:
        graph = Graph()
        x = graph.input("x", (2,))
        for number in range(5):
            y = graph.tensor(f"net/layer{number}/Add", (2,))
            graph.builtin("ADD", [x, x], [y], fusedActivationFunction=kind)
            x = y
        return model(graph)

    lines = str(litefuse.diff(chain(0), chain(1))).splitlines()
    assert lines[6:12] == [
        "Ops: 5 changed",
        "  ~  ADD 5 of them: #0 -> #0, ...",
        "       in net/layer0",
        "       in net/layer1",
        "       in net/layer2",
        "       and 2 more",
    ]
    assert lines[12] == "       fused_activation_function: NONE -> RELU"


def test_order_counts_for_state_alone() -> None:
    def branches(swapped: bool, op: str) -> bytes:
        graph = Graph()
        x = graph.input("x", (2,))
        for name in ("net/b/Op", "net/a/Op") if swapped else ("net/a/Op", "net/b/Op"):
            graph.builtin(op, [x], [graph.tensor(name, (2,))])
        graph.outputs += [1, 2] if not swapped else [2, 1]
        return model(graph)

    found = litefuse.diff(branches(False, "NEG"), branches(True, "NEG"))
    assert (found.categories, found.same_computation) == (("order",), True)
    (change,) = found.operators
    assert change.change == "moved"
    assert answer(found) == "The same computation; differs in the order of ops"
    found = litefuse.diff(branches(False, "RANDOM_UNIFORM"), branches(True, "RANDOM_UNIFORM"))
    assert not found.same_computation
    assert [each.what for each in found.operators[0].values] == ["order"]


def test_moved_ops_are_as_few_as_explain_it() -> None:
    assert moved({0: 0, 1: 1, 2: 2}) == set()
    assert moved({0: 3, 1: 0, 2: 1, 3: 2}) == {0}
    assert moved({}) == set()


def test_tensors() -> None:
    def change(loaded: Any) -> None:
        tensor = loaded.subgraphs[0].tensors[3]
        tensor.shapeSignature, tensor.quantization = [-1, 3], schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [0.5], [3]

    found = of(change)
    (tensor,) = found.tensors
    assert (tensor.name, tensor.layer, tensor.place_before) == ("net/a/MatMul", "net/a", (0, 3))
    assert tensor.values == (
        ValueChange("shape", [1, 3], [None, 3]),
        ValueChange("quantization", None, {"scales": 1, "scale": 0.5, "zero_point": 3.0}),
    )
    assert "  shape: [1, 3] -> [?, 3]" in str(found)
    assert "  quantization: none -> scale 0.5, zero point 3" in str(found)


def test_scales_of_the_same_range_differ() -> None:
    def scaled(scales: list[float]) -> bytes:
        def change(loaded: Any) -> None:
            loaded.subgraphs[0].tensors[1].quantization = schema.QuantizationParametersT()
            loaded.subgraphs[0].tensors[1].quantization.scale = scales

        return edited(network(), change)

    found = litefuse.diff(scaled([1, 2, 3]), scaled([1, 2.5, 3]))
    assert found.categories == ("tensors",)
    assert "-> 3 scales along axis 0: 1 to 3, zero point 0, 1 of them others" in str(found)


def test_signatures() -> None:
    def change(loaded: Any) -> None:
        signature = loaded.signatureDefs[0]
        signature.inputs[0].name = "images"
        loaded.subgraphs[0].tensors[4].type = schema.TensorType.INT32

    found = of(change)
    assert found.signatures == (
        ValueChange("input x: name", "x", "images"),
        ValueChange("output net/b/MatMul: dtype", "float32", "int32"),
    )
    assert not found.operators

    def rename(loaded: Any) -> None:
        loaded.signatureDefs[0].signatureKey = "other"

    other = of(rename)
    assert other.signatures == (
        ValueChange("signature serve", "there", None),
        ValueChange("signature other", None, "there"),
    )


def test_inputs_in_another_order_and_of_other_types() -> None:
    def difference(*names: str, dtype: Any = np.float32) -> bytes:
        graph = Graph()
        indices = {name: graph.input(name, (2,), dtype if name == "b" else np.float32) for name in names}
        graph.builtin("SUB", [indices["a"], indices["b"]], [graph.output("y", (2,))])
        return model(graph, signatures={"serve": 0})

    (change,) = litefuse.diff(difference("a", "b"), difference("b", "a")).signatures
    assert change == ValueChange("order of inputs", ["a", "b"], ["b", "a"])
    found = litefuse.diff(difference("a", "b"), difference("a", "b", "c"))
    assert found.signatures == (ValueChange("input c", None, "float32 [2]"),)
    assert not found.operators
    (change,) = litefuse.diff(difference("a", "b"), difference("a", "b", dtype=np.int32)).signatures
    assert change == ValueChange("input b: dtype", "float32", "int32")


def test_an_output_of_another_op() -> None:
    def outputs(*order: int) -> bytes:
        graph = Graph()
        x = graph.input("x", (2,))
        a, b = graph.tensor("net/a/Neg", (2,)), graph.tensor("net/b/Abs", (2,))
        graph.builtin("NEG", [x], [a])
        graph.builtin("ABS", [x], [b])
        graph.outputs += [(a, b)[each] for each in order]
        return model(graph)

    found = litefuse.diff(outputs(0, 1), outputs(1, 0))
    assert found.signatures[0] == ValueChange("output 0: computed by", "NEG 0, output 0", "ABS 1, output 0")
    named = litefuse.diff(outputs(0), outputs(0, 1))
    assert named.signatures == (ValueChange("number of outputs", 1, 2),)


def test_loops_are_compared_with_their_bodies() -> None:
    def loop(alpha: float, *, reverse: bool) -> bytes:
        graph, cond, body = Graph(), Graph(), Graph()
        x, y = graph.input("x", ()), graph.output("y", ())
        numbers = (2, 1) if reverse else (1, 2)
        graph.builtin("WHILE", [x], [y], condSubgraphIndex=numbers[0], bodySubgraphIndex=numbers[1])
        cond.builtin("EQUAL", [c := cond.input("c", ()), c], [cond.output("d", (), np.bool_)])
        body.builtin("LEAKY_RELU", [body.input("a", ())], [body.output("b", ())], alpha=alpha)
        return model(graph, *((body, cond) if reverse else (cond, body)), signatures={"serve": 0})

    assert litefuse.diff(loop(0.5, reverse=False), loop(0.5, reverse=True)).verdict == "same"
    (change,) = litefuse.diff(loop(0.5, reverse=False), loop(0.25, reverse=True)).operators
    assert change.values == (ValueChange("alpha", 0.5, 0.25),)
    assert (change.place_before, change.place_after) == ((2, 0), (1, 0))


def test_subgraphs_that_one_file_lacks() -> None:
    body = Graph()
    body.builtin("NEG", [body.input("a", ())], [body.output("b", ())])
    graph = Graph()
    graph.builtin("ABS", [graph.input("x", ())], [graph.output("y", ())])
    found = litefuse.diff(model(graph), model(graph, body))
    assert [(each.change, each.name, each.place_after) for each in found.operators] == [("added", "NEG", (1, 0))]
    assert {each.name for each in found.tensors} == {"a", "b"}


def test_metadata_and_other_values() -> None:
    def change(loaded: Any) -> None:
        loaded.description, loaded.subgraphs[0].name = "new", "main"
        loaded.metadata = [schema.MetadataT(), schema.MetadataT()]
        for each, name, content in zip(
            loaded.metadata, ("min_runtime_version", "blob"), (b"2.3.0\0\0", bytes(300)), strict=True
        ):
            each.name, each.buffer = name, len(loaded.buffers)
            loaded.buffers.append(schema.BufferT())
            loaded.buffers[-1].data = list(content)

    found = of(change)
    assert found.metadata[0] == ValueChange("min_runtime_version", None, "2.3.0")
    assert found.metadata[1].after.startswith("300 bytes, SHA-256 ")
    assert found.properties == (ValueChange("description", "", "new"), ValueChange("name of subgraph 0", "", "main"))
    assert (found.same_computation, found.categories) == (True, ("metadata", "properties"))
    assert SizeChange("metadata", "", "", 0, 307) in found.sizes


def test_command_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.tflite", tmp_path / "b.tflite"
    first.write_bytes(network())
    second.write_bytes(network(before=True))

    def run(*arguments: object) -> Any:
        return CliRunner().invoke(app, ["diff", *map(str, arguments)])

    assert run(first, first).exit_code == 0
    outcome = run(first, second)
    assert outcome.exit_code == 1
    assert outcome.stdout.startswith("Differs in ops (1 added, 1 changed), tensors (1)\n")
    assert max(map(len, outcome.stdout.splitlines())) <= 80 + len(str(tmp_path))
    told = json.loads(run(first, second, "--json").stdout)
    assert (told["verdict"], told["same_computation"], told["before"]["size"]) == ("differs", False, len(network()))
    assert [each["change"] for each in told["operators"]] == ["changed", "added"]
    failed = run(first, tmp_path / "missing.tflite")
    assert failed.exit_code == 4
    assert "no such file or folder" in failed.stderr


def test_what_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(network())
    for wrong in (b"", b"nothing", tmp_path, tmp_path / "missing", "bad\0name"):
        with pytest.raises(InterpreterError):
            litefuse.diff(path, wrong)
    refused = 0
    for size in range(8, len(network()), 11):
        try:
            litefuse.diff(network(), network()[:size])
        except InterpreterError:
            refused += 1
    assert refused > 20


def test_hostile_names_stay_on_their_lines() -> None:
    found = of(named(3, "\x1b[2J\n" * 50))
    text = str(found)
    assert "\x1b" not in text
    assert "\\x1b[2J\\n" in text
    assert max(map(len, text.splitlines())) <= 80
