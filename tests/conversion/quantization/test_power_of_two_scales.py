"""Sums of int16 whose scales would be powers of two, for which LiteRT has a form of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.report.quantized import OpKinds
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph


def total(op: str) -> Graph:
    graph = Graph()
    x, z = graph.input("x", [1, 4]), graph.input("z", [1, 4])
    graph.builtin(op, [x, z], [graph.output("y", [1, 4])])
    return graph


@pytest.mark.parametrize("largest", [1.0, 4.0, 3.0])
@pytest.mark.parametrize("op", ["ADD", "SUB"])
def test_operands_and_results_of_power_of_two_ranges(tmp_path: Path, op: str, largest: float) -> None:
    before, after = saved(tmp_path / "before.tflite", total(op)), tmp_path / "after.tflite"
    x = np.array([[-1, 0.5, 0.1, 1]], np.float32) * largest
    z = x if op == "ADD" else -x
    found = quantize_model(before, after, "int16", take_samples([{"x": x, "z": z}]))
    assert found.kinds == OpKinds(1, 0, 0)
    runner = Interpreter(after).get_signature_runner()
    for _ in range(2):
        np.testing.assert_allclose(runner(x=x, z=z)["y"], 2 * x, atol=2e-4 * largest)
