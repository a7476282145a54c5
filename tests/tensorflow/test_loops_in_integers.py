"""Recurrent layers as loops whose bodies compute in integers, and the form that microcontrollers get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.litert.runtime.schema_objects import objects_of
from tests.in_part import in_part
from tests.tensorflow import device_models, recurrent_models
from tests.tensorflow.checking import interpreter
from tests.tensorflow.device_models import Device
from tests.tensorflow.microcontrollers import run_integers, run_micro
from tests.tensorflow.recurrent_models import Case

if TYPE_CHECKING:
    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import TensorFlow

FAMILIES = [
    *("sequence GRU", "last GRU", "reset_before GRU", "stack GRU", "initial_state GRU", "return_state GRU"),
    *("sequence LSTM", "last LSTM", "initial_state LSTM", "sequence SimpleRNN", "relu SimpleRNN", "hard_sigmoid GRU"),
]
IN_INT8 = [
    *("masked GRU", "bidirectional GRU", "backwards GRU", "masked LSTM", "bidirectional LSTM", "masked SimpleRNN"),
]
CASES: list[tuple[str, QuantizationForm]] = [
    *((family, "int8") for family in [*FAMILIES, *IN_INT8]),
    *((family, "int16") for family in FAMILIES),
]
# The mean error of outputs that are between -1 and 1.
LIMITS: dict[QuantizationForm, float] = {"int8": 0.02, "int16": 0.005}


def quantization(form: QuantizationForm, samples: list[dict[str, Any]], **options: Any) -> litefuse.Quantization:
    return litefuse.Quantization(form, io=True, samples=samples, require_integer=True, **options)


@pytest.mark.parametrize(("family", "form"), in_part(CASES, 5))
def test_layer(tensorflow: TensorFlow, family: str, form: QuantizationForm) -> None:
    """Every op is in integers, and tflite-micro gives LiteRT's numbers, which are nearly TensorFlow's."""
    case = Case("keras", family, 1, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    drawn = [recurrent_models.inputs(case, seed)[0] for seed in range(80)]
    result = litefuse.convert(
        path, target="micro", rnn="loop", quantize=quantization(form, drawn), checks=litefuse.Checks(targets=False)
    )
    assert result.report.op_counts["WHILE"] >= 1
    runner = interpreter(result.model_bytes).get_signature_runner()
    takes, gives = runner.get_input_details(), runner.get_output_details()
    calls = [
        {name: quantized(value, takes[name]) if value.dtype == np.float32 else value for name, value in inputs.items()}
        for inputs in drawn[:8]
    ]
    with content_of(result.model_bytes) as content:
        signature, graph = Model(content).signatures["serving_default"], Model(content).graphs[0]
    order = sorted(signature.inputs, key=lambda name: graph.inputs.index(signature.inputs[name]))
    first = min(signature.outputs, key=lambda name: graph.outputs.index(signature.outputs[name]))
    micro = run_micro(result.model_bytes, [[inputs[name] for name in order] for inputs in calls])
    expected = tensorflow.run_calls(path, [("serving_default", inputs) for inputs in drawn[:8]])
    errors: list[float] = []
    for inputs, theirs, exact in zip(calls, micro, expected, strict=True):
        found = runner(**inputs)
        for name, again in runner(**inputs).items():
            np.testing.assert_array_equal(again, found[name])
            errors.append(float(np.abs(dequantized(found[name], gives[name]) - exact[name]).mean()))
        # The weights are large: where a step is rounded otherwise, the later ones are further apart.
        assert np.abs(dequantized(found[first], gives[first]) - dequantized(theirs, gives[first])).mean() < LIMITS[form]
    assert np.mean(errors) < LIMITS[form]


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("family", in_part(["sequence GRU", "last GRU", "last LSTM", "masked LSTM"], 2))
def test_batches(tensorflow: TensorFlow, family: str, form: QuantizationForm) -> None:
    """Of a batch that is open, each row gives what it gives alone, in integers throughout and without large tables."""
    case = Case("keras", family, None, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    samples = [recurrent_models.inputs(case, seed)[0] for seed in range(40)]
    result = litefuse.convert(path, rnn="loop", quantize=quantization(form, samples))
    assert result.report.op_counts["WHILE"] == 1
    assert len(result.model_bytes) < 40_000
    model = interpreter(result.model_bytes)
    runner = model.get_signature_runner()
    takes = runner.get_input_details()
    rows = [
        {name: quantized(value, takes[name]) if value.dtype == np.float32 else value for name, value in sample.items()}
        for sample in samples[:3]
    ]
    together = np.array(runner(**{name: np.concatenate([row[name] for row in rows]) for name in takes})["y0"])
    for row, of_row in zip(rows, together, strict=True):
        np.testing.assert_array_equal(runner(**row)["y0"][0], of_row)


@pytest.mark.parametrize(("kind", "chosen", "other"), [("gru", "a loop", "unrolled"), ("lstm", "fused", "a loop")])
def test_the_form_for_microcontrollers(tensorflow: TensorFlow, kind: str, chosen: str, other: str) -> None:
    """It is the smallest of those that tflite-micro runs, the report compares them, and names are left out."""
    path = tensorflow.save(device_models.build, *Device(kind))
    samples: list[Any] = [{"x": x} for x in device_models.inputs(kind, 20, 1)]
    options: dict[str, Any] = {"target": "micro", "quantize": quantization("int8", samples)}
    result = litefuse.convert(path, **options)
    first, second = sorted(result.report.forms, key=lambda form: form.form != chosen)
    assert (first.form, first.chosen, second.form, second.chosen) == (chosen, True, other, False)
    assert first.size == result.report.size < second.size
    assert first.arena is not None
    assert second.arena is not None
    assert first.arena < second.arena
    (text,) = [line for line in str(result.report).splitlines() if line.lstrip().startswith("forms")]
    assert text.endswith(
        f"{chosen}, {first.size:,} bytes and an arena of {first.arena:,}; "
        f"not {other}, {second.size:,} bytes and an arena of {second.arena:,}"
    )
    assert [check.verdict for check in result.report.target_checks] == ["accelerated"]
    given, found, _ = run_integers(result.model_bytes, device_models.inputs(kind, 20, 2))
    for ours, theirs in zip(found, run_micro(result.model_bytes, given), strict=True):
        assert np.abs(ours.astype(int) - theirs).max() <= 1
    tensors = [tensor for graph in objects_of(result.model_bytes).subgraphs for tensor in graph.tensors]
    assert [bool(tensor.name) for tensor in tensors].count(True) == 2
    named = litefuse.convert(path, debug=litefuse.Debugging(tensor_names=True), **options)
    assert len(named.model_bytes) > first.size
    # What the user chose is made alone.
    loop = litefuse.convert(path, rnn="loop", **options)
    assert not loop.report.forms
    assert "WHILE" in loop.report.op_counts
