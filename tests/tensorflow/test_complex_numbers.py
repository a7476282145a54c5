# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
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


OPEN_SPECTRA: dict[str, tuple[str, tuple[int | None, ...], Any]] = {
    "rfft": ("float32", (None,), lambda tf, x: tf.signal.rfft(x)),
    "rfft of rows": ("float32", (None, None), lambda tf, x: tf.signal.rfft(x)),
    "rfft of a computed length": ("float32", (2, None), lambda tf, x: tf.signal.rfft(x, [tf.shape(x)[1] // 2 + 1])),
    "rfft2d": ("float32", (2, None, None), lambda tf, x: tf.signal.rfft2d(x)),
    "rfft2d of open rows": ("float32", (None, 6), lambda tf, x: tf.signal.rfft2d(x)),
    "rfft2d of an odd size": ("float32", (None, None, 7), lambda tf, x: tf.signal.rfft2d(x)),
    "rfft2d of size 1": ("float32", (None, 1), lambda tf, x: tf.signal.rfft2d(x)),
    "irfft": ("complex64", (None, 5), lambda tf, x: tf.signal.irfft(x, [tf.shape(x)[0] % 3 + 6])),
    "irfft of rows": ("complex64", (2, None), lambda tf, x: tf.signal.irfft(tf.concat([x, x], 1))),
    "irfft2d": ("complex64", (None, None), lambda tf, x: tf.signal.irfft2d(tf.concat([x, x], 1))),
    "there and back": ("float32", (None, None), lambda tf, x: tf.signal.irfft(tf.signal.rfft(x), tf.shape(x)[1:])),
    "size": ("float32", (None, None), lambda tf, x: tf.abs(tf.signal.rfft(x))),
    "fft": ("complex64", (None, None), lambda tf, x: tf.signal.ifft2d(tf.signal.fft(x))),
}


def open_spectrum(tf: Any, name: str) -> Any:
    dtype, shape, function = OPEN_SPECTRA[name]
    module = tf.Module()

    def serve(x: Any) -> Any:
        return {"y": function(tf, x)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec(shape, dtype, name="x")], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("name", OPEN_SPECTRA)
def test_spectra_of_open_lengths(tensorflow: TensorFlow, name: str) -> None:
    """LiteRT's RFFT2D takes powers of two alone: a length that is open may be any."""
    dtype, shape, _ = OPEN_SPECTRA[name]
    random = np.random.default_rng(3)
    inputs: list[dict[str, Any]] = []
    for size in (8, 1, 3, 12, 50):
        x: Any = random.standard_normal([size if each is None else each for each in shape])
        inputs.append({"x": (x + 1j * x[..., ::-1] if dtype == "complex64" else x).astype(dtype)})
    check(tensorflow, tensorflow.save(open_spectrum, name), inputs)


OPS: dict[str, Any] = {
    "transpose": lambda tf, x: tf.transpose(x),
    "reshape": lambda tf, x: tf.reshape(x, [-1]),
    "concat": lambda tf, x: tf.concat([x, x], 0),
    "stack": lambda tf, x: tf.stack([x, -x]),
    "slice": lambda tf, x: x[1:, ::2],
    "gather": lambda tf, x: tf.gather(x, [1, 0]),
    "where": lambda tf, x: tf.where(tf.math.real(x) > 0, x, 1j),
    "tile": lambda tf, x: tf.tile(x, [2, 1]),
    "pad": lambda tf, x: tf.pad(x, [[1, 0], [0, 2]]),
    "reverse": lambda tf, x: tf.reverse(x, [0]),
    "roll": lambda tf, x: tf.roll(x, 1, 0),
    "split": lambda tf, x: tf.split(x, 3, 1)[1],
    "unstack": lambda tf, x: tf.unstack(x, 3, 1)[2],
    "diagonal matrix": lambda tf, x: tf.linalg.diag(x),
    "padded diagonal matrix": lambda tf, x: tf.linalg.diag(x, num_rows=5, padding_value=2 - 1j),
    "diagonal": lambda tf, x: tf.linalg.diag_part(tf.matmul(x, x, adjoint_a=True)),
    "broadcast": lambda tf, x: tf.broadcast_to(x, [3, 2, 3]),
    "product": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "product with adjoint": lambda tf, x: tf.matmul(x, x, adjoint_b=True),
    "products": lambda tf, x: tf.matmul(x[None], x[None], adjoint_a=True),
    "einsum": lambda tf, x: tf.einsum("ij,kj->ik", x, x),
    "mean": lambda tf, x: tf.reduce_mean(x, 0),
    "cumsum": lambda tf, x: tf.cumsum(x, 1, exclusive=True, reverse=True),
    "equal": lambda tf, x: tf.cast(tf.equal(x, tf.reverse(x, [0])), tf.int32),
    "not equal": lambda tf, x: tf.cast(tf.not_equal(x, tf.roll(x, 1, 0)), tf.int32),
    "square root": lambda tf, x: tf.sqrt(tf.concat([x, [[0j, -4, 9], [4j, -4j, -1 - 1e-3j]]], 0)),
    "logarithm": lambda tf, x: tf.math.log(tf.concat([x, [[1e15j, -4, 9], [1e-15, -4j, 1e-3j]]], 0)),
    "reciprocal": lambda tf, x: tf.math.reciprocal(x),
}


def one_op(tf: Any, name: str, shape: tuple[int | None, ...]) -> Any:
    module = tf.Module()
    spec = [tf.TensorSpec(shape, tf.complex64, name="x")]
    module.serve = tf.function(lambda x: {"y": OPS[name](tf, x)}, input_signature=spec)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("shape", [(2, 3), (None, 3)], ids=["fixed", "open"])
@pytest.mark.parametrize("name", OPS)
def test_op(tensorflow: TensorFlow, name: str, shape: tuple[int | None, ...]) -> None:
    random = np.random.default_rng(3)
    x = (random.standard_normal((2, 3)) + 1j * random.standard_normal((2, 3))).astype(np.complex64)
    result = check(tensorflow, tensorflow.save(one_op, name, shape), {"x": x})
    assert not result.report.custom_ops


def exponential(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.linalg.expm(x)}


@pytest.mark.parametrize("shape", [(3, 3), (None, 3, 3)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_matrix_exponential(tensorflow: TensorFlow, dtype: str, shape: tuple[int | None, ...]) -> None:
    random = np.random.default_rng(0)
    size = [2 if each is None else each for each in shape]
    for scale in (0.1, 3.0):
        x = random.standard_normal(size) * scale
        inputs = {"x": (x + 1j * random.standard_normal(size) if dtype == "complex64" else x).astype(dtype)}
        check(tensorflow, tensorflow.save(of, "exponential", shape, dtype), inputs, kernel_pack=True)
