"""The difference that quantization makes in each tensor inside a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.difference import layer_differences
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import InterpreterError
from litefuse.support.options.forms import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.every import every
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(32, 32)).astype(np.float32)
ROWS = [RANDOM.normal(size=(1, 32)).astype(np.float32) for _ in range(20)]


def chain(*factors: float, extra: str = "") -> Graph:
    """``x``, multiplied by one factor after the other; ``[1, 4]`` or more rows."""
    graph = Graph()
    last = graph.input("x", [1, 4], signature=[-1, 4])
    for number, factor in enumerate(factors):
        by = graph.tensor(f"by {number}", [], value=factor)
        name = f"{extra}t{number}" if number < len(factors) - 1 else "y"
        out = graph.tensor(name, [1, 4], signature=[-1, 4])
        graph.builtin("MUL", [last, by], [out])
        last = out
    graph.outputs.append(last)
    return graph


def test_where_the_difference_begins(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", chain(2, 3, 4))
    after = saved(tmp_path / "after.tflite", chain(2, 3.3, 4))
    calls = {"serve": [{"x": np.ones((batch, 4), np.float32)} for batch in (1, 3)]}
    found = layer_differences(before, after, calls)
    assert [(each.tensor, each.op, each.dtype) for each in found] == [
        ("t0", "MUL", "float32"),
        ("t1", "MUL", "float32"),
        ("y", "MUL", "float32"),
    ]
    np.testing.assert_allclose([each.error for each in found], [0, 0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose([each.added for each in found], [0, 0.1, 0], atol=1e-6)


def test_tensors_of_other_names_are_skipped(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", chain(2, 3))
    after = saved(tmp_path / "after.tflite", chain(2, 3.3, extra="other "))
    (found,) = layer_differences(before, after, {"serve": [{"x": np.ones((1, 4), np.float32)}]})
    assert (found.tensor, found.added) == ("y", pytest.approx(0.1))


@pytest.mark.parametrize("form", ["dynamic", "float16", "int8", "int16"])
def test_of_a_quantized_model(tmp_path: Path, form: Quantization) -> None:
    graph = Graph()
    x, weights = graph.input("x", [1, 32]), graph.tensor("weights", [32, 32], value=WEIGHTS)
    product = graph.tensor("product", [1, 32])
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [product])
    graph.builtin("TANH", [product], [graph.output("y", [1, 32])])
    before, samples = saved(tmp_path / "before.tflite", graph), take_samples(ROWS)
    found = quantize_model(
        before, tmp_path / "after.tflite", form, samples if form in {"int8", "int16"} else None, layers=True
    )
    assert [each.tensor for each in found.layers] == ["product", "y"]
    assert {each.dtype for each in found.layers} == {form if form in {"int8", "int16"} else "float32"}
    assert every(0 < each.error < 0.05 for each in found.layers)
    assert quantize_model(before, tmp_path / "after.tflite", "dynamic").layers == ()


def test_a_model_that_does_not_run(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", chain(2, 3))
    with pytest.raises(InterpreterError, match="its layers cannot be compared") as raised:
        layer_differences(before, before, {"serve": [{"x": np.ones((1, 4), np.int32)}]})
    assert raised.value.where == "sample 1 of 'serve'"
