"""Composites whose bodies take the conversions around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.integer_composites import take_conversions_in
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.schema_objects import objects_of
from tests.conversion.quantization.test_needless_conversions import integers
from tests.litert.runtime.models import Graph, model


def body() -> Graph:
    graph = Graph()
    x, y = graph.input("x", [4]), graph.output("y", [4])
    graph.builtin("SIN", [x], [y])
    return graph


def around(kind: str = "") -> Graph:
    """A composite between conversions, of a kind: what else there is."""
    graph = Graph()
    scale = 1.0 if kind == "another scale" else 0.5
    dtype = np.int32 if kind == "int32" else np.int8
    q = integers(graph, graph.input("q", [4], dtype), 0.5)
    real, made = graph.tensor("real", [4]), graph.tensor("made", [4])
    r = integers(graph, graph.tensor("r", [4], np.int8), 0.5)
    graph.builtin("DEQUANTIZE", [q], [real])
    if kind != "no composite":
        graph.composite("odml.other" if kind == "not taken" else "odml.a", [real], [made], {}, 1)
    graph.builtin("QUANTIZE", [made], [r])
    graph.builtin("ABS", [r], [graph.output("y", [4], np.int8)])
    if kind in {"taken twice", "another scale", "taken twice, an output"}:
        again = integers(graph, graph.tensor("again", [4], np.int8), scale)
        graph.builtin("QUANTIZE", [made], [again])
        graph.builtin("NEG", [again], [graph.output("z", [4], np.int8)])
        if kind == "taken twice, an output":
            graph.outputs.append(again)
    if kind == "read in floats":
        graph.builtin("SIN", [made], [graph.output("z", [4])])
    if kind == "an output":
        graph.outputs.append(made)
    if kind == "read before":
        graph.builtin("SIN", [real], [graph.output("z", [4])])
    return graph


def ops_of(model: Any, number: int) -> list[str]:
    editor = GraphEditor(model, number)

    def named(indices: Any) -> str:
        return ", ".join(editor.name(int(index)) for index in indices)

    return [f"{editor.kind(op)}: {named(op.inputs)} -> {named(op.outputs)}" for op in editor.ops]


def moved(kind: str, *others: Graph) -> tuple[Any, bool]:
    loaded = objects_of(model(around(kind), body(), *others, signatures={"serve": 0}))
    return loaded, take_conversions_in(loaded, lambda name: name == "odml.a")


INSIDE = ["DEQUANTIZE: x_integers -> x", "SIN: x -> y", "QUANTIZE: y -> y_integers"]


def test_conversions_move_into_the_body() -> None:
    loaded, changed = moved("")
    assert changed
    assert ops_of(loaded, 0) == ["STABLEHLO_COMPOSITE: q -> r", "ABS: r -> y"]
    assert ops_of(loaded, 1) == INSIDE
    editor = GraphEditor(loaded, 1)
    for index, name in ((editor.graph.inputs[0], "x_integers"), (editor.graph.outputs[0], "y_integers")):
        assert editor.name(index) == name
        assert editor.is_type(index, "int8")
        assert editor.scale(index) == (0.5, 3)
    assert len(loaded.subgraphs) == 2


@pytest.mark.parametrize(
    ("kind", "outside", "inside"),
    [
        ("taken twice", ["STABLEHLO_COMPOSITE: q -> r", "ABS: r -> y", "NEG: r -> z"], INSIDE),
        (
            "read before",
            ["DEQUANTIZE: q -> real", "STABLEHLO_COMPOSITE: q -> r", "ABS: r -> y", "SIN: real -> z"],
            INSIDE,
        ),
        (
            "int32",
            ["DEQUANTIZE: q -> real", "STABLEHLO_COMPOSITE: real -> r", "ABS: r -> y"],
            ["SIN: x -> y", "QUANTIZE: y -> y_integers"],
        ),
        *(
            (
                kind,
                ["STABLEHLO_COMPOSITE: q -> made", "QUANTIZE: made -> r", "ABS: r -> y", *more],
                ["DEQUANTIZE: x_integers -> x", "SIN: x -> y"],
            )
            for kind, more in {
                "another scale": ["QUANTIZE: made -> again", "NEG: again -> z"],
                "taken twice, an output": ["QUANTIZE: made -> again", "NEG: again -> z"],
                "read in floats": ["SIN: made -> z"],
                "an output": [],
            }.items()
        ),
    ],
)
def test_what_else_reads_or_is_made(kind: str, outside: list[str], inside: list[str]) -> None:
    loaded, changed = moved(kind)
    assert changed
    assert ops_of(loaded, 0) == outside
    assert ops_of(loaded, 1) == inside


@pytest.mark.parametrize("kind", ["not taken", "no composite"])
def test_what_is_left_alone(kind: str) -> None:
    before = objects_of(model(around(kind), body()))
    loaded, changed = moved(kind)
    assert not changed
    assert [ops_of(loaded, number) for number in range(2)] == [ops_of(before, number) for number in range(2)]


def test_only_graphs_of_signatures_are_changed() -> None:
    loaded = objects_of(model(around(), body()))
    assert not take_conversions_in(loaded, lambda _: True)


def test_composites_with_one_body_get_a_body_each() -> None:
    other = Graph()
    x, y = other.input("x", [4]), other.output("y", [4])
    other.composite("odml.a", [x], [y], {}, 1)
    loaded, changed = moved("", other)
    assert changed
    assert ops_of(loaded, 1) == ["SIN: x -> y"]
    assert ops_of(loaded, 3) == INSIDE
    numbers = [
        op.builtinOptions2.decompositionSubgraphIndex
        for op in (loaded.subgraphs[0].operators[0], loaded.subgraphs[2].operators[0])
    ]
    assert numbers == [3, 1]
    assert len(loaded.subgraphs[1].tensors) == 2


def test_a_composite_without_conversions_is_left_alone() -> None:
    graph = Graph()
    x, y = graph.input("x", [4]), graph.output("y", [4])
    graph.composite("odml.a", [x], [y], {}, 1)
    loaded = objects_of(model(graph, body(), signatures={"serve": 0}))
    assert not take_conversions_in(loaded, lambda _: True)
