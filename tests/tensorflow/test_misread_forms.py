"""Forms that the engine takes for others, whose models would give other numbers, or fail, and forms that it dies of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.tensorflow.checking import check
from tests.tensorflow.process import TensorFlow

Form = Callable[[Any, Any], Any]

_RANDOM = np.random.default_rng(2)


def _constant(*shape: int) -> Any:
    return _RANDOM.uniform(1, 2, shape).astype(np.float32)


_FULL, _MIDDLE, _VECTOR, _MATRIX = _constant(5, 3), _constant(1, 1, 3), _constant(3), _constant(3, 4)
_KERNEL, _VOLUME = _constant(2, 2, 2, 3), _constant(2, 2, 2, 2, 3)
_FILTER, _ROW = _constant(2, 5, 5), _constant(4)
_ONE = np.array([0.7], np.float32)


def _turned(tf: Any, x: Any) -> Any:
    return tf.transpose(x, [0, 2, 1])


def _images(tf: Any, x: Any) -> Any:
    """A transposed convolution of images ``[?, 5, 1, 3]``."""
    return tf.nn.conv2d_transpose(x[:, :, tf.newaxis], _KERNEL, [tf.shape(x)[0], 10, 2, 2], 2)


def _volumes(tf: Any, x: Any) -> Any:
    volumes = x[:, :, tf.newaxis, tf.newaxis]
    return tf.nn.conv3d_transpose(volumes, _VOLUME, [tf.shape(x)[0], 10, 2, 2, 2], 2)


# Of x: float32[?, 3, 5], or float32[?, 5, 3] where the form does not turn it.
TURNED: Mapping[str, Form] = {
    "one less": lambda tf, x: 1 - tf.sigmoid(_turned(tf, x)),
    "less than a matrix": lambda tf, x: _FULL - _turned(tf, x),
    "less than a row": lambda tf, x: _MIDDLE - _turned(tf, x),
    "less than what is computed": lambda tf, x: tf.math.log(tf.constant(_FULL)) - _turned(tf, x),
    "less than an integer": lambda tf, x: 3 - tf.cast(4 * _turned(tf, x), tf.int32),
    "twice": lambda tf, x: _FULL - (1 - _turned(tf, x)),
    "over": lambda tf, x: _FULL / (_turned(tf, x) + 3),
    "one over a root": lambda tf, x: 1 / tf.sqrt(_turned(tf, x) ** 2 + 1),
    "xdivy": lambda tf, x: tf.math.xdivy(_MIDDLE, _turned(tf, x) + 3),
    "channels first": lambda tf, x: _MIDDLE - _turned(tf, tf.nn.conv1d(x, _FILTER, 1, "SAME")),
    "negative and one": lambda tf, x: -_turned(tf, x) + 1,
    "a matrix and a negative": lambda tf, x: _FULL + -tf.nn.relu(_turned(tf, x)),
    "negative and integer": lambda tf, x: -tf.cast(4 * _turned(tf, x), tf.int32) + 7,
    "negative and computed": lambda tf, x: -_turned(tf, x) + tf.sin(tf.constant(_MIDDLE)),
    "reciprocal": lambda tf, x: tf.math.reciprocal(_turned(tf, x) + 3) * _MIDDLE,
    "beside a reciprocal": lambda tf, x: 2 * tf.math.reciprocal(_turned(tf, x) + 3),
    "less than a product with zero": lambda tf, x: tf.reduce_sum(x) * 0 - _turned(tf, x),
    "negative and a product with zero": lambda tf, x: tf.maximum(-_turned(tf, x) + 0 * x[0, 0, 0], 0),
    "zero of a variable shape": lambda tf, x: _turned(tf, x * 0) - _turned(tf, x),
    "behind": lambda tf, x: tf.matmul(tf.nn.relu(_FULL - _turned(tf, x)), _MATRIX),
}


TILED: Mapping[str, Form] = {
    "scaled": lambda tf, x: tf.tile(x, [2, 1, 1]) * 0.15,
    "shifted": lambda tf, x: tf.tile(x, [3, 1, 1]) + _VECTOR,
    "many": lambda tf, x: tf.tile(x, [7, 1, 1]) - 1,
    "over another": lambda tf, x: tf.tile(x, [2, 1, 1]) / (tf.tile(tf.abs(x), [2, 1, 1]) + 1),
    "in two dimensions": lambda tf, x: tf.tile(x, [2, 1, 2]) * 0.5,
    "integers": lambda tf, x: tf.tile(tf.cast(4 * x, tf.int32), [2, 1, 1]) * 3,
    "beside the same": lambda tf, x: tf.tile(x, [2, 1, 1]) - tf.concat([x, x], 0),
    "compared": lambda tf, x: tf.tile(x, [2, 1, 1]) > 0.5,
}

ONE_ELEMENT: Mapping[str, Form] = {
    "between products": lambda tf, x: (
        tf.matmul(tf.matmul(x, _MATRIX) + _ONE, _MATRIX, transpose_b=True) + _VECTOR - _ONE
    ),
    "before a product": lambda tf, x: tf.matmul(x[0] + _ONE, _MATRIX) + _ROW,
    "behind images": lambda tf, x: _images(tf, x) + _ONE,
    "behind scaled images": lambda tf, x: (_images(tf, x) * _ONE - 0.3) * 0.5 + _ONE,
    "less images": lambda tf, x: _ONE - _images(tf, x),
    "behind volumes": lambda tf, x: _volumes(tf, x) + _ONE,
}


def _columns(tf: Any, x: Any, *order: int) -> Any:
    """Vectors of one element, some of them with a factor; what is repeated is computed again."""
    first, second, third = (lambda: x[0, 0, :1]), (lambda: x[0, 0, 1:2]), (lambda: x[0, 0, 2:])
    kinds: list[Callable[[], Any]] = [
        *(lambda: first() * 2.0, second, third, first),
        *(lambda: second() * 3.0, lambda: third() / 0.7, lambda: 1.5 - third()),
    ]
    return tf.concat([kinds[each]() for each in order], 0)


COLUMNS: Mapping[str, Form] = {
    "repeated": lambda tf, x: _columns(tf, x, 0, 1, 1),
    "more often": lambda tf, x: _columns(tf, x, 0, 1, 1, 2, 1),
    "without its factor": lambda tf, x: _columns(tf, x, 0, 3, 3),
    "behind two factors": lambda tf, x: _columns(tf, x, 0, 4, 2, 2),
    "over": lambda tf, x: _columns(tf, x, 5, 1, 1),
    "from a constant": lambda tf, x: _columns(tf, x, 6, 0, 0),
    "of more rows": lambda tf, x: tf.concat(
        [x[0][:, :1] * 2.0, tf.sin(tf.exp(x[0][:, 1:2])), tf.sin(tf.exp(x[0][:, 1:2]))], 1
    ),
    "one factor for all": lambda tf, x: _columns(tf, x, 0, 0, 0),
}


def _copies(tf: Any, x: Any) -> Any:
    return tf.broadcast_to(x, tf.concat([[2], tf.shape(x)], 0))


NARROWED: Mapping[str, Form] = {
    "float16": lambda tf, x: tf.cast(_copies(tf, x), tf.float16),
    "bfloat16": lambda tf, x: tf.cast(tf.cast(_copies(tf, x), tf.bfloat16) * 2, tf.float32),
    "float16 of a known size": lambda tf, x: tf.cast(tf.broadcast_to(x[0], [3, 5, 3]), tf.float16),
    "float16 beside the same": lambda tf, x: tf.cast(tf.cast(_copies(tf, x), tf.float16), tf.float32) + _copies(tf, x),
}


NORMS: Mapping[str, Form] = {
    "of all": lambda tf, x: tf.math.l2_normalize(x),
    "of each": lambda tf, x: tf.math.l2_normalize(x, [1, 2]),
    "of a matrix": lambda tf, x: tf.math.l2_normalize(x[0], [-1, 0]),
    "in parts": lambda tf, x: x / tf.sqrt(tf.reduce_sum(x * x) + 1e-12),
    "of tiny rows": lambda tf, x: tf.math.l2_normalize(x * 1e-9, -1, epsilon=1e-24),
    "of rows and more": lambda tf, x: x * 1e-2 / tf.sqrt(tf.reduce_sum(tf.square(x * 1e-2), -1, keepdims=True) + 1e-4),
    "bounded behind the root": lambda tf, x: (
        x
        * tf.minimum(
            tf.math.rsqrt(tf.reduce_sum(tf.square(x * [[1.0], [0.0], [1e-6], [1.0], [2.0]]), -1, keepdims=True)), 1e8
        )
    ),
}


def _gathered(tf: Any, x: Any, source: str, result: str) -> Any:
    """What is gathered from integers that were something else before."""
    return tf.gather(tf.cast(tf.cast(tf.abs(x) * 9, source), result), [1, 0], axis=1)


INTEGERS: Mapping[str, Form] = {
    "of float16": lambda tf, x: _gathered(tf, x, "float16", "int32"),
    "of bfloat16": lambda tf, x: _gathered(tf, x, "bfloat16", "int64"),
    "of uint16": lambda tf, x: _gathered(tf, x, "uint16", "int64"),
    "of uint32": lambda tf, x: _gathered(tf, x, "uint32", "int32"),
    "of large uint32": lambda tf, x: _gathered(tf, tf.round(tf.tanh(x) * 7) * 5e7, "uint32", "int64"),
    "clipped at 6": lambda tf, x: tf.clip_by_value(tf.cast(x * 9, tf.int32), 0, 6),
    "clipped at 6 the other way": lambda tf, x: tf.maximum(tf.minimum(tf.cast(x * 9, tf.int64), 6), 0),
}


def _rows(tf: Any, x: Any) -> Any:
    """``[5 · ?, 3]``."""
    return tf.reshape(x, [-1, 3])


def _back(tf: Any, turned: Any, between: Callable[[Any], Any] = lambda x: x) -> Any:
    """What was ``[n, 5 · ?]`` and is ``[?, 5, n]``."""
    rows = 3 if turned.shape[0] is None else turned.shape[0]
    return tf.transpose(between(tf.reshape(turned, [rows, -1, 5])), [1, 2, 0])


_TALL = _constant(6, 3)


def _tall(tf: Any, x: Any) -> Any:
    """``[6, 5 · ?]``."""
    return tf.matmul(_TALL, _rows(tf, x), transpose_b=True)


TURNED_BACK: Mapping[str, Form] = {
    "at once": lambda tf, x: _back(tf, tf.transpose(_rows(tf, x))),
    "counted from the last": lambda tf, x: tf.transpose(
        tf.reshape(tf.transpose(_rows(tf, x), [-1, 0]), [3, -1, 5]), [-2, -1, 0]
    ),
    "otherwise": lambda tf, x: tf.transpose(tf.reshape(tf.transpose(_rows(tf, x)), [3, -1, 5, 1]), [2, 1, 3, 0]),
    "of whole columns": lambda tf, x: tf.transpose(
        tf.reshape(tf.transpose(_rows(tf, x), [0, 1]), [-1, 3, 5]), [1, 2, 0]
    ),
    "after two reshapes": lambda tf, x: _back(tf, tf.reshape(tf.transpose(_rows(tf, x)), [3, 5, -1])),
    "used twice": lambda tf, x: _back(tf, tf.transpose(_rows(tf, x))) + _back(tf, tf.transpose(_rows(tf, x)), tf.sin),
    "a product": lambda tf, x: _back(tf, _tall(tf, x)),
    "a product used twice": lambda tf, x: _back(tf, _tall(tf, x)) + tf.reduce_max(tf.sin(_tall(tf, x))),
    "a product with a bias": lambda tf, x: _back(tf, _tall(tf, x) + tf.reshape(_TALL[:, 0], [6, 1])),
    "a product of computed matrices": lambda tf, x: _back(
        tf, tf.matmul(tf.sin(_rows(tf, x)[:3]), _rows(tf, x), transpose_b=True)
    ),
    "activated before": lambda tf, x: _back(tf, tf.nn.relu(tf.transpose(_rows(tf, x)))),
    "activated between": lambda tf, x: _back(tf, tf.transpose(_rows(tf, x)), tf.tanh),
    "scaled before": lambda tf, x: _back(tf, tf.transpose(_rows(tf, x)) * 2),
    "clipped between": lambda tf, x: _back(tf, tf.transpose(_rows(tf, x)), lambda y: tf.clip_by_value(y, -0.5, 0.5)),
    "added before": lambda tf, x: _back(tf, tf.transpose(_rows(tf, x)) + tf.reshape(_VECTOR, [3, 1])),
    "integers": lambda tf, x: _back(tf, tf.nn.relu(tf.cast(tf.transpose(_rows(tf, x)) * 9, tf.int32))),
}


def _column(x: Any) -> Any:
    return x[:, :, :1]


SQUEEZED: Mapping[str, Form] = {
    "weights": lambda tf, x: tf.squeeze(tf.nn.softmax(_column(x), axis=1), -1),
    "weighed": lambda tf, x: tf.reduce_sum(x[:, :, 1] * tf.squeeze(tf.nn.softmax(_column(x), axis=1), -1), 1),
    "turned": lambda tf, x: tf.squeeze(tf.transpose(_column(x), [1, 0, 2]), -1) * tf.reduce_sum(x, [1, 2]),
    "turned to the middle": lambda tf, x: tf.squeeze(tf.transpose(_column(x), [1, 2, 0]), -2),
    "turned, activated": lambda tf, x: tf.argmax(tf.squeeze(tf.tanh(tf.transpose(_column(x), [1, 0, 2])), -1), -1),
    "a product": lambda tf, x: tf.squeeze(tf.einsum("btc,cd->tbd", x, tf.transpose(_TALL[:1])), -1),
    "vectors": lambda tf, x: tf.vectorized_map(functools.partial(tf.linalg.matvec, _TALL), x[:, 0]),
    "two of them": lambda tf, x: tf.squeeze(tf.transpose(_column(x)[:, :1], [1, 0, 2]), [-1, 0]),
    "of known sizes": lambda tf, x: tf.squeeze(tf.transpose(_column(x[:1]), [1, 0, 2]), [-1]),
    "the largest": lambda tf, x: tf.squeeze(tf.transpose(tf.nn.top_k(x, 1)[0], [0, 2, 1]), -2),
}


def _place(tf: Any, x: Any, begin: list[int], begin_mask: int, shrink_axis_mask: int, **masks: int) -> Any:
    masks |= {"begin_mask": begin_mask, "shrink_axis_mask": shrink_axis_mask}
    return tf.raw_ops.StridedSlice(input=x, begin=begin, end=[1, 4, 3], strides=[1, 1, 1], **masks)


PLACES: Mapping[str, Form] = {
    "the last": lambda tf, x: _place(tf, x, [-1, 1, 1], 1, 1),
    "in the middle": lambda tf, x: _place(tf, x, [0, 3, 1], 7, 2, end_mask=3),
    "of integers": lambda tf, x: _place(tf, tf.cast(x * 9, tf.int32), [0, 2, 1], 6, 6),
    "behind an ellipsis": lambda tf, x: _place(tf, x, [0, 0, 1], 4, 4, ellipsis_mask=1, new_axis_mask=2),
    "of a shape": lambda tf, x: tf.reshape(
        x,
        [
            tf.raw_ops.StridedSlice(
                input=tf.shape(x), begin=[1], end=[9], strides=[1], begin_mask=1, shrink_axis_mask=1
            ),
            -1,
        ],
    ),
}

FORMS = {
    "places": PLACES,
    "squeezed": SQUEEZED,
    "turned": TURNED,
    "turned back": TURNED_BACK,
    "tiled": TILED,
    "one element": ONE_ELEMENT,
    "columns": COLUMNS,
    "narrowed": NARROWED,
    "norms": NORMS,
    "integers": INTEGERS,
}


def module(tf: Any, group: str, form: str, sizes: tuple[int, int]) -> Any:
    result = tf.Module()
    specification = tf.TensorSpec([None, *sizes], tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": FORMS[group][form](tf, x)}

    result.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize(("group", "form"), [(group, form) for group, forms in FORMS.items() for form in forms])
def test_form(tensorflow: TensorFlow, group: str, form: str) -> None:
    sizes = (3, 5) if group == "turned" else (5, 3)
    path = tensorflow.save(module, group, form, sizes)
    random = np.random.default_rng(4)
    inputs = [{"x": random.normal(size=(batch, *sizes)).astype(np.float32)} for batch in (1, 3, 2)]
    check(tensorflow, path, inputs)
