"""Outputs of a model that its own ops read, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(32, 64)).astype(np.float32) * 0.1
ROWS = [RANDOM.normal(size=(1, 64)).astype(np.float32) for _ in range(16)]


def shared(*readers: str) -> Graph:
    """``h = x * weights.T``, which is an output, and what ops make of it."""
    graph = Graph()
    x, weights = graph.input("x", [1, 64], signature=[-1, 64]), graph.tensor("w", [32, 64], value=WEIGHTS)
    hidden = graph.output("h", [1, 32], signature=[-1, 32])
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [hidden])
    for reader in readers:
        graph.builtin(reader, [hidden], [graph.output(reader, [1, 32], signature=[-1, 32])])
    return graph


@pytest.mark.parametrize("quantized_io", [False, True])
@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("readers", [("TANH",), ("COS",), ("TANH", "COS"), ("COS", "TANH", "LOGISTIC"), ("COS", "SIN")])
def test_readers_of_integers_and_of_floating_point(
    tmp_path: Path, readers: tuple[str, ...], form: QuantizationForm, quantized_io: bool
) -> None:
    before, after = saved(tmp_path / "before.tflite", shared(*readers)), tmp_path / "after.tflite"
    found = quantize_model(
        before,
        after,
        Quantization(form, io=quantized_io, keep_float_ops={*readers} & {"COS", "SIN"}),
        take_samples(ROWS),
    )
    assert {each.op for each in found.floats} == {*readers} & {"COS", "SIN"}
    assert found.error is not None
    assert found.error < 0.05
    (signature,) = inspect_litert_model(after).signatures
    assert [each.name for each in signature.outputs] == ["h", *readers]
    if quantized_io:
        return
    interpreters = Interpreter(before), Interpreter(after)
    original, runner = (each.get_signature_runner() for each in interpreters)
    for count in (1, 5, 2):
        x = np.random.default_rng(50 + count).normal(size=(count, 64)).astype(np.float32) * 0.5  # within the ranges
        expected = {name: np.array(value) for name, value in original(x=x).items()}
        for _ in range(2):
            for name, value in runner(x=x).items():
                np.testing.assert_allclose(value, expected[name], atol=0.06)
