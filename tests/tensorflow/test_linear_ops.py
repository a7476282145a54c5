"""Negations in differences, the signs of rotated halves in their angles, and factors in the weights of projections."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check_calls
from tests.tensorflow.test_caches import ops_by_signature

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow

_SHAPES = {"x": (2, 3, 8), "y": (2, 3, 8), "a": (1, 3, 8)}


def _turned(tf: Any, x: Any, a: Any) -> Any:
    first, second = tf.split(x, 2, -1)
    return x * tf.cos(a) + tf.concat([-second, first], -1) * tf.sin(a)


def _turned_otherwise(tf: Any, x: Any, a: Any) -> Any:
    """The second half comes first, and is not negated: its neighbour is."""
    first, second = tf.split(x, 2, -1)
    return x * tf.cos(a) + tf.concat([second, -first], -1) * tf.sin(a)


def _of_read_halves(tf: Any, x: Any, y: Any, a: Any) -> Any:
    halves = [tf.concat([-value[..., 4:], value[..., :4]], -1) for value in (x, y)]
    return tf.stack([(half + 1.0) * (half * tf.sin(a)) for half in halves])


def _of_read_negations(tf: Any, x: Any, y: Any, a: Any) -> Any:
    negated = [-value[..., 4:] for value in (x, y)]
    products = [tf.concat([half, tf.exp(half)], -1) * tf.sin(a) for half in negated]
    return tf.stack(products)


def _normalized(tf: Any, x: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, tf.range(8.0), 1.0 + tf.range(8.0), 1e-3)


def _normalized_otherwise(tf: Any, x: Any, y: Any, a: Any) -> Any:
    """Normalizations of which one is read, one divides by more, and one takes the mean of something else."""
    factor = tf.math.rsqrt(tf.reduce_mean(tf.square(x), -1, keepdims=True) + 1.0)
    mean = tf.reduce_mean(x, -1, keepdims=True)
    return tf.stack([x * factor + (y - mean * factor), x * factor + (y - mean * factor * 2.0), x * a + (a - mean * a)])


# What is computed of x, y and angles, and how many NEG must be left of it.
_NEGATIONS: dict[str, tuple[Callable[[Any, Any, Any, Any], Any], int]] = {
    "layer_norm": (lambda tf, x, y, a: _normalized(tf, x), 0),
    "normalized_otherwise": (_normalized_otherwise, 0),
    "negated_term": (lambda tf, x, y, a: tf.nn.relu(-x + y), 0),
    "negated_twice": (lambda tf, x, y, a: -(x * a) + -(y * a), 1),
    "read_negation": (lambda tf, x, y, a: tf.stack([tf.exp(-x), -x + y]), 1),
    "activated_product": (lambda tf, x, y, a: tf.nn.relu(-x * a) + y, 1),
    "rotary": (lambda tf, x, y, a: tf.stack([_turned(tf, x, a), _turned(tf, y, a)]), 0),
    "one_rotary": (lambda tf, x, y, a: _turned(tf, x, a), 1),
    "two_ways": (lambda tf, x, y, a: tf.stack([_turned(tf, x, a), _turned_otherwise(tf, y, a)]), 2),
    "two_angles": (lambda tf, x, y, a: tf.stack([_turned(tf, x, a), _turned(tf, y, 2.0 * a)]), 2),
    "read_halves": (_of_read_halves, 2),
    "read_negations": (_of_read_negations, 2),
}


def _heads(tf: Any, x: Any) -> Any:
    return tf.transpose(tf.reshape(x, [-1, 3, 2, 128]), [0, 2, 1, 3])


def _wide(tf: Any, x: Any) -> Any:
    return tf.tile(x, [1, 1, 32])


def _projected(tf: Any, x: Any) -> Any:
    return tf.matmul(x, weight(tf))


@functools.cache
def weight(tf: Any) -> Any:
    """A weight that is large enough to stay mapped."""
    return tf.Variable(np.random.default_rng(4).standard_normal((8, 256)) / 16, dtype=tf.float32)


def _biased(tf: Any, x: Any) -> Any:
    return tf.nn.bias_add(_projected(tf, x), tf.range(256.0) / 128)


def _scores(tf: Any, q: Any, y: Any, factor: Any = 0.3) -> Any:
    return tf.nn.softmax(tf.matmul(_heads(tf, q), _heads(tf, y), transpose_b=True) * factor)


def _read_projection(tf: Any, x: Any, y: Any, a: Any) -> Any:
    projected = _projected(tf, x)
    return tf.reduce_sum(_scores(tf, projected, _wide(tf, y))) + tf.exp(projected)


def _squared(tf: Any, x: Any, y: Any, a: Any) -> Any:
    projected = _projected(tf, x)
    return _scores(tf, projected, projected)


def _turned_by_constants(tf: Any, x: Any, y: Any, a: Any) -> Any:
    sines = tf.constant(np.sin(np.arange(24.0, dtype=np.float32)).reshape(1, 3, 8))
    halves = [tf.concat([-value[..., 4:], value[..., :4]], -1) for value in (x, y)]
    return tf.stack([half * sines for half in halves]) + a


# What is computed of x, y and angles, and how many MUL must be left of it.
_FACTORS: dict[str, tuple[Callable[[Any, Any, Any, Any], Any], int]] = {
    "scores": (lambda tf, x, y, a: _scores(tf, _projected(tf, x), _wide(tf, y)), 0),
    "biased": (lambda tf, x, y, a: _scores(tf, _biased(tf, x), _wide(tf, y)), 0),
    "rotated": (lambda tf, x, y, a: _scores(tf, _turned(tf, _biased(tf, x), _wide(tf, a)), _wide(tf, y)), 2),
    "shifted": (lambda tf, x, y, a: _scores(tf, _projected(tf, x) + _wide(tf, y), _wide(tf, y)), 1),
    "activated": (lambda tf, x, y, a: _scores(tf, tf.nn.relu(_projected(tf, x)), _wide(tf, y)), 1),
    "read_projection": (_read_projection, 1),
    "squared": (_squared, 1),
    "gated": (lambda tf, x, y, a: _scores(tf, _projected(tf, x) * tf.sigmoid(_projected(tf, x)), _wide(tf, y)), 2),
    "columns": (lambda tf, x, y, a: _scores(tf, _projected(tf, x), _wide(tf, y), tf.constant([1.0, 2.0, 3.0])), 1),
}

# The same, without a weight that stays mapped: the signs of constant angles are constants.
_CONSTANT_FACTORS = {"constant_angles": (_turned_by_constants, 2)}


def functions(tf: Any, forms: str) -> Any:
    module = tf.Module()
    module.weight = weight(tf)
    specs = [tf.TensorSpec(shape, name=name) for name, shape in _SHAPES.items()]

    def signature(compute: Callable[..., Any]) -> Any:
        def serve(x: Any, y: Any, a: Any) -> Any:
            return {"z": compute(tf, x, y, a)}

        return tf.function(serve, input_signature=specs, autograph=False)

    module.functions = {name: signature(compute) for name, (compute, _) in globals()[forms].items()}
    return module, {name: function.get_concrete_function() for name, function in module.functions.items()}


@pytest.mark.parametrize(("forms", "op"), [("_NEGATIONS", "NEG"), ("_FACTORS", "MUL"), ("_CONSTANT_FACTORS", "MUL")])
def test_linear_ops(tensorflow: TensorFlow, forms: str, op: str) -> None:
    numbers = np.random.default_rng(6)
    expected: dict[str, int] = {name: left for name, (_, left) in globals()[forms].items()}
    calls = [
        (name, {key: numbers.standard_normal(shape).astype(np.float32) for key, shape in _SHAPES.items()})
        for name in expected
        for _ in range(2)
    ]
    result = check_calls(tensorflow, tensorflow.save(functions, forms), calls)
    assert {name: ops[op] for name, ops in ops_by_signature(result.model_bytes).items()} == expected
