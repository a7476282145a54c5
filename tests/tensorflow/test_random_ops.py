# pyright: reportUnknownLambdaType=false
"""Random ops: with seeds, the first call of an interpreter gives the numbers that TensorFlow's first call gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import litefuse
from tests.tensorflow.checking import check, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

X = {"x": np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)}


def seeded(tf: Any, op: str) -> Any:
    draws: dict[str, Any] = {
        "uniform": lambda x: tf.raw_ops.RandomUniform(shape=tf.shape(x), dtype=tf.float32, seed=3, seed2=5),
        "normal": lambda x: tf.raw_ops.RandomStandardNormal(shape=tf.shape(x), dtype=tf.float32, seed=3, seed2=5),
        "categorical": lambda x: tf.raw_ops.Multinomial(logits=x, num_samples=6, seed=3, seed2=5),
        "unseeded": lambda x: tf.raw_ops.RandomUniform(shape=tf.shape(x), dtype=tf.float32),
    }
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": draws[op](x)}, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")]
    )
    return module, {"serving_default": module.serve}


def test_seeded_uniform(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(seeded, "uniform"), X, repeat=1)


def test_seeded_normal(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(seeded, "normal"), X, repeat=1)


def test_seeded_categorical(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(seeded, "categorical"), X, repeat=1)


def test_unseeded_numbers_are_new_in_every_call(tensorflow: TensorFlow) -> None:
    model = litefuse.convert(tensorflow.save(seeded, "unseeded")).model_bytes
    first, second = (each["y"] for each in run_calls(model, [("serving_default", X)] * 2))
    assert first.shape == (3, 4)
    assert not np.array_equal(first, second)
    assert 0 <= first.min() < first.max() < 1
