"""AudioSpectrogram and Mfcc: custom ops of the names and options that LiteRT's own kernels have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from tests.tensorflow.checking import check, custom_options

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def features(tf: Any, rows: int | None, window: int, stride: int, limits: tuple[float, float], rate: int | None) -> Any:
    """The spectrogram of a sound, its coefficients, and the amplitudes."""

    def serve(sound: Any) -> dict[str, Any]:
        squares, amplitudes = (
            tf.raw_ops.AudioSpectrogram(input=sound, window_size=window, stride=stride, magnitude_squared=squared)
            for squared in (True, False)
        )
        coefficients = tf.raw_ops.Mfcc(
            spectrogram=squares,
            sample_rate=tf.constant(8000) if rate is None else tf.shape(sound)[0] * 0 + rate,
            lower_frequency_limit=limits[0],
            upper_frequency_limit=limits[1],
            filterbank_channel_count=20,
        )
        return {"squares": squares, "amplitudes": amplitudes, "coefficients": coefficients}

    module = tf.Module()
    specs = [tf.TensorSpec([rows, 2], tf.float32, name="sound")]
    module.serve = tf.function(serve, input_signature=specs)
    return module, {"serving_default": module.serve}


def sounds(*lengths: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    return [{"sound": random.uniform(-1, 1, (length, 2)).astype(np.float32)} for length in lengths]


@pytest.mark.parametrize(("window", "stride"), [(5, 10), (18, 2), (256, 100)])
def test_sounds_of_any_length(tensorflow: TensorFlow, window: int, stride: int) -> None:
    path = tensorflow.save(features, None, window, stride, (20.0, 4000.0), None)
    result = check(tensorflow, path, sounds(300, 256, 512), atol=1e-5)
    outcomes = {(each.op, each.outcome) for each in result.report.lacking_ops}
    assert outcomes == {("AudioSpectrogram", "runtime"), ("Mfcc", "runtime")}
    assert custom_options(result.model_bytes)["Mfcc"][0]["filterbank_channel_count"] == 20
    assert "LiteRT has the kernel" in result.report.details()


def test_a_computed_rate(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(features, 300, 64, 50, (0.0, 3000.0), 16000), sounds(300), atol=1e-5)


def test_limits_that_the_kernel_would_round(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(features, 300, 64, 50, (20.5, 3000.0), None)
    with pytest.raises(UnsupportedOpsError, match=r"lower_frequency_limit is 20\.5") as caught:
        litefuse.convert(path)
    assert [each.op for each in caught.value.ops] == ["Mfcc"]


def test_they_are_no_builtin_ops(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(features, 300, 64, 50, (20.0, 3000.0), None)
    with pytest.raises(UnsupportedOpsError, match="AudioSpectrogram, Mfcc"):
        litefuse.convert(path, allow_custom_ops="never")
