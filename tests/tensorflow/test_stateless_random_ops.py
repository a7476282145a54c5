# pyright: reportUnknownLambdaType=false
"""Stateless random numbers are a function of the seed: TensorFlow's numbers, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

SEEDS = [[1, 2], [0, 0], [-1, 2**31 - 1], [-(2**31), 77]]


def drawing(tf: Any, name: str, seed_dtype: str) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec([2], seed_dtype, name="seed"),
            tf.TensorSpec([None, 3], tf.float32, name="like"),
        ]
    )
    def serve(seed: Any, like: Any) -> Any:
        return {"y": globals()[name](tf, seed, like)}

    module.serve = serve
    return module, {"serving_default": serve}


def uniform(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([5, 3], seed)


def uniform_of_open_shape(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform(tf.shape(like), seed, -2.0, 3.0)


def one_number(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([], seed)


def normal(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_normal(tf.shape(like), seed, mean=1.0, stddev=0.5)


def integers(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([7], seed, -5, 1000, tf.int32)


def integers_from_all(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([3, 2], seed, None, None, tf.int32)


def long_integers(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([5], seed, -5, 10**9, tf.int64)


def long_integers_from_all(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([5], seed, None, None, tf.int64)


def split(tf: Any, seed: Any, like: Any) -> Any:
    seeds = tf.random.split(seed, 3)
    return tf.random.stateless_uniform([4], tf.random.fold_in(seeds[1], 5))


def dropout(tf: Any, seed: Any, like: Any) -> Any:
    return tf.nn.experimental.stateless_dropout(like, 0.4, seed)


def flip(tf: Any, seed: Any, like: Any) -> Any:
    return tf.image.stateless_random_flip_left_right(like[None, :, :, None], seed)


def older_ops(tf: Any, seed: Any, like: Any) -> Any:
    first = tf.raw_ops.StatelessRandomUniform(shape=tf.shape(like), seed=seed)
    return first + tf.raw_ops.StatelessRandomNormal(shape=tf.shape(like), seed=seed)


def classes(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_categorical(like, 50, seed)


def possible_classes(tf: Any, seed: Any, like: Any) -> Any:
    logits = tf.where(like > 0.8, tf.constant(-np.inf), like)
    return tf.random.stateless_categorical(logits, tf.shape(like)[0], seed, tf.int32)


def truncated(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_truncated_normal(tf.shape(like) * 7, seed, mean=1.0, stddev=0.5)


def truncated_of_known_shape(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_truncated_normal([5, 30], seed)


def shuffled(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.experimental.stateless_shuffle(like, seed)


def gamma(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_gamma(
        tf.concat([tf.shape(like)[:1] * 40, [5]], 0), seed, [0.05, 0.7, 1.0, 2.5, 1000.0], 2.0
    )


def gamma_of_known_shape(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_gamma([30, 3], seed, tf.abs(like[0]) + 0.1)


def older_gamma(tf: Any, seed: Any, like: Any) -> Any:
    return tf.raw_ops.StatelessRandomGammaV2(shape=tf.shape(like), seed=seed, alpha=tf.constant(1.5))


DRAWINGS = (
    *("gamma", "gamma_of_known_shape", "older_gamma"),
    *("truncated", "truncated_of_known_shape", "shuffled"),
    *("classes", "possible_classes"),
    *("uniform", "uniform_of_open_shape", "one_number", "normal", "integers", "integers_from_all", "long_integers"),
    *("long_integers_from_all", "split", "dropout", "flip", "older_ops"),
)


@pytest.mark.parametrize("name", DRAWINGS)
def test_numbers(tensorflow: TensorFlow, name: str) -> None:
    path = tensorflow.save(drawing, name, "int32")
    like = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    inputs = [
        {"seed": np.array(seed, np.int32), "like": like[:rows]} for seed, rows in zip(SEEDS, (1, 4, 6, 3), strict=True)
    ]
    # The bits are equal; what is computed from them has float32's errors.
    result = check(tensorflow, path, inputs, rtol=0.0 if name == "uniform" else 1e-6)
    assert not result.report.custom_ops


def test_seed_of_int64(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(drawing, "integers", "int64")
    like = np.zeros((1, 3), np.float32)
    check(tensorflow, path, [{"seed": np.array(seed), "like": like} for seed in ([2**40 + 5, -3], [-(2**60), 2**33])])


def generator(tf: Any, state: list[int]) -> Any:
    module = tf.Module()
    module.generator = tf.random.Generator.from_state(state, "philox")

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="like")])
    def serve(like: Any) -> Any:
        one = module.generator
        return {
            "normal": one.normal(tf.shape(like)),
            "uniform": one.uniform([3]),
            "integers": one.uniform([5], -3, 50, tf.int32),
            "truncated": one.truncated_normal([6]),
            "seeds": one.make_seeds(2),
            "stateless": tf.random.stateless_normal([3], one.uniform_full_int([2], tf.int64)),
        }

    module.serve = serve
    return module, {"serving_default": serve}


# A counter at its beginning; one whose first word, and one whose first half, is about to be full; one that is full.
STATES = {
    "begun": [0, 0, 7],
    "a word": [2**32 - 2, 3, -5],
    "a half": [-1, 2**32 - 1, 2**40 + 1],
    "a half within a draw": [-2048, -1, 9],
    "the sign": [2**63 - 300, 1, -(2**63)],
}


@pytest.mark.parametrize("state", STATES)
def test_generator(tensorflow: TensorFlow, state: str) -> None:
    path = tensorflow.save(generator, STATES[state])
    inputs = [{"like": np.zeros((rows, 3), np.float32)} for rows in (1, 4, 2)]
    assert not check(tensorflow, path, inputs).report.custom_ops


def constant_seed(tf: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": x + tf.random.stateless_uniform([3, 4], [5, 6])},
        input_signature=[tf.TensorSpec([3, 4], tf.float32, name="x")],
    )
    return module, {"serving_default": module.serve}


def test_constant_seed(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(constant_seed), {"x": np.zeros((3, 4), np.float32)})


def threefry(tf: Any, seed: Any, like: Any) -> Any:
    return tf.random.stateless_uniform([4], seed, alg="threefry")


def test_another_generator(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="StatelessRandomUniformV2"):
        litefuse.convert(tensorflow.save(drawing, "threefry", "int32"))
