"""A file that exists is quantized as the model that a conversion writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import QuantizationError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.forms import INTEGER_ACTIVATIONS
from tests.every import every
from tests.tensorflow.checking import run_calls
from tests.tensorflow.models_to_quantize import KINDS, build

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import TensorFlow

FORMS: list[QuantizationForm] = ["dynamic", "weights", "float16", "int8", "int16"]


def ops(path: Path) -> Counter[tuple[str, ...]]:
    """The ops of a file, with the dtypes of their results."""
    with content_of(path) as content:
        return Counter(
            (op.composite or op.name, *(str(graph.tensor(output).dtype) for output in op.outputs))
            for graph in Model(content).graphs
            for op in graph.ops
        )


def test_there_are_20_kinds() -> None:
    assert len(KINDS) >= 20


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_are_equal(tensorflow: TensorFlow, kind: str, form: QuantizationForm, tmp_path: Path) -> None:
    path, options, calls = tensorflow.save(build, kind), KINDS[kind].options, KINDS[kind].calls()
    quantization = litefuse.Quantization(form, samples=calls if form in INTEGER_ACTIVATIONS else None)
    if (kind, form) == ("fused LSTM", "int16"):
        with pytest.raises(QuantizationError, match="would stay in floating point"):
            litefuse.convert(path, quantize=quantization, **options)
        return
    at_once = litefuse.convert(path, quantize=quantization, **options)
    in_two = litefuse.quantize(litefuse.convert(path, **options), quantization)
    assert len(in_two.model_bytes) == pytest.approx(len(at_once.model_bytes), rel=0.01)
    assert ops(in_two.save(tmp_path / "in_two.tflite")) == ops(at_once.save(tmp_path / "at_once.tflite"))
    outputs: list[list[dict[str, Any]]] = [
        run_calls(model.model_bytes, calls, kernel_pack=kind == "custom op") for model in (at_once, in_two)
    ]
    for one, other in zip(*outputs, strict=True):
        assert one.keys() == other.keys()
        assert every(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *[("transformer", "int8"), ("tied table", "int8"), ("GRU", "int16")],  # of a loop's body, all or nothing
        *[("fused LSTM", ""), ("custom op", "")],
    ],
)
def test_int16_where_int8_is_not_enough(tensorflow: TensorFlow, kind: str, form: str) -> None:
    """Layers of int16 beside others of int8, among them recurrent and custom ops, make no output much worse."""
    path, options, calls = tensorflow.save(build, kind), KINDS[kind].options, KINDS[kind].calls()
    model = litefuse.convert(path, **options)
    narrow = litefuse.quantize(
        model, litefuse.Quantization("int8", samples=calls, io=(False, True))
    ).report.quantization
    assert narrow is not None
    assert narrow.error is not None
    limit = 0.7 * narrow.error
    mixed = litefuse.Quantization("auto", samples=calls, io=(False, True), max_error=limit)
    if not form:  # what cannot be int16
        with pytest.raises(QuantizationError, match="allowed") as raised:
            litefuse.quantize(model, mixed)
        assert raised.value.error is not None
        assert limit < raised.value.error < 1.2 * narrow.error  # the ranges avoid powers of two
        return
    result = litefuse.quantize(model, mixed)
    whole = result.report
    report = whole.quantization
    assert report is not None
    assert report.error is not None
    assert report.error <= limit
    assert report.form == form
    assert {str(array.dtype) for array in run_calls(result.model_bytes, calls)[0].values()} == {"int8"}
    if form == "int16":
        assert "mixed with int8" in report.instead
        return
    assert report.mixed is not None
    wide = [layer.layer for layer in report.mixed.layers if layer.form == "int16"]
    assert f"Layers in int16: {len(wide)}" in whole.details()
    assert any(layer in whole.details() for layer in wide)


@pytest.mark.parametrize("form", ["weights", "float16"])
@pytest.mark.parametrize("batch", [None, 2])
def test_weights_of_fused_layers(tensorflow: TensorFlow, batch: int | None, form: QuantizationForm) -> None:
    """LiteRT loses what it dequantized once when states get another size: only those of a fixed size are stored so."""
    model = litefuse.convert(tensorflow.save(build, "fused LSTM"), batch=batch, rnn="fused")
    result = litefuse.quantize(model, form)
    assert result.report.quantization is not None
    reasons = [op.reason for op in result.report.quantization.floats]
    assert len(result.model_bytes) < {"weights": 0.4, "float16": 0.6}[form] * len(model.model_bytes) or batch is None
    assert [reason.startswith("LiteRT loses weights") for reason in reasons] == [True] * (batch is None)
    random = np.random.default_rng(1)
    shapes = [(size, 20, 32) for size in ((1, 3, 3, 2) if batch is None else (batch,) * 3)]
    calls = [("serving_default", {"x": random.normal(size=shape).astype(np.float32)}) for shape in shapes]
    outputs = [run_calls(content, calls) for content in (model.model_bytes, result.model_bytes)]
    for expected, actual in zip(*outputs, strict=True):
        np.testing.assert_allclose(actual["y"], expected["y"], atol=0.02 * np.abs(expected["y"]).max())
