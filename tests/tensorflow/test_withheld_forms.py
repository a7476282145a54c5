"""Forms of ops that the engine gets wrong: they are computed as TensorFlow does, or refused, and never fall through."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from tests.tensorflow.checking import check, custom_options, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


class Tensor(NamedTuple):
    """An input; None for an open size, and for any rank."""

    dtype: str
    shape: tuple[int | None, ...] | None


# One or two inputs, and what is made of them by ``tf``.
Form: TypeAlias = tuple[Sequence[Tensor], Callable[[Any, Any, Any], Any]]

_RANDOM = np.random.default_rng(6)
_WEIGHTS = _RANDOM.uniform(-1, 1, (3, 4)).astype(np.float32)
_X = Tensor("float32", (None, 5, 3))
_N = Tensor("int32", ())


def _quantized(tf: Any, x: Any, _: Any, axis: int | None = None, **options: Any) -> Any:
    """Quantized, of the sizes 5, ? and 3."""
    turned = tf.transpose(x, [1, 0, 2])
    low, high = (-0.7, 0.9) if axis is None else (np.full(turned.shape[axis], end, np.float32) for end in (-0.7, 0.9))
    return tf.quantization.quantize_and_dequantize_v2(turned, low, high, axis=axis, **options)


def _raw(tf: Any, x: Any, low: Any, high: Any, **options: Any) -> Any:
    return tf.raw_ops.QuantizeAndDequantizeV2(input=x, input_min=low, input_max=high, **options)


def _given(tf: Any, x: Any, low: Any, high: Any, **options: Any) -> Any:
    options = {"range_given": True, "num_bits": 7} | options
    return tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=low, input_max=high, **options)


def _narrow(tf: Any, x: Any, low: Any, high: Any, **options: Any) -> Any:
    return tf.quantization.fake_quant_with_min_max_vars(x, low, high, narrow_range=True, **options)


QUANTIZED: Mapping[str, Form] = {
    "weights": ([_X], lambda tf, x, _: tf.matmul(x, tf.quantization.quantize_and_dequantize_v2(_WEIGHTS, 0.0, 0.0))),
    **{
        f"range of axis {axis}, {sign}, {width}, {mode}, {bits} bits": (
            [_X],
            functools.partial(
                _quantized,
                axis=axis,
                signed_input=sign == "signed",
                narrow_range=width == "narrow",
                round_mode=mode,
                num_bits=bits,
            ),
        )
        for axis in (None, 0, 2)
        for sign, width in (("signed", "full"), ("signed", "narrow"), ("unsigned", "full"))
        for mode, bits in (("HALF_TO_EVEN", 8), ("HALF_UP", 3))
    },
    **{
        f"given range, {sign}, {width}, {mode}": (
            [_X],
            functools.partial(
                _quantized,
                range_given=True,
                signed_input=sign == "signed",
                narrow_range=width == "narrow",
                round_mode=mode,
            ),
        )
        for sign, width in (("signed", "full"), ("signed", "narrow"), ("unsigned", "full"))
        for mode in ("HALF_TO_EVEN", "HALF_UP")
    },
    "range of an input": (
        [_X, Tensor("float32", ())],
        lambda tf, x, end: _raw(tf, x, -tf.abs(end), 2 * tf.abs(end), range_given=True),
    ),
    "range of channels": ([_X], lambda tf, x, _: _given(tf, x, [-1.0, -0.5, 0.0], [0.3, 1.0, 2.0], axis=2)),
    "range of an input's channels": (
        [_X, Tensor("float32", (5,))],
        lambda tf, x, ends: _given(tf, x, -tf.abs(ends) - 0.1, tf.abs(ends) + 0.1, axis=1),
    ),
    "of bits that are an operand": ([_X], lambda tf, x, _: _given(tf, x, -1.0, 1.2)),
    "zeros": ([_X], lambda tf, x, _: _raw(tf, tf.where(x > 100, x, 0), 0.0, 0.0)),
    "nothing positive": ([_X], lambda tf, x, _: _raw(tf, -tf.abs(x), 0.0, 0.0)),
    "nothing negative": ([_X], lambda tf, x, _: _raw(tf, tf.abs(x), 0.0, 0.0)),
    "a positive range": ([_X], lambda tf, x, _: _raw(tf, x, 0.5, 1.0, range_given=True)),
    "an empty range": ([_X], lambda tf, x, _: _raw(tf, x, 0.0, 0.0, range_given=True)),
    "one number": ([Tensor("float32", ())], lambda tf, x, _: _raw(tf, x, 0.0, 0.0)),
    "fake, narrow": ([_X], lambda tf, x, _: _narrow(tf, x, -0.37, 1.21)),
    "fake, narrow weights": ([_X], lambda tf, x, _: tf.matmul(x, _narrow(tf, _WEIGHTS, -0.37, 0.31))),
    "fake, narrow weights in the range": ([_X], lambda tf, x, _: tf.matmul(x, _narrow(tf, _WEIGHTS, -1.0, 1.0))),
    "fake, range of an input": (
        [_X, Tensor("float32", ())],
        lambda tf, x, end: tf.quantization.fake_quant_with_min_max_vars(x, -tf.abs(end) - 1, tf.abs(end) + 1),
    ),
    "fake, range of an input's channels": (
        [_X, Tensor("float32", (3,))],
        lambda tf, x, ends: tf.quantization.fake_quant_with_min_max_vars_per_channel(
            x, -tf.abs(ends) - 1, tf.abs(ends) + 1
        ),
    ),
    "fake, an empty channel": (
        [_X],
        lambda tf, x, _: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0, 0, 0], [1.0, 0, 2]),
    ),
}

_OPEN = Tensor("float32", (None, None, 4))
_COMPLEX = Tensor("complex64", (5, 3))

COMPUTED: Mapping[str, Form] = {
    "nothing of a part": ([_OPEN], lambda _tf, x, _: x[:, 1:, 2:2] + 1),
    "nothing of every second": ([_OPEN], lambda tf, x, _: x[:, ::-2, 2:2, tf.newaxis] + 1),
    "nothing of an input's part": ([_OPEN, _N], lambda _tf, x, n: x[:, n - 1 : -1, 2:2] + 1),
    "nothing of a slice": ([_OPEN], lambda tf, x, _: tf.slice(x, [0, 1, 1], [1, -1, 0]) + 1),
    "nothing of an input's slice": ([_OPEN, _N], lambda tf, x, n: tf.slice(x, [0, n - 1, 1], [-1, n, 0]) + 1),
    "complex sum": (
        [_COMPLEX, Tensor("complex64", (2, 3))],
        lambda tf, x, y: tf.tensor_scatter_nd_add(x, [[1], [1]], y),
    ),
    "complex difference": (
        [_COMPLEX, Tensor("complex64", (2, 3))],
        lambda tf, x, y: tf.tensor_scatter_nd_sub(x, [[3], [1]], y),
    ),
    "sum over a complex label": ([_COMPLEX], lambda tf, x, _: tf.einsum("ij->i", x)),
    "complex products": ([_COMPLEX, _COMPLEX], lambda tf, x, y: tf.einsum("ij,ij->ij", x, y)),
    "one computed axis": ([_X, Tensor("int32", (1,))], lambda tf, x, n: tf.reverse(x, -tf.minimum(n, 2))),
    "logarithms near one": (
        [_X],
        lambda tf, x, _: tf.raw_ops.Xlog1py(x=tf.ones_like(x), y=x * 1e-6) * 1e6,
    ),
}

REFUSED: Mapping[str, tuple[Form, str, str]] = {
    "computed axes": (
        ([_X, Tensor("int32", (2,))], lambda tf, x, n: tf.reverse(x, n)),
        "ReverseV2",
        "operand 1 is not a constant",
    ),
    "computed axes in a branch": (
        (
            [_X, Tensor("int32", (2,))],
            lambda tf, x, n: tf.cond(n[0] > 0, lambda: tf.reverse(x, n), lambda: x * 2),
        ),
        "ReverseV2",
        "operand 1 is not a constant",
    ),
    "a long transform": (
        ([Tensor("float32", (None, 5000))], lambda tf, x, _: tf.abs(tf.signal.rfft(x))),
        "RFFT",
        "fft_length is [5000]; it must be from 1 to 4096",
    ),
    "a gradient of float64": (
        ([Tensor("float64", (None, 3))], lambda tf, x, _: tf.raw_ops.SigmoidGrad(y=x, dy=x)),
        "SigmoidGrad",
        "LiteRT's ops for it take float32, not float64",
    ),
    "a mean over computed axes": (
        ([Tensor("uint8", (4, 3)), Tensor("int32", (1,))], lambda tf, x, n: tf.reduce_mean(x, n, keepdims=True)),
        "Mean",
        "operand 1 is not a constant",
    ),
    "the largest of none, over computed axes": (
        ([Tensor("float32", (0, 3)), Tensor("int32", (1,))], lambda tf, x, n: tf.reduce_max(x, n, keepdims=True)),
        "Max",
        "operand 1 is not a constant",
    ),
    "a sum of float64": (
        (
            [Tensor("float64", (5, 3)), Tensor("float64", (2, 3))],
            lambda tf, x, y: tf.tensor_scatter_nd_add(x, [[1], [1]], y),
        ),
        "TensorScatterAdd",
        "LiteRT's ops for it take float32, int32, int64, complex64, not float64",
    ),
    "float64 quantized": (
        ([Tensor("float64", (None, 3))], lambda tf, x, _: tf.quantization.quantize_and_dequantize_v2(x, 0.0, 0.0)),
        "QuantizeAndDequantizeV4",
        "LiteRT's ops for it take float32, not float64",
    ),
    "one over what has any rank": (
        ([Tensor("float32", None)], lambda tf, x, _: tf.math.reciprocal(x)),
        "Reciprocal",
        "an operand is of unknown rank",
    ),
}


def model(tf: Any, group: str, name: str) -> Any:
    refused = {key: form for key, (form, *_) in REFUSED.items()}
    inputs, form = {"quantized": QUANTIZED, "computed": COMPUTED, "refused": refused}[group][name]
    signature = [tf.TensorSpec(shape, dtype, name=f"x{index}") for index, (dtype, shape) in enumerate(inputs)]
    module = tf.Module()

    def serve(*values: Any) -> dict[str, Any]:
        return {"y": form(tf, *values, *[None] * (2 - len(values)))}

    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def _values(tensor: Tensor, batch: int, random: np.random.Generator) -> Any:
    sizes = [batch if size is None else size for size in tensor.shape or ()]
    if tensor.dtype == "int32":
        return np.full(sizes, batch if sizes else 1, np.int32)
    values = random.normal(size=sizes)
    return (values + 1j * random.normal(size=sizes) if tensor.dtype == "complex64" else values).astype(tensor.dtype)


def _checked(tensorflow: TensorFlow, group: str, name: str, inputs: Sequence[Tensor]) -> litefuse.ConversionResult:
    random = np.random.default_rng(4)
    sets: list[dict[str, Any]] = [
        {f"x{index}": _values(each, batch, random) for index, each in enumerate(inputs)} for batch in (2, 3, 1)
    ]
    return check(tensorflow, tensorflow.save(model, group, name), sets)


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized(tensorflow: TensorFlow, name: str) -> None:
    result = _checked(tensorflow, "quantized", name, QUANTIZED[name][0])
    # Weights that LiteRT's op does not clip are integers in the file.
    assert ("DEQUANTIZE" in op_counts(result.model_bytes)) == (name == "fake, narrow weights in the range")


@pytest.mark.parametrize("name", COMPUTED)
def test_computed(tensorflow: TensorFlow, name: str) -> None:
    _checked(tensorflow, "computed", name, COMPUTED[name][0])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tensorflow: TensorFlow, name: str) -> None:
    _, op, reason = REFUSED[name]
    path = tensorflow.save(model, "refused", name)
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path, allow_custom_ops="never")
    (refused,) = caught.value.ops
    assert (refused.op, refused.reason) == (op, reason)
    assert f"not rewritten: {reason}" in str(caught.value)
    assert "Allow them as custom ops" in caught.value.hint


def test_what_is_withheld_may_be_a_custom_op(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(model, "refused", "computed axes")
    result = litefuse.convert(path, allow_custom_ops=["ReverseV2"])
    assert op_counts(result.model_bytes) == {"ReverseV2": 1}
    assert [(each.op, each.outcome) for each in result.report.lacking_ops] == [("ReverseV2", "custom")]
    assert custom_options(result.model_bytes)["ReverseV2"] == [{"T": 0, "Tidx": 2}]
