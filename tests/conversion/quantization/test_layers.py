"""The difference that quantization makes in each tensor inside a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.conversion.quantization.difference import layer_differences
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import InterpreterError
from litefuse.support.options.forms import QuantizationForm
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
def test_of_a_quantized_model(tmp_path: Path, form: QuantizationForm) -> None:
    graph = Graph()
    x, weights = graph.input("x", [1, 32]), graph.tensor("weights", [32, 32], value=WEIGHTS)
    product = graph.tensor("product", [1, 32])
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [product])
    graph.builtin("TANH", [product], [graph.output("y", [1, 32])])
    before, samples = saved(tmp_path / "before.tflite", graph), take_samples(ROWS)
    quantization = litefuse.Quantization(form, measure_layers=True)
    found = quantize_model(
        before, tmp_path / "after.tflite", quantization, samples if form in {"int8", "int16"} else None
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


def test_over_all_calls(tmp_path: Path) -> None:
    """The first sixteen count: the root of the mean square."""
    before, after = saved(tmp_path / "before.tflite", chain(2)), saved(tmp_path / "after.tflite", clipped())
    calls = [{"x": np.full((1, 4), value, np.float32)} for value in (1, -2)]
    (layer,) = layer_differences(before, after, {"serve": calls})
    assert (layer.error, layer.added) == pytest.approx(((4 / 5) ** 0.5,) * 2)
    (layer,) = layer_differences(before, after, {"serve": [calls[0]] * 16 + [calls[1]]})
    assert layer.error == 0
    (layer,) = layer_differences(before, after, {"serve": [calls[0]] * 15 + [calls[1]]})
    assert layer.error > 0
    (layer,) = layer_differences(before, after, {"serve": [{"x": np.zeros((1, 4), np.float32)}]})
    assert layer.error == 0


def clipped() -> Graph:
    """``2 * max(x, 0)``, as an output of the same name."""
    graph = Graph()
    x, positive = graph.input("x", [1, 4]), graph.tensor("positive", [1, 4])
    graph.builtin("RELU", [x], [positive])
    graph.builtin("ADD", [positive, positive], [graph.output("y", [1, 4])])
    return graph


def test_the_call_that_does_not_run(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", chain(2, 3))
    calls = [{"x": np.ones((1, 4), dtype)} for dtype in (np.float32, np.int32)]
    with pytest.raises(InterpreterError) as raised:
        layer_differences(before, before, {"serve": calls})
    assert raised.value.where == "sample 2 of 'serve'"


def joined(factor: float, *, middle: str = "middle", rows: int = 1) -> Graph:
    """``(3 * x) * factor``, squared and concatenated with ``x``, beside the shape of it."""
    graph = Graph()
    x, named = graph.input("x", [1, 4]), graph.tensor(middle, [1, 4])
    first, squared = graph.tensor("first", [1, 4]), graph.tensor("squared", [rows, 4])
    graph.builtin("MUL", [x, graph.tensor("three", [], value=3.0)], [first])
    graph.builtin("MUL", [first, graph.tensor("factor", [], value=factor)], [named])
    tiled = named
    if rows > 1:
        tiled = graph.tensor("tiled", [rows, 4])
        graph.builtin("TILE", [named, graph.tensor("times", [2], np.int32, value=[rows, 1])], [tiled])
    graph.builtin("MUL", [tiled, tiled], [squared])
    graph.builtin("SHAPE", [squared], [graph.output("shape", [2], np.int32)], outType=2)
    graph.builtin("CONCATENATION", [x, squared], [graph.output("y", [1 + rows, 4])])
    return graph


CALL = {"serve": [{"x": np.ones((1, 4), np.float32)}]}


def test_what_ops_add_to_what_they_are_given(tmp_path: Path) -> None:
    """Through tensors that are not compared; integers, and what has another shape, are none of these."""
    before, after = saved(tmp_path / "before.tflite", joined(1.0)), saved(tmp_path / "after.tflite", joined(1.2))
    layers = {layer.tensor: (layer.op, layer.error, layer.added) for layer in layer_differences(before, after, CALL)}
    assert layers["first"] == ("MUL", 0, 0)
    assert layers["middle"][1:] == pytest.approx((0.2, 0.2), rel=1e-5)
    assert layers["squared"][1:] == pytest.approx((0.44, 0.24), rel=1e-5)
    assert layers["y"][0] == "CONCATENATION"
    assert layers["y"][1:] == pytest.approx((0.44 * (81 / 82) ** 0.5, 0), rel=1e-5)
    assert [*layers] == ["first", "middle", "squared", "y"]
    other = saved(tmp_path / "other.tflite", joined(1.2, middle="renamed"))
    (_, squared, _) = layer_differences(before, other, CALL)
    assert (squared.tensor, squared.added) == ("squared", pytest.approx(0.44, rel=1e-5))
    larger = saved(tmp_path / "larger.tflite", joined(1.2, rows=2))
    assert [layer.tensor for layer in layer_differences(before, larger, CALL)] == ["first", "middle"]
    _, _, *more = layer_differences(before, saved(tmp_path / "same.tflite", joined(1.0, middle="renamed")), CALL)
    assert [layer.added for layer in more] == [0]


def test_tensors_of_other_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Complex numbers are compared, and a composite has its own name."""
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})

    @litefuse.custom_op("Turned")
    class Turned(litefuse.CustomOp):  # pyright: ignore[reportUnusedClass]
        def prepare(self, x: litefuse.TensorSpec, **_: object) -> litefuse.TensorSpec:
            return litefuse.TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any, *, by: int) -> None:
            outputs[0][...] = inputs[0] * 1j**by

    def turned(by: int) -> Path:
        graph = Graph()
        x, y = graph.input("x", [2], np.complex64), graph.output("y", [2], np.complex64)
        graph.custom("Turned", [x], [y], {"by": by})
        return saved(tmp_path / f"{by}.tflite", graph)

    x = np.array([1, 2j], np.complex64)
    (layer,) = layer_differences(turned(0), turned(1), {"serve": [{"x": x}]})
    assert (layer.dtype, layer.error) == ("complex64", pytest.approx(2**0.5))


def test_a_composite_has_its_name(tmp_path: Path) -> None:
    graph, body = Graph(), Graph()
    body.builtin("ABS", [body.input("a", [2])], [body.output("b", [2])])
    graph.composite("my.composite", [graph.input("x", [2])], [graph.output("y", [2])], {}, 1)
    path = saved(tmp_path / "model.tflite", graph, body)
    (layer,) = layer_differences(path, path, {"serve": [{"x": np.ones(2, np.float32)}]})
    assert layer.op == "my.composite"


def test_each_signature(tmp_path: Path) -> None:
    """Their graphs are where each model has them."""
    x = {"x": np.ones((1, 4), np.float32)}
    first, second = chain(2, 3), chain(5)
    before = saved(tmp_path / "before.tflite", first, second, signatures={"a": 0, "b": 1})
    after = saved(tmp_path / "after.tflite", chain(5.5), chain(2, 3), signatures={"b": 0, "a": 1})
    layers = layer_differences(before, after, {"a": [x], "b": [x]})
    assert [(layer.signature, layer.tensor) for layer in layers] == [("a", "t0"), ("a", "y"), ("b", "y")]
    np.testing.assert_allclose([layer.error for layer in layers], [0, 0, 0.1], atol=1e-6)
