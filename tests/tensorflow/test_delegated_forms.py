# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Forms of ops that LiteRT's kernels or XNNPACK fail on when a model is prepared, and what is written for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

Form = tuple[str, tuple[int | None, ...], Callable[[Any, Any], Any]]

_SEVEN = (None, 2, 1, 2, 1, 2, 3)
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8")


def _halves(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda tf, x: tf.cast(function(tf, tf.cast(x, tf.bfloat16)), tf.float32)


def _scattered(tf: Any, x: Any) -> Any:
    rows = tf.concat([x[:1]] * 4, 0)
    return tf.tensor_scatter_nd_update(rows, [[1], [3]], rows[:2] + 1)


FORMS: Mapping[str, Form] = {
    "concat": ("float32", _SEVEN, lambda tf, x: tf.concat([x, x + 1], 0)),
    "concat of the last": ("float32", _SEVEN, lambda tf, x: tf.concat([x, x[..., :1], -x], -1)),
    "concat of halves": ("float16", _SEVEN, lambda tf, x: tf.concat([x, x], 3)),
    "softmax": ("float32", _SEVEN, lambda tf, x: tf.nn.softmax(x)),
    "log softmax": ("float32", _SEVEN, lambda tf, x: tf.nn.log_softmax(x)),
    "softmax of another axis": ("float32", _SEVEN, lambda tf, x: tf.nn.softmax(x, 1)),
    "split": ("float32", _SEVEN, lambda tf, x: tf.concat(tf.split(x, 3, -1)[::-1], -1)),
    "split of sizes": ("float32", _SEVEN, lambda tf, x: tf.split(x, [1, 2], -1)[1]),
    "split of the second": ("float32", _SEVEN, lambda tf, x: tf.split(x, 2, 1)[1]),
    "stack of halves": ("float16", _SEVEN[:-1], lambda tf, x: tf.stack([x, 2 * x], -1)),
    "stack of bfloat16": ("float32", _SEVEN[:-1], _halves(lambda tf, x: tf.stack([x, x], 2))),
    "tile": ("float32", _SEVEN, lambda tf, x: tf.tile(x, [2, 1, 1, 1, 3, 1, 2])),
    "scattered": ("float32", _SEVEN, _scattered),
    "eight dimensions": ("float32", (*_SEVEN, 2), lambda tf, x: tf.concat(tf.split(tf.nn.softmax(x), 2, -1), 3)),
    "product of halves": ("float16", (None, 3), lambda tf, x: tf.raw_ops.BatchMatMulV2(x=x, y=x, adj_y=True)),
    "product of bfloat16": (
        "float32",
        (None, 3),
        _halves(lambda tf, x: tf.raw_ops.BatchMatMulV2(x=tf.round(x), y=tf.round(x), adj_y=True)),
    ),
    "reverse of nothing": ("float32", (None, 3), lambda tf, x: tf.reverse(x, [])),
    "reverse of nothing between": ("int32", (None, 3), lambda tf, x: tf.reverse(x * 2, []) + 1),
    "reverse of a computed axis": (
        "float32",
        (None, 3),
        lambda tf, x: tf.raw_ops.ReverseV2(tensor=x, axis=tf.reshape(tf.cast(0 * x[:1, 0], tf.int32) + 1, [1])),
    ),
    **{
        f"mean of {dtype} over {axes}": (dtype, _SEVEN, lambda tf, x, axes=axes: tf.reduce_mean(x, axes))
        for dtype in _INTEGERS
        for axes in ((0, 6), (-1,), (1, 2, 6))
    },
    "mean of integers that keeps them": ("int32", _SEVEN, lambda tf, x: tf.reduce_mean(x, [0, 5, 6], keepdims=True)),
}


def module(tf: Any, name: str) -> Any:
    dtype, shape, function = FORMS[name]
    result = tf.Module()
    specification = tf.TensorSpec(shape, dtype, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": function(tf, x)}

    result.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize("name", FORMS)
def test_form(tensorflow: TensorFlow, name: str) -> None:
    dtype, shape, _ = FORMS[name]
    random = np.random.default_rng(6)
    sizes = [[batch if size is None else size for size in shape] for batch in (1, 3, 2)]
    low = 0 if dtype == "uint8" else -9
    inputs = [
        {"x": (random.normal(size=each) * 2 if "float" in dtype else random.integers(low, 10, each)).astype(dtype)}
        for each in sizes
    ]
    check(tensorflow, tensorflow.save(module, name), inputs, rtol=2e-3 if dtype == "float16" else 1e-5)


def clipped(tf: Any, dtype: str) -> Any:
    result = tf.Module()
    specifications = [tf.TensorSpec([None], dtype, name="x"), *(tf.TensorSpec([], dtype, name=name) for name in "ab")]

    def serve(x: Any, a: Any, b: Any) -> dict[str, Any]:
        return {"y": tf.raw_ops.ClipByValue(t=x, clip_value_min=a, clip_value_max=b)}

    result.serve = tf.function(serve, input_signature=specifications, autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
def test_clipping_between_ends_in_either_order(tensorflow: TensorFlow, dtype: str) -> None:
    x = np.arange(10).astype(dtype)
    ends = ((2, 7), (7, 2), (4, 4))
    inputs = [{"x": x, "a": np.array(a, dtype), "b": np.array(b, dtype)} for a, b in ends]
    check(tensorflow, tensorflow.save(clipped, dtype), inputs)
