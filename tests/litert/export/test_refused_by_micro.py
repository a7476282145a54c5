"""Files that tflite-micro would compute other numbers with."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

import litefuse
from litefuse.conversion.verify.targets.target_check import TargetReport
from litefuse.litert.export.edited_file import PLAN, complete_file, edit_file
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.quantization import Granularity
from tests.litert.runtime.models import Graph, model

RANDOM = np.random.default_rng(7)
WEIGHTS: npt.NDArray[np.float64] = RANDOM.normal(size=(3, 64)) * np.array([[1.0], [10.0], [100.0]])
X = RANDOM.normal(size=(1, 64)).astype(np.float32)
EXPECTED = cast("npt.NDArray[np.float64]", X @ WEIGHTS.T)


def quantized(folder: Path, **options: Any) -> Path:
    graph = Graph()
    x, w = graph.input("x", (1, 64)), graph.tensor("w", WEIGHTS.shape, value=WEIGHTS)
    graph.builtin("FULLY_CONNECTED", [x, w, -1], [graph.output("y", (1, 3))])
    before, path = folder / "before.tflite", folder / "after.tflite"
    before.write_bytes(model(graph, signatures={"serve": 0}))
    litefuse.quantize(before, litefuse.Quantization("weights", **options)).save(path)
    return path


def report_of(path: Path) -> TargetReport:
    (report,) = litefuse.check(path, "micro").reports
    return report


def plans(path: Path) -> list[bytes]:
    read: Any = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    return [bytes(read.buffers[entry.buffer].data) for entry in read.metadata if entry.name == PLAN.encode()]


@pytest.mark.parametrize("granularity", ["channel", "tensor"])
def test_it_refuses_weights_of_several_scales(tmp_path: Path, granularity: Granularity) -> None:
    path = quantized(tmp_path, granularity=granularity)
    report = report_of(path)
    if granularity == "tensor":
        assert (report.verdict, plans(path)) == ("accelerated", [])
    else:
        assert report.verdict == "refused"
        assert "--granularity tensor" in "".join(each.hint for each in report.refused)
    y = Interpreter(path).get_signature_runner()(x=X)["y"]
    np.testing.assert_allclose(y, EXPECTED, atol=0.02 * np.abs(EXPECTED).max())


def test_without_the_plan_it_computes_other_numbers(tmp_path: Path) -> None:
    path = quantized(tmp_path)

    content = path.read_bytes()
    assert content.count(PLAN.encode()) == 1
    path.write_bytes(content.replace(PLAN.encode(), PLAN.lower().encode()))
    assert report_of(path).verdict == "differs"


def test_a_plan_stays(tmp_path: Path) -> None:
    path = quantized(tmp_path)
    assert len(plans(path)) == 1

    def plan(read: Any) -> bool:
        (entry,) = [entry for entry in read.metadata if entry.name == PLAN.encode()]
        read.buffers[entry.buffer].data = np.arange(8, dtype=np.uint8)
        return True

    edit_file(path, plan)
    complete_file(path)
    assert plans(path) == [bytes(range(8))]
