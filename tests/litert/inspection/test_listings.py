"""Lists of operators, tensors and sizes, and texts of hostile models on a terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from litefuse.support.report.printable import one_line, printable, shortened
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.models import Graph, model

LONG = "model/" + "block/" * 20 + "conv/convolution"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    graph = Graph()
    x, y, z = graph.input("x", (1, 4)), graph.tensor(LONG, (1, 4)), graph.output("z", (1, 4), signature=(-1, 4))
    w = graph.tensor("net/w\x1b[31m\n", (4, 4), np.int8, value=np.zeros((4, 4)))
    graph.tensors[w][0].quantization = quantization([0.5, 0.25, 0.125, 0.5])
    graph.builtin("FULLY_CONNECTED", [x, w, -1], [y], fusedActivationFunction=1)
    graph.composite("test.twice", [y] * 12, [z], {"k": 2.5}, 1)
    body = Graph()
    a, b = body.input("a", (1, 4)), body.output("b", (1, 4))
    body.builtin("CONCATENATION", [a], [b], axis=0)
    target = tmp_path / "m.tflite"
    target.write_bytes(model(graph, body))
    return target


def quantization(scales: list[float]) -> object:
    from ai_edge_litert import schema_py_generated as schema

    made = schema.QuantizationParametersT()
    made.scale, made.zeroPoint, made.quantizedDimension = scales, [0] * len(scales), 0
    return made


def listed(path: Path, *options: str) -> list[str]:
    outcome = CliRunner().invoke(app, ["inspect", str(path), *options])
    assert outcome.exit_code == 0
    text = outcome.stdout.split("\n\n", 1)[1]  # without the head
    assert "\x1b" not in text
    if "--all" not in options:
        assert max(map(len, text.splitlines())) <= 80
    return text.splitlines()


def test_operators(path: Path) -> None:
    assert listed(path, "--ops") == [
        "Ops of subgraph 0: 2",
        "  0  FULLY_CONNECTED  model/block/block/b…ock/block/block/block/block/block/conv",
        "     float32[1,4], int8[4,4] const, none -> float32[1,4]",
        "     fused_activation_function=RELU",
        "  1  STABLEHLO_COMPOSITE test.twice  model/block/bl…block/block/block/block/conv",
        "     float32[1,4], float32[1,4], float32[1,4], float32[1,4], float32[1,4],",
        "     float32[1,4], float32[1,4], float32[1,4] and 4 more -> float32[?,4]",
        "     name=test.twice, decomposition_subgraph_index=1,",
        "     composite_attributes={'k': 2.5}, composite_attributes_format=FLEXBUFFERS,",
        "     version=0",
        "",
        "Ops of subgraph 1: 1",
        "  0  CONCATENATION",
        "     float32[1,4] -> float32[1,4]",
        "     axis=0",
    ]
    full = "\n".join(listed(path, "--ops", "--all"))
    assert "model/" + "block/" * 20 + "conv" in full
    assert "weights_format=DEFAULT" in full
    assert "more" not in full


def test_tensors(path: Path) -> None:
    lines = listed(path, "--tensors")
    assert lines[:3] == ["Tensors of subgraph 0: 4", "  0  x", "     float32[1,4], input"]
    assert lines[5:9] == [
        "  2  z",
        "     float32[?,4], output",
        r"  3  net/w\x1b[31m\n",
        "     int8[4,4], constant, 16 bytes, scale 0.125 to 0.5, zero point 0 (scales: 4,",
    ]
    assert lines[9] == "     along axis 0)"
    assert f"  1  {LONG}" in listed(path, "--tensors", "--all")


def test_sizes(path: Path) -> None:
    lines = [" ".join(line.split()) for line in listed(path, "--sizes")]
    size = path.stat().st_size
    assert lines == [
        f"Bytes by layer and dtype: {size:,}",
        "layer dtype bytes share",
        f"net int8 16 {16 / size:.1%}",
        f"(structure: ops, tensors, names) {size - 16:,} {(size - 16) / size:.1%}",
        "",
        "Constants: 1",
        "tensor type bytes share",
        rf"net/w\x1b[31m\n int8[4,4] 16 {16 / size:.1%}",
    ]


def test_many_layers_and_constants(tmp_path: Path) -> None:
    graph = Graph()
    for number in range(60):
        graph.tensor(f"net/layer_{number}/Const", (number + 1,), value=np.zeros(number + 1))
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph))
    short, full = listed(path, "--sizes"), listed(path, "--sizes", "--all")
    assert short[2].split()[:3] == ["net/layer_59", "float32", "240"]
    assert short[42].split()[:4] == ["(20", "more)", "840", f"{840 / path.stat().st_size:.1%}"]
    assert len(short) == 2 + 40 + 2 + 1 + 1 + 2 + 20
    assert sum("net/layer_0" in each for each in full) == 2


def test_several_lists_at_once(path: Path) -> None:
    titles = [line for line in listed(path, "--sizes", "--ops") if line.startswith(("Ops", "Bytes", "Tensors"))]
    assert [each.split()[0] for each in titles] == ["Ops", "Ops", "Bytes"]


def test_nodes_of_a_saved_model() -> None:
    lines = listed(Path(SAVED_MODEL), "--ops")
    assert any(line.startswith("Nodes of ") for line in lines)
    assert any(line.split()[0] == "Identity" for line in lines if line.strip())
    for option in ("--tensors", "--sizes"):
        outcome = CliRunner().invoke(app, ["inspect", str(SAVED_MODEL), option])
        assert outcome.exit_code == 2
        assert f"{option} is for .tflite files" in outcome.stderr


def test_shortened_texts_keep_the_end() -> None:
    assert shortened("abcdefghijkl", 12) == "abcdefghijkl"
    assert shortened("abcdefghijklm", 10) == "abc…hijklm"
    assert [len(shortened("x" * 50, width)) for width in range(3, 20)] == [*range(3, 20)]


def test_control_characters_are_escaped() -> None:
    assert printable("größe\x1b[2J\u202e\x9b\n") == "größe\\x1b[2J\\u202e\\x9b\n"
    assert one_line("a\nb") == r"a\nb"
