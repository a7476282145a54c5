"""Results that nothing reads, of ops with several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.report.quantized import OpKinds
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

ROWS = [np.random.default_rng(each).normal(size=(2, 6)).astype(np.float32) for each in range(16)]


def parts(op: str, last: str | None) -> Graph:
    """The second of three parts of twice the input, as an output or read by an op; the others are read by nothing."""
    graph = Graph()
    x, doubled = graph.input("x", [2, 6]), graph.tensor("doubled", [2, 6])
    graph.builtin("MUL", [x, graph.tensor("two", [], value=2.0)], [doubled])
    shape = [2, 2] if op == "SPLIT" else [6]
    y = graph.output("y", shape)
    results = [graph.tensor(name, shape) for name in "abc"]
    if last is None:
        results[1] = y
    if op == "SPLIT":
        axis = graph.tensor("axis", [], np.int32, value=1)
        graph.builtin("SPLIT", [axis, doubled], results, numSplits=3)
    else:
        graph.builtin("UNPACK", [doubled], results[:2], num=2, axis=0)
    if last is not None:
        graph.builtin(last, [results[1]], [y])
    return graph


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("last", [None, "TANH"])
@pytest.mark.parametrize("op", ["SPLIT", "UNPACK"])
def test_they_are_integers_too(tmp_path: Path, op: str, last: str | None, form: QuantizationForm) -> None:
    before, after = saved(tmp_path / "before.tflite", parts(op, last)), tmp_path / "after.tflite"
    found = quantize_model(before, after, form, take_samples(ROWS))
    assert found.kinds == OpKinds(2 + (last is not None), 0, 0)
    x = ROWS[3]
    expected = 2 * (x[:, 2:4] if op == "SPLIT" else x[1])
    runner = Interpreter(after).get_signature_runner()
    for _ in range(2):
        y = runner(x=x)["y"]
        np.testing.assert_allclose(y, expected if last is None else np.tanh(expected), atol=0.05)
