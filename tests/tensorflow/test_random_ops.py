# pyright: reportUnknownLambdaType=false
"""Random ops: with seeds, the first call of an interpreter gives the numbers that TensorFlow's first call gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
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


def drawing(tf: Any, op: str, seed: int) -> Any:
    raw = tf.raw_ops

    def integers(shape: Any, low: int, high: int, dtype: Any) -> Any:
        bounds = {"minval": tf.constant(low, dtype), "maxval": tf.constant(high, dtype)}
        return raw.RandomUniformInt(shape=shape, seed=seed, **bounds)

    draws: dict[str, Any] = {
        "integers": lambda x: integers(tf.shape(x), -3, 5, tf.int32),
        "few": lambda x: integers([1000], 10**9, 10**9 + 3, tf.int64),
        "many": lambda x: integers([1000], tf.int32.min, tf.int32.max, tf.int32),
        "truncated": lambda x: raw.TruncatedNormal(shape=tf.shape(x), dtype=tf.float32, seed=seed) * 2 + 1,
        "shuffled": lambda x: raw.RandomShuffle(value=x, seed=seed),
        "shuffled strings": lambda x: raw.RandomShuffle(value=tf.constant(["a", "b", "c", "d"]), seed=seed),
    }
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": draws[op](x)}, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")]
    )
    return module, {"serving_default": module.serve}


MANY = {"x": np.arange(8000, dtype=np.float32).reshape(2000, 4)}


def drawn(tensorflow: TensorFlow, op: str) -> list[Any]:
    """What two calls of one interpreter give; it is never the same."""
    model = litefuse.convert(tensorflow.save(drawing, op, 0)).model_bytes
    first, second = (each["y"] for each in run_calls(model, [("serving_default", MANY)] * 2))
    return [first, second]


def test_integers(tensorflow: TensorFlow) -> None:
    first, second = drawn(tensorflow, "integers")
    assert first.dtype == np.int32
    assert first.shape == (2000, 4)
    assert not np.array_equal(first, second)
    assert set(first.ravel()) == set(range(-3, 5))
    counts = np.bincount(first.ravel() + 3)
    assert np.abs(counts - 1000).max() < 200  # more than six standard deviations


def test_few_integers_of_int64(tensorflow: TensorFlow) -> None:
    first, _ = drawn(tensorflow, "few")
    assert first.dtype == np.int64
    assert set(first) == {10**9, 10**9 + 1, 10**9 + 2}


def test_all_integers_of_int32(tensorflow: TensorFlow) -> None:
    first, _ = drawn(tensorflow, "many")
    assert first.min() < -(2**30)
    assert first.max() > 2**30
    assert len(set(first)) > 990
    assert len({number % 256 for number in first.tolist()}) > 200  # the low bits are random as well


def test_truncated_normal(tensorflow: TensorFlow) -> None:
    first, second = drawn(tensorflow, "truncated")
    assert not np.array_equal(first, second)
    assert -3 <= first.min() < -2.5
    assert 4.5 < first.max() <= 5
    assert abs(first.mean() - 1) < 0.15
    assert abs(first.std() - 2 * 0.8796) < 0.1  # the standard deviation of what is between -2 and 2


def test_shuffle(tensorflow: TensorFlow) -> None:
    first, second = drawn(tensorflow, "shuffled")
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, MANY["x"])
    np.testing.assert_array_equal(first[np.argsort(first[:, 0])], MANY["x"])


def test_shuffle_of_strings(tensorflow: TensorFlow) -> None:
    for answer in drawn(tensorflow, "shuffled strings"):
        assert sorted(answer.tolist()) == [b"a", b"b", b"c", b"d"]


@pytest.mark.parametrize("op", ["integers", "truncated", "shuffled"])
def test_a_seed_asks_for_tensorflows_numbers(tensorflow: TensorFlow, op: str) -> None:
    with pytest.raises(UnsupportedOpsError, match="it has a seed"):
        litefuse.convert(tensorflow.save(drawing, op, 7))
