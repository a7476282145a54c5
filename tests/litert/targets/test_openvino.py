"""Checks of files with OpenVINO, and the forms of ops that it takes."""

from __future__ import annotations

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.targets.target_check import TargetReport
from litefuse.litert.targets.openvino import OpenVINO
from tests.every import every
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import buffers_behind, dense, integers, lookup, remembering, serving

RANDOM = np.random.default_rng(50)


def report_of(content: bytes) -> TargetReport:
    (report,) = litefuse.check(content, "openvino").reports
    return report


def several_inputs(dtype: str = "FLOAT32") -> bytes:
    """``x - y`` and ``y * x`` of inputs with names that are not ASCII, in another order than the alphabet's."""
    graph = Graph()
    x, y = graph.input("größe", (2, 3), dtype), graph.input("a/b", (3,), dtype)
    graph.builtin("SUB", [x, y], [graph.output("z", (2, 3), dtype)])
    graph.builtin("MUL", [y, x], [graph.output("ä", (2, 3), dtype)])
    return serving(graph)


@pytest.mark.parametrize(
    "content",
    [
        dense(),
        dense(batch=None),
        integers(),
        lookup(),
        remembering(),
        several_inputs(),
        several_inputs("INT64"),
    ],
)
def test_what_runs_gives_the_numbers_of_the_cpu(content: bytes) -> None:
    report = report_of(content)
    assert (report.verdict, report.refused) == ("accelerated", ())
    assert report.software.startswith("OpenVINO 20")
    assert every(each.verdict == "equal" and each.moved > 0 for each in report.outputs)
    assert dict(report.facts)["device"]


@pytest.mark.parametrize("shape", [(0, 3), (2, 3, 4, 5, 6)])
def test_empty_tensors_and_many_dimensions(shape: tuple[int, ...]) -> None:
    graph = Graph()
    graph.builtin("TANH", [graph.input("x", shape)], [graph.output("y", shape)])
    assert report_of(serving(graph)).verdict in {"accelerated", "inconclusive"}


def test_ops_that_openvino_lacks() -> None:
    """It names one of them; the table has the other."""
    graph = Graph()
    x = graph.input("x", (1, 4))
    hidden = graph.tensor("layer/Mine", (1, 4))
    graph.custom("Mine", [x], [hidden])
    graph.builtin("RELU_N1_TO_1", [hidden], [graph.output("layer/Relu", (1, 4))])
    report = report_of(serving(graph))
    assert report.verdict == "refused"
    assert {(each.op, each.reason, each.places) for each in report.refused} == {
        ("Mine", "no such op", ("layer/Mine",)),
        ("RELU_N1_TO_1", "no such op", ("layer/Relu",)),
    }
    assert {each.hint for each in report.refused} == {
        "convert with --target openvino",
        "change the layer that it is from",
    }


def test_weights_behind_the_flatbuffer_are_refused() -> None:
    (refused,) = report_of(buffers_behind(dense())).refused
    assert (refused.op, refused.reason) == (
        "",
        "weights are stored behind the flatbuffer, where OpenVINO does not look",
    )


def test_signatures_of_other_subgraphs_are_not_called() -> None:
    graphs = Graph(), Graph()
    for graph, name in zip(graphs, ("y", "z"), strict=True):
        graph.builtin("TANH", [graph.input("x", (1, 4))], [graph.output(name, (1, 4))])
    report = report_of(model(*graphs, signatures={"one": 0, "two": 1}))
    assert [each.signature for each in report.outputs] == ["one"]
    assert dict(report.facts)["not called"].startswith("two:")


def test_numbers_that_are_not_those_of_the_cpu() -> None:
    """OpenVINO leaves out an activation that is fused into TRANSPOSE_CONV; the target separates it."""
    graph = Graph()
    sizes = graph.tensor("sizes", (4,), np.int32, value=[1, 8, 8, 2])
    w = graph.tensor("w", (2, 3, 3, 3), value=RANDOM.standard_normal((2, 3, 3, 3)))
    x, y = graph.input("x", (1, 4, 4, 3)), graph.output("y", (1, 8, 8, 2))
    bias = graph.tensor("bias", (2,), value=[0.1, -0.2])
    graph.builtin("TRANSPOSE_CONV", [sizes, w, x, bias], [y], strideW=2, strideH=2, fusedActivationFunction=1)
    report = report_of(serving(graph))
    assert report.verdict == "differs"
    assert report.error > 0.1


def test_where_it_is_not_installed_the_table_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_module(_: str) -> None:
        return None

    def not_installed(_: OpenVINO) -> str:
        return "not installed"

    monkeypatch.setattr("importlib.util.find_spec", no_module)
    assert OpenVINO().missing() == "OpenVINO is not installed: pip install 'litefuse[openvino]'"
    monkeypatch.undo()
    monkeypatch.setattr(OpenVINO, "missing", not_installed)
    assert report_of(dense()).verdict == "unknown"
    graph = Graph()
    graph.builtin("RELU_N1_TO_1", [graph.input("x", (1, 4))], [graph.output("y", (1, 4))])
    report = report_of(serving(graph))
    assert (report.verdict, report.missing, report.table) == ("refused", "not installed", "OpenVINO 2026.4")
