"""Activations of TRANSPOSE_CONV: ops of their own, unless the range of integers says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.forms import QuantizationForm
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(5)
W = RANDOM.uniform(-1, 1, size=(4, 3, 3, 2))
B = RANDOM.normal(size=4)
ROWS = [RANDOM.uniform(-1, 1, size=(1, 5, 5, 2)).astype(np.float32) for _ in range(32)]


def convolved(kind: str, size: int) -> tuple[Graph, int, int, int]:
    """An activation behind a transposed convolution of five rows, and the input, the convolved and the activated."""
    graph = Graph()
    shape, stride = (1, size, size, 4), size // 5
    sizes = graph.tensor("sizes", (4,), np.int32, value=shape)
    x, w, b = graph.input("x", (1, 5, 5, 2)), graph.tensor("w", W.shape, value=W), graph.tensor("b", (4,), value=B)
    made, y = graph.tensor("made", shape), graph.tensor("activated", shape)
    graph.builtin("TRANSPOSE_CONV", [sizes, w, x, b], [made], strideW=stride, strideH=stride, padding=0)
    graph.builtin(kind, [made], [y])
    return graph, x, made, y


def activated(kind: str, readers: int = 1) -> Graph:
    """An activation of a transposed convolution, of which other ops may read what is activated, too."""
    graph, _, made, y = convolved(kind, 10)
    graph.builtin("MUL", [y, graph.tensor("two", [], value=2.0)], [graph.output("y", (1, 10, 10, 4))])
    if readers > 1:
        graph.builtin("TANH", [made], [graph.output("z", (1, 10, 10, 4))])
    return graph


@pytest.mark.parametrize("kind", ["RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("form", ["int8", "int16"])
def test_int8_needs_no_op_for_it(tmp_path: Path, kind: str, form: QuantizationForm) -> None:
    before, after = saved(tmp_path / "before.tflite", activated(kind)), tmp_path / "after.tflite"
    litefuse.quantize(before, litefuse.Quantization(form, samples=ROWS)).save(after)
    graph = Model(after.read_bytes()).graphs[0]
    names = [op.name for op in graph.ops]
    assert names.count("TRANSPOSE_CONV") == 1
    # The range of int16 is symmetric: there, an activation takes away what is below 0.
    assert (kind in names) == (form == "int16" and kind != "RELU_N1_TO_1")
    assert names.count("DEQUANTIZE") == 1
    expected, actual = Interpreter(before).get_signature_runner(), Interpreter(after).get_signature_runner()
    for x in (ROWS[2], ROWS[7], ROWS[2]):
        y = expected(x=x)["y"]
        np.testing.assert_allclose(actual(x=x)["y"], y, atol=(0.03 if form == "int8" else 0.01) * np.abs(y).max())


def test_what_others_read_is_computed(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", activated("RELU", readers=2)), tmp_path / "after.tflite"
    litefuse.quantize(before, litefuse.Quantization("int8", samples=ROWS)).save(after)
    assert "RELU" in [op.name for op in Model(after.read_bytes()).graphs[0].ops]
    expected, actual = Interpreter(before).get_signature_runner(), Interpreter(after).get_signature_runner()
    for name, y in expected(x=ROWS[3]).items():
        np.testing.assert_allclose(actual(x=ROWS[3])[name], y, atol=0.03 * np.abs(y).max())


@pytest.mark.parametrize("options", [{"keep_float_ops": ["RELU"]}, {"keep_float": ["^made;"]}])
def test_what_stays_in_floating_point_stays_apart(tmp_path: Path, options: dict[str, Any]) -> None:
    before, after = saved(tmp_path / "before.tflite", activated("RELU")), tmp_path / "after.tflite"
    litefuse.quantize(before, litefuse.Quantization("int8", samples=ROWS, **options)).save(after)
    assert "RELU" in [op.name for op in Model(after.read_bytes()).graphs[0].ops]


def beside_signed_numbers(kind: str) -> Graph:
    """An activation in one concatenation with its signed operand, so that both have one range."""
    graph, x, _, y = convolved(kind, 5)
    graph.builtin("CONCATENATION", [y, x], [graph.output("y", (1, 5, 5, 6))], axis=3)
    return graph


@pytest.mark.parametrize("kind", ["RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_a_range_with_other_numbers(tmp_path: Path, kind: str, form: QuantizationForm, factor: float) -> None:
    rows = [factor * row for row in ROWS]
    before, after = saved(tmp_path / "before.tflite", beside_signed_numbers(kind)), tmp_path / "after.tflite"
    litefuse.quantize(before, litefuse.Quantization(form, samples=rows, require_integer=True)).save(after)
    expected, actual = Interpreter(before).get_signature_runner(), Interpreter(after).get_signature_runner()
    for x in (rows[2], rows[7], rows[2]):
        y = expected(x=x)["y"]
        np.testing.assert_allclose(actual(x=x)["y"], y, atol=(0.03 if form == "int8" else 0.02) * np.abs(y).max())
    names = [op.name for op in Model(after.read_bytes()).graphs[0].ops]
    if form == "int16":
        assert (kind in names) == (kind != "RELU_N1_TO_1")  # of which LiteRT has no int16
    else:  # OpenVINO does not look at fused ones
        (report,) = litefuse.check(after, "openvino").reports
        assert report.verdict == "accelerated"


@pytest.mark.parametrize("form", ["dynamic", "weights", "float16", "int8", "int16"])
@pytest.mark.parametrize("kept", [False, True])
def test_fused_ones_of_other_converters(tmp_path: Path, form: QuantizationForm, kept: bool) -> None:
    graph = activated("RELU")
    operator, kind, _ = graph.operators[0]
    assert kind == "TRANSPOSE_CONV"
    operator.builtinOptions.fusedActivationFunction, operator.outputs = 1, graph.operators.pop(1)[0].outputs
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    samples = ROWS if form in {"int8", "int16"} else None
    options: dict[str, Any] = {"keep_float_ops": ["CONV_2D_TRANSPOSE"]} if kept else {}
    litefuse.quantize(before, litefuse.Quantization(form, samples=samples, **options)).save(after)
    names = [op.name for op in Model(after.read_bytes()).graphs[0].ops]
    assert ("RELU" in names) == (form != "int8" or kept)
    expected, actual = Interpreter(before).get_signature_runner(), Interpreter(after).get_signature_runner()
    for x in (ROWS[3], ROWS[4], ROWS[3]):
        y = expected(x=x)["y"]
        np.testing.assert_allclose(actual(x=x)["y"], y, atol=0.03 * np.abs(y).max())
