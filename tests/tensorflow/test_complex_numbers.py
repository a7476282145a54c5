"""Complex numbers in shapes that are known, constants and variables of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def of(tf: Any, name: str, shape: tuple[int | None, ...], dtype: str) -> Any:
    module = tf.Module()
    module.weight = tf.Variable(np.arange(6).reshape(2, 3) * (1 - 2j), dtype=tf.complex64)

    def serve(x: Any) -> Any:
        return globals()[name](tf, module, x)

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec(shape, dtype, name="x")])
    return module, {"serving_default": module.serve}


def arithmetic(tf: Any, module: Any, x: Any) -> Any:
    return {
        "product": x * x - tf.math.conj(x),
        "quotient": x / (2 + 1j),
        "sum": tf.reduce_sum(x, 0),
        "weighted": x + module.weight,
        "constant": x * tf.constant(np.arange(6).reshape(2, 3) * 1j, tf.complex64),
        "same": tf.zeros([2, 3], tf.complex64) + x,
        "angle": tf.math.angle(x),
    }


def scalar(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.math.exp(x) * (1 - 1j), "real": tf.math.real(x) + 1, "size": tf.abs(x)}


def spectrum(tf: Any, module: Any, x: Any) -> Any:
    y = tf.signal.fft(x)
    return {"y": y, "back": tf.signal.ifft(y), "plane": tf.signal.fft2d(x)}


@pytest.mark.parametrize("shape", [(2, 3), (None, 3)])
def test_arithmetic(tensorflow: TensorFlow, shape: tuple[int | None, ...]) -> None:
    random = np.random.default_rng(1)
    x = (random.standard_normal((2, 3)) + 1j * random.standard_normal((2, 3))).astype(np.complex64)
    check(tensorflow, tensorflow.save(of, "arithmetic", shape, "complex64"), {"x": x})


def test_scalar(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(of, "scalar", (), "complex64"), {"x": np.array(0.5 - 2j, np.complex64)})


def test_spectrum(tensorflow: TensorFlow) -> None:
    x = np.random.default_rng(1).standard_normal((4, 16)).view(np.complex128).astype(np.complex64)
    check(tensorflow, tensorflow.save(of, "spectrum", (4, 8), "complex64"), {"x": x})
