from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.facts import CustomOperator, TensorFacts
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.inspection.litert_model_facts import litert_model_sections
from litefuse.litert.runtime.model_content import is_litert_model
from litefuse.support.report.text import sections_text
from tests.litert.runtime.models import Graph, model


@pytest.fixture
def path(tmp_path: Path) -> Path:
    graph = Graph()
    x = graph.input("x", (1, 3), signature=(-1, 3))
    y = graph.tensor("y", (1, 3))
    z = graph.tensor("z", (1, 3))
    out = graph.output("out", (1, 3), "INT8")
    graph.custom("Mine", [x], [y], {"ksizes": [1, 2], "name": "a"})
    graph.custom("Mine", [y], [z], b"\x01")
    graph.composite("test.twice", [z], [out], {"k": 2.5}, 1)
    body = Graph()
    a, b = body.input("a", (1, 3)), body.output("b", (1, 3))
    body.builtin("ADD", [a, a], [b])
    body.builtin("ADD", [b, a], [b])
    target = tmp_path / "m.tflite"
    target.write_bytes(model(graph, body, signatures={"serving_default": 0}))
    return target


def test_what_a_model_holds(path: Path) -> None:
    facts = inspect_litert_model(path)
    assert facts.size == path.stat().st_size
    assert facts.op_counts == {"ADD": 2, "Mine": 2, "STABLEHLO_COMPOSITE": 1}
    (signature,) = facts.signatures
    assert signature.key == "serving_default"
    assert signature.inputs == (TensorFacts("x", "float32", (None, 3)),)
    assert signature.outputs == (TensorFacts("out", "int8", (1, 3)),)
    assert [each.op_count for each in facts.subgraphs] == [3, 2]


def test_custom_options_are_decoded(path: Path) -> None:
    composite, raw, decoded = inspect_litert_model(path).custom_operators
    assert (composite.name, composite.kind, composite.options) == ("test.twice", "composite", {"k": 2.5})
    assert raw == CustomOperator("Mine", "custom", 1, None, 1)
    assert (decoded.name, decoded.options) == ("Mine", {"ksizes": [1, 2], "name": "a"})


def test_sections(path: Path) -> None:
    text = sections_text(litert_model_sections(inspect_litert_model(path)))
    assert "Signature serving_default\n  in   x    float32 [?, 3]\n  out  out  int8 [1, 3]\n" in text
    assert "1  Mine  ksizes=[1, 2], name='a'" in text
    assert "1  Mine  1 byte of options" in text
    assert "Composites with a decomposition\n  1  test.twice  k=2.5" in text


def test_a_model_without_signatures_shows_its_inputs(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.builtin("ADD", [x, x], [y])
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph))
    text = sections_text(litert_model_sections(inspect_litert_model(path)))
    assert "Signatures: none\n\nInputs and outputs\n  in   x  float32 [2]\n  out  y  float32 [2]\n" in text


def test_what_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(b"nothing of the kind")
    assert not is_litert_model(path)
    with pytest.raises(InterpreterError, match="not a LiteRT model"):
        inspect_litert_model(path)
    with pytest.raises(InterpreterError, match="no such file or folder"):
        inspect_litert_model(tmp_path / "missing")


def test_damaged_models_are_refused_or_read_but_nothing_else(path: Path) -> None:
    whole = path.read_bytes()
    refused = 0
    for size in range(8, len(whole), 7):
        path.write_bytes(whole[:size])
        try:
            inspect_litert_model(path)
        except InterpreterError:
            refused += 1
    assert refused > 0
