"""Small models for microcontrollers and NPUs: in floating point and int8, in tflite-micro, and compiled by Vela."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow import device_models
from tests.tensorflow.device_models import Device
from tests.tensorflow.microcontrollers import compiled, run_floats, run_integers, run_micro

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow

MODELS = [
    Device("separable_cnn"),
    Device("residual_cnn"),
    Device("autoencoder", "tf_keras"),
    Device("keyword_spotter", "tf_keras"),
    Device("person_detector"),
    Device("mobile_v3"),
    Device("unet"),
    Device("resizing_unet"),
    Device("temporal_cnn"),
    Device("cnn_1d"),
    Device("leaky_relu"),
    Device("heads"),
    Device("attention"),
    Device("vit"),
    Device("lstm"),
    Device("bidirectional_lstm", "tf_keras"),
    Device("gru"),
    Device("stacked_gru"),
    Device("bidirectional_gru"),
    Device("simple_rnn", "tf_keras"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_device_model(tensorflow: TensorFlow, tmp_path: Path, model: Device) -> None:
    """tflite-micro gives LiteRT's numbers in each of two calls, they are nearly TensorFlow's, and all is on the NPU."""
    path = tensorflow.save(device_models.build, *model)
    calls = [each for each in device_models.inputs(model.kind, 4, 2) for _ in range(2)]
    expected = [each["y"] for each in tensorflow.run_calls(path, [("serving_default", {"x": each}) for each in calls])]
    size = max(float(np.abs(each).max()) for each in expected)
    assert np.abs(expected[0] - expected[2]).max() > 0.01 * size  # the inputs matter

    result = litefuse.convert(path, target="micro", checks=litefuse.Checks(targets=False))
    given, found, _ = run_floats(result.model_bytes, calls)
    runs = "GELU" not in result.report.op_counts  # which tflite-micro lacks
    of_micro = run_micro(result.model_bytes, given) if runs else found
    for ours, micro, exact in zip(found, of_micro, expected, strict=True):
        np.testing.assert_allclose(micro, ours, atol=1e-5 * size)
        np.testing.assert_allclose(micro, exact, atol=2e-5 * size)

    samples: list[Any] = [{"x": each} for each in device_models.inputs(model.kind, 60, 1)]
    options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", io=True, samples=samples)}
    result = litefuse.convert(path, target="ethos-u", checks=litefuse.Checks(targets=False), **options)
    given, found, numbers = run_integers(result.model_bytes, calls)
    for ours, micro in zip(found, run_micro(result.model_bytes, given) if runs else found, strict=True):
        # XNNPACK rounds transposed convolutions otherwise; LiteRT's reference kernels give tflite-micro's numbers. Of
        # attention, they are as far apart as XNNPACK.
        limits = {"TRANSPOSE_CONV": 8, "BATCH_MATMUL": 3}
        limit = max((most for op, most in limits.items() if op in result.report.op_counts), default=2)
        assert np.abs(ours.astype(int) - micro).max() <= limit
    for first, second in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_array_equal(first, second)
    assert np.mean([np.abs(a - b).max() for a, b in zip(numbers, expected, strict=True)]) < 0.1 * size

    made = compiled(result.model_bytes, tmp_path)
    assert made.on_npu > 0
    assert made.on_cpu == 0, result.report
    assert not made.states_read


def test_the_arena_of_a_recurrent_model_is_measured(tensorflow: TensorFlow, tmp_path: Path) -> None:
    """In an arena that is a little too small, the kernel of the LSTM ends the process that loads it."""
    path = tensorflow.save(device_models.build, *Device("lstm"))
    result = litefuse.convert(path, target="micro:1K")
    (check,) = result.report.target_checks
    assert (check.target, check.verdict) == ("micro:1K", "refused")
    made = litefuse.export_micro(result, tmp_path / "app")
    assert made.measured is not None
    assert 2000 < made.measured < 8000
    assert f"an arena of {made.measured:,} bytes, but there are 1,024" in check.refused[0]
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in made.ops
    main = (tmp_path / "app" / "main.cc").read_text()
    assert "model::Reset()" in main  # its states: after a reset, the calls are as before
    assert made.calls == 2
