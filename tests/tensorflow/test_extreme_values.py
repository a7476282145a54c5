"""Zeros and large numbers, where LiteRT's ops and the engine's formulas end sooner than TensorFlow's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow


def _normalized(tf: Any, x: Any) -> Any:
    """As Keras 3's ``UnitNormalization``: of a vector of zeros, zeros."""
    return x * tf.minimum(tf.math.rsqrt(tf.reduce_sum(x * x, -1, keepdims=True)), 1e12)


_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "normalized": _normalized,
    "one over a root": lambda tf, x: tf.minimum(1.0 / tf.sqrt(tf.abs(x)), 7.0),
    "normalized by a mean": lambda tf, x: x * tf.minimum(tf.math.rsqrt(tf.reduce_mean(x * x, 0)), 5.0),
    "root of a bounded": lambda tf, x: x * tf.math.rsqrt(tf.maximum(x * x, 1e-3)),
    "root of a sum": lambda tf, x: x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-3),
    "one over one and a root": lambda tf, x: 1.0 / (1.0 + tf.math.rsqrt(tf.abs(x))),
    "bounded root of any": lambda tf, x: tf.minimum(tf.math.rsqrt(tf.nn.relu(x) + x - x), 3.0),
    "softplus": lambda tf, x: tf.nn.softplus(x * 100),
    "log sigmoid": lambda tf, x: tf.math.log_sigmoid(x * 100),
    "mish": lambda tf, x: x * 100 * tf.tanh(tf.nn.softplus(x * 100)),
}

# Those whose root cannot be of 0, as it is bounded.
_ROOTS = frozenset({"normalized", "one over a root", "normalized by a mean", "root of a bounded", "root of a sum"})


def module(tf: Any, name: str, rows: int | None) -> Any:
    result = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        return {"y": _FUNCTIONS[name](tf, x)}

    specification = tf.TensorSpec([rows, 4], tf.float32, name="x")
    result.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize("rows", [None, 3])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_values(tensorflow: TensorFlow, name: str, rows: int | None) -> None:
    x = np.array([[1.5, 0.0, -2.0, 0.3], [0.0] * 4, [-1.0, 0.9, 1.1, 0.0]], np.float32)
    inputs = [{"x": x}] if rows else [{"x": x}, {"x": x[1:]}]
    result = check(tensorflow, tensorflow.save(module, name, rows), inputs)
    assert ("RSQRT" in op_counts(result.model_bytes)) == (name in _ROOTS), "it is the fastest where it is right"


def extremes(tf: Any) -> Any:
    result = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        none = x[:, :0]
        return {
            "largest": x + tf.reduce_max(none, 1, keepdims=True),
            "smallest": tf.reduce_min(tf.reshape(none, [0, 2]), 0),
            "of_both": tf.reduce_max(none[:0], [0, 1]) + tf.reduce_sum(x),
        }

    result.serve = tf.function(serve, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")], autograph=False)
    return result, {"serving_default": result.serve}


def test_extremes_of_none_are_infinite(tensorflow: TensorFlow) -> None:
    """With and without XNNPACK, whose ops start from infinity where LiteRT's start from the largest numbers."""
    inputs = [{"x": np.ones((rows, 4), np.float32)} for rows in (2, 1, 3)]
    result = check(tensorflow, tensorflow.save(extremes), inputs)
    assert not op_counts(result.model_bytes).keys() & {"REDUCE_MAX", "REDUCE_MIN"}


def test_mish_needs_no_bound(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(module, "mish", 3), [{"x": np.full([3, 4], 2.0, np.float32)}])
    assert not op_counts(result.model_bytes).keys() & {"MAXIMUM", "MINIMUM"}
