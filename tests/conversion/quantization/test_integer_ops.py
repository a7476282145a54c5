"""Ops whose kernels take integers, in graphs made by hand: what they take and give, and in which scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

from litefuse.conversion.quantization.integer_ops import (
    hand_ranges_on,
    make_ops_integer,
    sources_of_scales,
)
from litefuse.litert.export.editor import GraphEditor, Scale
from litefuse.litert.runtime import custom_op as registry
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.schema_objects import objects_of
from tests.conversion.quantization.test_integer_composites import ops_of
from tests.conversion.quantization.test_needless_conversions import integers
from tests.litert.runtime.models import Graph, model


class Both(CustomOp):
    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")


class Bytes(CustomOp):
    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8",)


class Handing(CustomOp):
    """Its second result has the scale of its first operand."""

    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8",)
    same_scales: ClassVar[Mapping[int, int]] = {1: 0}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {"Both": Both, "Bytes": Bytes, "Handing": Handing})
    return iter(())


RANGES: dict[str, tuple[float, float]] = {"x": (-1.0, 1.55), "y": (0.5, 2.55), "z": (-2.0, -1.0), "w": (-1.0, 1.0)}


def made(graph: Graph, bits: int = 8, *, kept: tuple[str, ...] = (), **ranges: Any) -> tuple[GraphEditor, bool]:
    known = {**RANGES, **ranges}
    given: Any = {
        name: {"min": np.array([ends[0]]), "max": np.array([ends[1]])} for name, ends in known.items() if ends
    }
    loaded = objects_of(model(graph, Graph(), signatures={"serve": 0}))
    changed = make_ops_integer(loaded, bits, given, kept)
    return GraphEditor(loaded, 0), changed


def custom(op: str = "Both", *, results: str = "y", operands: str = "x") -> Graph:
    graph = Graph()
    inputs = [graph.input(name, [4]) for name in operands]
    graph.custom(op, inputs, [graph.output(name, [4]) for name in results])
    return graph


def scales(editor: GraphEditor) -> dict[str, Scale]:
    known = {editor.name(index): editor.scale(index) for index in range(len(editor.graph.tensors))}
    return {name: scale for name, scale in known.items() if scale is not None}


def lines(editor: GraphEditor) -> list[str]:
    return ops_of(editor.model, 0)


ALONE = ["QUANTIZE: x -> x_quantized", "CUSTOM: x_quantized -> y_quantized", "DEQUANTIZE: y_quantized -> y"]


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        (8, {"x_quantized": (0.01, -28), "y_quantized": (0.01, -128)}),
        (16, {"x_quantized": (1.55 / 32767, 0), "y_quantized": (2.55 / 32767, 0)}),
    ],
)
def test_an_op_between_floats(bits: int, expected: dict[str, tuple[float, int]]) -> None:
    editor, changed = made(custom(), bits)
    assert changed
    assert lines(editor) == ALONE
    assert scales(editor) == {name: (pytest.approx(scale), zero) for name, (scale, zero) in expected.items()}
    assert editor.is_type(editor.ops[1].inputs[0], f"int{bits}")


@pytest.mark.parametrize(
    ("ends", "scale", "zero"), [((0.0, 0.0), 1.0, 0), ((-2.55, -0.5), 0.01, 127), ((-1e-3, 0), 1e-3 / 255, 127)]
)
def test_ranges_contain_zero(ends: tuple[float, float], scale: float, zero: int) -> None:
    assert scales(made(custom(), x=ends)[0])["x_quantized"] == (pytest.approx(scale), zero)


@pytest.mark.parametrize(
    ("graph", "bits", "options"),
    [
        (custom("Bytes"), 16, {}),
        (custom("Unknown"), 8, {}),
        (custom(), 8, {"kept": ("y",)}),
        (custom(results="yz"), 8, {"kept": ("z",)}),
        (custom(), 8, {"x": (-np.inf, 1.0)}),
        (custom(), 8, {"y": None}),
    ],
)
def test_what_stays_in_floating_point(graph: Graph, bits: int, options: dict[str, Any]) -> None:
    editor, changed = made(graph, bits, **options)
    assert not changed
    assert len(lines(editor)) == 1


def test_only_in_graphs_of_signatures() -> None:
    loaded = objects_of(model(custom(), signatures={}))
    assert not make_ops_integer(loaded, 8, {})


def between(dtype: Any = np.int8, *, read: bool = False, output: bool = False) -> Graph:
    """An op whose operand is dequantized, and whose result is quantized."""
    graph = Graph()
    q = integers(graph, graph.input("q", [4], dtype), 0.5)
    x, y = graph.tensor("x", [4]), graph.tensor("y", [4])
    r = integers(graph, graph.output("r", [4], dtype), 0.25)
    graph.builtin("DEQUANTIZE", [q], [x])
    graph.custom("Both", [x], [y])
    graph.builtin("QUANTIZE", [y], [r])
    if read:
        graph.builtin("SIN", [x], [graph.output("s", [4])])
    if output:
        graph.outputs.append(y)
    return graph


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (between(), ["CUSTOM: q -> r"]),
        (between(read=True), ["DEQUANTIZE: q -> x", "CUSTOM: q -> r", "SIN: x -> s"]),
        (between(output=True), ["CUSTOM: q -> r", "DEQUANTIZE: r -> y"]),
        (
            between(np.int16),
            [
                "DEQUANTIZE: q -> x",
                "QUANTIZE: x -> x_quantized",
                "CUSTOM: x_quantized -> y_quantized",
                "DEQUANTIZE: y_quantized -> y",
                "QUANTIZE: y -> r",
            ],
        ),
        (
            between(np.uint8),
            ["QUANTIZE: q -> x_quantized", "CUSTOM: x_quantized -> y_quantized", "QUANTIZE: y_quantized -> r"],
        ),
    ],
)
def test_between_integers(graph: Graph, expected: list[str]) -> None:
    """Those of other dtypes are converted; bytes of an input and of an output as they are."""
    editor, _ = made(graph)
    assert lines(editor) == expected
    if "x_quantized" in scales(editor) and len(expected) == 3:
        assert scales(editor)["x_quantized"] == (0.5, 3 - 128)


def test_ranges_are_needed_of_what_is_not_quantized_yet() -> None:
    editor, _ = made(between(), x=None, y=None)
    assert len(lines(editor)) == 3
    editor, _ = made(between(), x=None)
    assert lines(editor) == ["CUSTOM: q -> r"]


def test_constants_and_results_that_nothing_reads() -> None:
    graph = Graph()
    x, c, i = graph.input("x", [4]), graph.tensor("c", [4], value=np.ones(4)), graph.input("i", [4], np.int32)
    y, unread = graph.output("y", [4]), graph.tensor("unread", [4])
    graph.custom("Both", [x, c, i, -1], [y, unread])
    editor, _ = made(graph)
    op = editor.ops[1]
    assert [editor.name(int(index)) for index in op.inputs[:3]] == ["x_quantized", "c", "i"]
    assert op.inputs[3] == -1
    assert [editor.name(int(index)) for index in op.outputs] == ["y_quantized", "unread_quantized"]
    assert len(editor.ops) == 3


def handing(scale: float, zero: int = -28, *, other: bool = False) -> Graph:
    """The second result of an op of floats becomes integers; another op takes the operand, too."""
    graph = custom("Handing", results="y", operands="x")
    z, r = graph.tensor("z", [4]), integers(graph, graph.output("r", [4], np.int8), scale, zero)
    graph.operators[0][0].outputs = [1, z]
    graph.builtin("QUANTIZE", [z], [r])
    if other:
        graph.builtin("SIN", [z], [graph.output("s", [4])])
    return graph


@pytest.mark.parametrize(
    ("scale", "zero", "same"),
    [(0.01, -28, True), (0.01 * (1 + 5e-6), -28, True), (0.0101, -28, False), (0.01, -27, False)],
)
def test_results_with_the_scale_of_an_operand(scale: float, zero: int, same: bool) -> None:
    """Which a new operand gets of the result, if it is as good as its own; else there is a conversion between."""
    editor, _ = made(handing(scale, zero))
    if same:
        assert lines(editor)[1] == "CUSTOM: x_quantized -> y_quantized, r"
        assert scales(editor)["x_quantized"] == scales(editor)["r"] == (pytest.approx(scale, rel=1e-6), zero)
    else:
        assert lines(editor)[1] == "CUSTOM: x_quantized -> y_quantized, z_quantized"
        assert "QUANTIZE: z_quantized -> r" in lines(editor)
        assert scales(editor)["z_quantized"] == scales(editor)["x_quantized"]


def test_results_with_several_scales_have_not_that_of_an_operand() -> None:
    graph = handing(0.01)
    quantization = graph.tensors[graph.outputs[-1]][0].quantization
    quantization.scale, quantization.zeroPoint = [0.01] * 4, [-28] * 4
    assert "QUANTIZE: z_quantized -> r" in lines(made(graph)[0])


def test_a_result_that_nothing_quantizes_has_the_scale_of_the_operand() -> None:
    editor, _ = made(custom("Handing", results="yz"))
    assert scales(editor)["z_quantized"] == scales(editor)["x_quantized"] != scales(editor)["y_quantized"]
    constant = custom("Handing", results="yz")
    constant.operators[0][0].inputs = [constant.tensor("c", [4], value=np.ones(4))]
    assert not made(constant)[1]


def test_ranges_that_are_handed_on() -> None:
    graph = custom("Handing", results="yz")
    graph.custom("Handing", [2], [graph.output("u", [4]), graph.output("v", [4])])
    graph.custom("Both", [2], [graph.output("w", [4])])
    loaded = objects_of(model(graph, custom("Handing", results="ab"), signatures={"serve": 0}))
    assert sources_of_scales(loaded, 8, ()) == {"z": "x", "v": "z"}
    assert sources_of_scales(loaded, 16, ()) == {}
    assert sources_of_scales(loaded, 8, {"y"}) == {"v": "z"}
    ranges: Any = {"x": 1, "z": 2, "u": 3}
    assert hand_ranges_on(ranges, {"z": "x", "v": "z", "p": "nothing"}) == {"x": 1, "z": 1, "u": 3, "v": 1}
    assert ranges == {"x": 1, "z": 2, "u": 3}
