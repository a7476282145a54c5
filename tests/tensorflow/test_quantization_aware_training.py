"""Models that were trained with fake quantization, in integers: against TensorFlow, and beside the stock converter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.in_part import in_part
from tests.tensorflow.checking import check, op_counts, run_calls
from tests.tensorflow.trained_models import INPUTS, MODELS, build

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow

# The step of the outputs, by the models' names: their range in 255 steps.
STEPS = {
    "convolutions": 8 / 255,
    "residual": 12 / 255,
    "kernels": 6 / 255,
    "dense table": 8 / 255,
    "dense": 10 / 255,
    "many ops": 16 / 255,
}

# A matrix with a scale for each channel is transposed without its axis, a mean gets scales of 4 bits, or weights are
# multiplied with factors of another shape.
REFUSED_BY_STOCK = frozenset(
    {"convolutions", "convolutions, 4 bits", "convolutions, 4 bits throughout", "convolutions, 3 and 6 bits"}
    | {"dense", "dense, 5 bits", "dense, normalized", "kernels of other shapes"}
)


def step_of(name: str) -> float:
    return next(step for key, step in STEPS.items() if name.startswith(key))


def inputs(name: str) -> list[dict[str, Any]]:
    random = np.random.default_rng(4)
    return [{"x": random.normal(size=(batch, *INPUTS[name])).astype(np.float32)} for batch in (1, 3, 8)]


def stock(tf: Any, path: str) -> bytes | str:
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    try:
        return bytes(converter.convert())
    except Exception as error:  # noqa: BLE001 - its error is the answer
        return str(error)


def mean_error(tensorflow: TensorFlow, path: Path, model: bytes, name: str) -> float:
    calls = [("serving_default", each) for each in inputs(name)]
    expected, actual = tensorflow.run_calls(path, calls), run_calls(model, calls)
    return float(np.mean([np.abs(a["y"] - b["y"]).mean() for a, b in zip(actual, expected, strict=True)]))


@pytest.mark.parametrize("name", in_part(MODELS, 3))
def test_outputs_are_those_of_training(tensorflow: TensorFlow, name: str) -> None:
    """Within two steps: one that a result is rounded by, and one that it inherits from the layers before it."""
    path, step = tensorflow.save(build, name), step_of(name)
    result = check(tensorflow, path, inputs(name), rtol=0, atol=2.01 * step, quantize="qat")
    quantization = result.report.quantization
    assert quantization is not None
    stayed = {each.op for each in quantization.floats}
    assert stayed == ({"ABS", "MUL", "MINIMUM", "RELU"} if name == "dense table" else set()), "what computes its ids"
    counts = op_counts(result.model_bytes)
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"]) == ({"many ops": 5, "dense table": 0}.get(name, 1), 1)
    # Biases are multiples of the step of the input times that of the weights: coarse where these have few bits.
    share = 0.75 if "bits" in name else 0.25
    assert mean_error(tensorflow, path, result.model_bytes, name) < share * step


@pytest.mark.parametrize("name", in_part(MODELS, 3))
def test_the_stock_converter_is_no_better(tensorflow: TensorFlow, name: str) -> None:
    path = tensorflow.save(build, name)
    ours = litefuse.convert(path, quantize="qat").model_bytes
    theirs = tensorflow.call(stock, str(path))
    if isinstance(theirs, str):
        assert name in REFUSED_BY_STOCK, theirs
        return
    assert len(ours) <= len(theirs)
    # Theirs leaves a node out where the operand of a concatenation has one of its own.
    assert sum(op_counts(ours).values()) <= sum(op_counts(theirs).values()) + (name == "many ops")
    assert mean_error(tensorflow, path, ours, name) <= mean_error(tensorflow, path, theirs, name) + step_of(name) / 50
