"""Ops whose rewritings, or kernels, begin with the lowest or the largest number: of infinities and ends of ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.tensorflow.rewritings.form import FLOATS, NUMBERS, Form, Maker, largest_float, numpy_dtype

_ROWS = np.array([[0], [0], [2]], np.int32)


def _image(m: Maker, x: Any) -> Any:
    return m.tf.reshape(x, [1, 3, 4, 1])


def _at_least_finite(m: Maker, x: Any) -> Any:
    """TensorFlow's poolings begin with the lowest finite float, XNNPACK's with an infinity."""
    return m.tf.maximum(x, m(m.tf.as_dtype(m.dtype).min)) if m.dtype in FLOATS else x


def _pooled_gradient(m: Maker, x: Any, y: Any) -> Any:
    image = _image(m, x)
    pooled = m.tf.nn.max_pool2d(image, 2, 2, "SAME")
    gradient = m.tf.reshape(m.tf.clip_by_value(m.tf.where(y == y, y, m(0)), m(-3), m(3))[:2, :2], pooled.shape)
    return m.tf.raw_ops.MaxPoolGrad(
        orig_input=image, orig_output=pooled, grad=gradient, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"
    )


_OF_NUMBERS: Mapping[str, Form] = {
    "largest of rows": lambda m, x, _: m.tf.reduce_max(x, 1),
    "smallest of rows": lambda m, x, _: m.tf.reduce_min(x, 1),
    "largest of columns": lambda m, x, _: m.tf.reduce_max(x, 0, keepdims=True),
    "largest of all": lambda m, x, _: m.tf.reduce_max(x),
    "smallest of all": lambda m, x, _: m.tf.reduce_min(x),
    "place of the largest": lambda m, x, _: m.tf.argmax(x, 1),
    "place of the smallest": lambda m, x, _: m.tf.argmin(x, 1),
    "two largest": lambda m, x, _: m.tf.math.top_k(x, 2)[0],
    "places of two largest": lambda m, x, _: m.tf.math.top_k(x, 2)[1],
    "sorted": lambda m, x, _: m.tf.sort(x, 1),
    "sorted down": lambda m, x, _: m.tf.sort(x, 1, "DESCENDING"),
    "order": lambda m, x, _: m.tf.argsort(x, 1, stable=True),
    "scattered maximum": lambda m, x, y: m.tf.tensor_scatter_nd_max(x, _ROWS, y),
    "scattered minimum": lambda m, x, y: m.tf.tensor_scatter_nd_min(x, _ROWS, y),
    "scattered maximum of elements": lambda m, x, y: m.tf.tensor_scatter_nd_max(x, [[0, 0], [0, 0], [1, 2]], y[:, 0]),
    "segments, largest": lambda m, x, _: m.tf.math.unsorted_segment_max(x, _ROWS[:, 0], 4),
    "segments, smallest": lambda m, x, _: m.tf.math.unsorted_segment_min(x, _ROWS[:, 0], 4),
    "sorted segments, largest": lambda m, x, _: m.tf.math.segment_max(x, _ROWS[:, 0]),
    "sorted segments, smallest": lambda m, x, _: m.tf.math.segment_min(x, _ROWS[:, 0]),
    "pooled": lambda m, x, _: _at_least_finite(m, m.tf.nn.max_pool2d(_image(m, x), 2, 1, "SAME")),
    "pooled in the middle": lambda m, x, _: _at_least_finite(m, m.tf.nn.max_pool2d(_image(m, x), 2, 2, "VALID")),
    "pooled, explicit": lambda m, x, _: _at_least_finite(
        m, m.tf.nn.max_pool2d(_image(m, x), 2, 2, [[0, 0], [1, 0], [0, 1], [0, 0]])
    ),
    "clipped": lambda m, x, y: m.tf.clip_by_value(x, m(1), m(5)),
    "clipped between inputs": lambda m, x, y: m.tf.clip_by_value(x, m.tf.minimum(y, m(1)), m.tf.maximum(y, m(1))),
    "maximum": lambda m, x, y: m.tf.maximum(x, y),
    "minimum": lambda m, x, y: m.tf.minimum(x, y),
    "maximum with 0": lambda m, x, _: m.tf.maximum(x, m(0)),
    "searched": lambda m, x, _: m.tf.searchsorted(m([[0, 1, 2, 5]] * 3), x),
    "searched from the right": lambda m, x, _: m.tf.searchsorted(m([[0, 1, 2, 5]] * 3), x, "right"),
    "of none, largest": lambda m, x, _: m.tf.reduce_max(x[:, :0], 1),
    "of none, smallest": lambda m, x, _: m.tf.reduce_min(x[:, :0], 1),
    "selected": lambda m, x, y: m.tf.where(x > y, x, y),
    "padded with the first": lambda m, x, _: m.tf.pad(x, [[1, 1], [0, 2]], constant_values=x[0, 0]),
    "unique": lambda m, x, _: m.tf.unique(m.tf.reshape(x, [12]))[0],
}
_OF_FLOATS: Mapping[str, Form] = {
    "nth": lambda m, x, _: m.tf.raw_ops.NthElement(input=x, n=1),
    "nth from the largest": lambda m, x, _: m.tf.raw_ops.NthElement(input=x, n=1, reverse=True),
    "dilated": lambda m, x, _: _at_least_finite(
        m, m.tf.nn.dilation2d(_image(m, x), m(np.zeros([2, 2, 1])), [1] * 4, "SAME", "NHWC", [1] * 4)
    ),
    "eroded": lambda m, x, _: (
        -_at_least_finite(m, -m.tf.nn.erosion2d(_image(m, x), m(np.zeros([2, 2, 1])), [1] * 4, "SAME", "NHWC", [1] * 4))
    ),
    "softmax": lambda m, x, _: m.tf.nn.softmax(m.tf.where(x > m(0), m(0), x) + m([0, 0, 0, 1])),
    "masked softmax": lambda m, x, y: m.tf.nn.softmax(
        m.tf.where([True, False, True, False], m([1, 2, 3, 4]), m(-np.inf)) + m.tf.minimum(x, m(0))
    ),
    "pooled with places": lambda m, x, _: m.tf.nn.max_pool_with_argmax(_image(m, x), 2, 2, "SAME")[0],
    "pooled volumes": lambda m, x, _: _at_least_finite(
        m, m.tf.nn.max_pool3d(m.tf.reshape(x, [1, 3, 2, 2, 1]), 2, 1, "SAME")
    ),
    "pooled gradient": _pooled_gradient,
    "in the top": lambda m, x, _: m.tf.math.in_top_k([0, 1, 2], m.tf.cast(x, m.tf.float32), 2),
    "running logarithm of a sum": lambda m, x, _: m.tf.math.cumulative_logsumexp(m.tf.minimum(x, m(5)), 1),
    "running logarithm of a sum, exclusive": lambda m, x, _: m.tf.math.cumulative_logsumexp(
        m.tf.minimum(x, m(5)), 1, exclusive=True
    ),
    "clipped to infinity": lambda m, x, _: m.tf.clip_by_value(x, m(-np.inf), m(5)),
    "clipped from 0 to infinity": lambda m, x, _: m.tf.clip_by_value(x, m(0), m(np.inf)),
    "bucket": lambda m, x, _: m.tf.raw_ops.Bucketize(input=m.tf.cast(x, m.tf.float32), boundaries=[-1.0, 0.0, 5.0]),
    "suppressed": lambda m, x, _: m.tf.concat(
        [
            m.tf.image.non_max_suppression(
                [[0.0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3], [5, 5, 6, 6]], m.tf.cast(x[0], m.tf.float32), 3, 0.5
            ),
            [7],  # the stock interpreter gives no result without elements
        ],
        0,
    ),
    "suppressed, combined": lambda m, x, _: m.tf.image.combined_non_max_suppression(
        m.tf.reshape(m.tf.constant([[0.0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3], [5, 5, 6, 6]]), [1, 4, 1, 4]),
        m.tf.reshape(m.tf.cast(x[0], m.tf.float32), [1, 4, 1]),
        3,
        3,
    )[1],
    "drawn": lambda m, x, _: m.tf.random.stateless_categorical(m.tf.cast(x, m.tf.float32), 5, [1, 2]),
    "added to a tensor": lambda m, x, y: m.tf.tensor_scatter_nd_add(
        m.tf.where(x > m(0), x, m(0)), _ROWS, m.tf.where(y > m(0), y, m(0))
    ),
    "written to a tensor": lambda m, x, y: m.tf.tensor_scatter_nd_update(x, _ROWS[1:], y[1:]),
    "band": lambda m, x, _: m.tf.linalg.band_part(x, 0, 0),
    "diagonal": lambda m, x, _: m.tf.linalg.diag(x[0]),
    "with a diagonal": lambda m, x, y: m.tf.linalg.set_diag(x, y[:, 0]),
    "reversed": lambda m, x, _: m.tf.reverse_sequence(x, [4, 2, 1], 1),
    "ragged": lambda m, x, _: m.tf.RaggedTensor.from_row_splits(m.tf.reshape(x, [12]), [0, 3, 7, 12]).to_tensor(m(7)),
}

FILLS = [
    *((name, NUMBERS, form) for name, form in _OF_NUMBERS.items()),
    *((name, FLOATS, form) for name, form in _OF_FLOATS.items()),
]


def extremes(dtype: str) -> list[dict[str, npt.NDArray[Any]]]:
    """Sets of inputs of the lowest, the largest and infinite numbers."""
    kind = numpy_dtype(dtype)
    if dtype in FLOATS:
        high = largest_float(dtype)
        lows, highs = (-np.inf, -high), (np.inf, high)
    else:
        lows, highs = (np.iinfo(kind).min,), (np.iinfo(kind).max,)
    sets: list[dict[str, npt.NDArray[Any]]] = []
    for low in lows:
        for high in highs:
            whole = [[low, low, low, low], [high, high, high, high], [low, high, low, high]]
            mixed = [[low, high, 1, 2], [1, 2, low, low], [high, high, 0, low]]
            for x, y in ((whole, whole), (whole, whole[::-1]), (mixed, whole), (mixed, mixed[::-1])):
                sets.append({key: np.array(value, object).astype(kind) for key, value in (("x", x), ("y", y))})
    return sets
