"""Numbers rounded to float8 and back, as quantization to it does, against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError
from tests.tensorflow.checking import run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

FORMATS = ("float8_e4m3fn", "float8_e5m2")
DTYPES = ("float32", "float16", "bfloat16")


def rounded(tf: Any) -> Any:
    """A signature for each format and dtype that is cast to it and back."""
    module, signatures = tf.Module(), {}
    for form in FORMATS:
        for dtype in DTYPES:

            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")], autograph=False)
            def serve(x: Any, form: str = form, dtype: str = dtype) -> dict[str, Any]:
                low = tf.cast(tf.cast(x, dtype), form)
                return {"y": tf.cast(tf.cast(low, dtype), tf.float32), "z": tf.cast(low, tf.float32)}

            setattr(module, f"{form}_{dtype}", serve)
            signatures[f"{form}_{dtype}"] = serve.get_concrete_function()
    return module, signatures


def test_numbers_are_rounded_to_float8(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(0)
    ends = [448, 464, 464.1, 480, 57344, 61439, 61440, 61441, 1e30, 2**-6, 2**-9, 2**-10, 2**-16, 2**-17, 2**-18]
    exact = np.concatenate([[np.nan, np.inf, 0.0], ends, 1 + np.arange(65) / 64])
    drawn = random.normal(size=2000) * 10 ** random.uniform(-8, 5, 2000)
    x = np.concatenate([exact, -exact, drawn]).astype(np.float32)
    path = tensorflow.save(rounded)
    calls = [(f"{form}_{dtype}", {"x": x[: 7 * n or None]}) for form in FORMATS for dtype in DTYPES for n in (0, 0, 1)]
    for ours, theirs in zip(
        run_calls(litefuse.convert(path).model_bytes, calls), tensorflow.run_calls(path, calls), strict=True
    ):
        for name in ("y", "z"):
            np.testing.assert_array_equal(ours[name], theirs[name])


def kept(tf: Any, place: str) -> Any:
    """A model that has a tensor of float8, which is not only cast back."""
    low = tf.as_dtype("float8_e5m2")

    @tf.function(
        input_signature=[tf.TensorSpec([4], low if place == "input" else tf.float32, name="x")], autograph=False
    )
    def serve(x: Any) -> dict[str, Any]:
        if place == "input":
            return {"y": tf.cast(x, tf.float32)}
        cast = tf.cast(x, low)
        return {"y": cast if place == "output" else tf.cast(tf.reshape(cast, [2, 2]), tf.float32)}

    module = tf.Module()
    module.serve = serve
    return module, serve.get_concrete_function()


@pytest.mark.parametrize("place", ["input", "output", "between"])
def test_tensors_of_float8_are_refused(tensorflow: TensorFlow, place: str) -> None:
    with pytest.raises(ConversionError, match="only numbers that are cast to it and back are rounded"):
        litefuse.convert(tensorflow.save(kept, place))
