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
        assert all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("kind", ["fused LSTM", "transformer", "tied table", "custom op", "state", "GRU"])
def test_int16_where_int8_is_not_enough(tensorflow: TensorFlow, kind: str) -> None:
    """Layers of int16 beside others of int8, among them recurrent and custom ops, make an output nowhere worse."""
    path, options, calls = tensorflow.save(build, kind), KINDS[kind].options, KINDS[kind].calls()
    model = litefuse.convert(path, **options)
    quantization = litefuse.Quantization("int8", samples=calls, io=(False, True))
    narrow = litefuse.quantize(model, quantization).report.quantization
    assert narrow is not None
    assert narrow.error is not None
    limit = 0.75 * narrow.error
    mixed = litefuse.Quantization("auto", samples=calls, io=(False, True), max_error=limit)
    try:
        report = litefuse.quantize(model, mixed).report.quantization
    except QuantizationError as error:
        assert error.error is not None
        assert limit < error.error <= 1.05 * narrow.error  # int16 throughout is not enough: what stays float or int8
    else:
        assert report is not None
        assert report.error is not None
        assert report.error <= limit
        assert report.mixed is not None
        assert "int16" in {layer.form for layer in report.mixed.layers}
