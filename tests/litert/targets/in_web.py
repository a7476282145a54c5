"""The target ``web`` in a browser with LiteRT.js: run by .ci/web, which gets both."""

from __future__ import annotations

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.targets.target_check import TargetReport
from tests.every import every
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import dense, integers, lookup, serving, unknown_sizes


def report_of(content: bytes) -> TargetReport:
    (report,) = litefuse.check(content, "web").reports
    return report


def several() -> bytes:
    """Two signatures, of inputs and outputs with names that are not ASCII, in another order than the alphabet's."""
    graphs = Graph(), Graph()
    for graph, ends in zip(graphs, "yz", strict=True):
        x, y = graph.input("größe", (2, 3)), graph.input("a/b?", (3,))
        graph.builtin("SUB", [x, y], [graph.output(f"{ends}%2F", (2, 3))])
        graph.builtin("MUL", [y, x], [graph.output("ä&b", (2, 3))])
    return model(*graphs, signatures={"one": 0, "two": 1})


@pytest.mark.parametrize("content", [dense(), several()], ids=["dense", "several"])
def test_what_runs_gives_the_numbers_of_the_cpu_on_both_backends(content: bytes) -> None:
    report = report_of(content)
    assert (report.verdict, report.refused) == ("accelerated", ())
    assert report.software.startswith("LiteRT.js 2.")
    assert dict(report.facts)["browser"].startswith("Chrome")
    names = [output.name for output in report.outputs]
    assert sum(name.endswith(" on WebGPU") for name in names) * 2 == len(names) > 0
    assert every(output.verdict == "equal" and output.moved > 0 for output in report.outputs)
    assert report.error < 1e-6


def test_ops_that_web_gpu_refuses_stay_on_the_cpu() -> None:
    report = report_of(lookup())
    assert report.verdict == "partly"
    assert [(refused.op, refused.places) for refused in report.refused] == [("GATHER", ("layer/Gather",))]
    assert "--target web" in report.refused[0].hint
    assert len(report.outputs) == 2


def custom() -> bytes:
    graph = Graph()
    graph.custom("Mine", [graph.input("x", (1, 4))], [graph.output("y", (1, 4))])
    return serving(graph)


def constant_ids() -> bytes:
    graph = Graph()
    rows = graph.tensor("rows", (20, 4))
    graph.builtin("TANH", [graph.input("x", (20, 4))], [rows])
    graph.builtin("GATHER", [rows, graph.tensor("ids", (2,), np.int32, value=[7, 3])], [graph.output("y", (2, 4))])
    return serving(graph)


def int64() -> bytes:
    graph = Graph()
    shape = graph.tensor("shape", (1,), np.int32, value=[4])
    graph.builtin("RESHAPE", [graph.input("x", (2, 2), np.int64), shape], [graph.output("y", (4,), np.int64)])
    return serving(graph)


@pytest.mark.parametrize(
    ("content", "reason", "hint"),
    [
        (dense(batch=None), "ranked tensor type", "--batch 1"),
        (unknown_sizes(), "fixed sizes", "--shape"),
        (custom(), "custom op", ""),
        (integers(), "INT8", "--quantized-io uint8"),
        (int64(), "INT64", "--target web"),
        (constant_ids(), "Unable to parse bc coord", "--target web"),
    ],
    ids=["batch", "sizes", "custom", "int8", "int64", "constant ids"],
)
def test_what_is_refused_has_a_reason_and_a_hint(content: bytes, reason: str, hint: str) -> None:
    report = report_of(content)
    assert report.verdict == "refused"
    assert reason in report.refused[0].reason
    assert hint in report.refused[0].hint
