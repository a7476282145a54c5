"""Tensors without elements: constant outputs, and what is computed of nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import QuantizationForm
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph


def empty() -> Graph:
    """The tangent of the input, of none of it, and a constant without elements."""
    graph = Graph()
    x, none = graph.input("x", [1, 4]), graph.tensor("none", [1, 0])
    begin, size = (graph.tensor(name, [2], np.int32, value=value) for name, value in (("b", [0, 2]), ("s", [1, 0])))
    graph.builtin("SLICE", [x, begin, size], [none])
    graph.builtin("TANH", [x], [graph.output("y", [1, 4])])
    graph.builtin("TANH", [none], [graph.output("z", [1, 0])])
    graph.output("constant", [0, 3], value=np.zeros((0, 3)))
    return graph


@pytest.mark.parametrize("form", ["int8", "int16"])
def test_they_have_a_range(tmp_path: Path, form: QuantizationForm) -> None:
    before, after = saved(tmp_path / "before.tflite", empty()), tmp_path / "after.tflite"
    x = np.array([[-1, 0, 0.5, 1]], np.float32)
    quantize_model(before, after, form, take_samples([{"x": x}]))
    runner = Interpreter(after).get_signature_runner()
    for _ in range(2):
        found = runner(x=x)
        np.testing.assert_allclose(found["y"], np.tanh(x), atol=0.02)
        assert (found["z"].shape, found["constant"].shape) == ((1, 0), (0, 3))
