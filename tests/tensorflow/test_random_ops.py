# pyright: reportUnknownLambdaType=false
"""Random ops: with seeds, the calls of an interpreter give the numbers that TensorFlow's calls give.

Of LiteRT's own ops, only the first does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

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


def seeds(tf: Any, kind: str) -> Any:
    """Ops with seeds, by the shape of ``x``."""
    raw, int64 = tf.raw_ops, tf.int64
    seed = {"seed": 2**40 + 7, "seed2": 5}

    def integers(x: Any, low: Any, high: Any, **seeds: int) -> Any:
        return raw.RandomUniformInt(shape=tf.shape(x), minval=low, maxval=high, **(seeds or seed))

    def long(x: Any, low: int, high: int) -> Any:
        return integers(x, tf.constant(low, int64), tf.constant(high, int64))

    @tf.function
    def called(x: Any) -> Any:
        return integers(x, 0, 1000)

    draws: dict[str, Any] = {
        "integers": lambda x: integers(x, -3, 5),
        "all": lambda x: integers(x, tf.int32.min, tf.int32.max),
        "one seed": lambda x: integers(x, 0, 1000, seed=0, seed2=-9),
        "bounds": lambda x: integers(x, tf.cast(tf.reduce_min(x), tf.int32) - 9, tf.shape(x)[0] * 7),
        "long": lambda x: long(x, 10**9, 10**9 + 3),
        "longer": lambda x: long(x, -(10**12), 10**15),
        "longest": lambda x: long(x, -(2**62) - 5, 2**62 + 9),
        "long bounds": lambda x: integers(x, tf.cast(tf.shape(x)[0], int64), tf.cast(tf.shape(x)[0], int64) * 10**12),
        "truncated": lambda x: raw.TruncatedNormal(shape=tf.shape(x), dtype=tf.float32, **seed) * 2 + 1,
        "shuffled": lambda x: raw.RandomShuffle(value=x, **seed),
        "shuffled strings": lambda x: raw.RandomShuffle(value=tf.constant(list("abcdefghi")), **seed),
        "nothing shuffled": lambda x: raw.RandomShuffle(value=tf.reduce_sum(x), **seed),
        "two": lambda x: called(x) * 1000 + called(x),
        # Iterations that run at once would take numbers in any order.
        "loop": lambda x: tf.while_loop(
            lambda i, _: i < tf.shape(x)[0],
            lambda i, y: (i + 1, y * 10 + integers(y, 0, 10)),
            (0, tf.zeros([3], tf.int32)),
            parallel_iterations=1,
        )[1],
    }
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": draws[kind](x)}, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")]
    )
    return module, {"serving_default": module.serve}


def narrow(tf: Any, dtype: str) -> Any:
    """Numbers of a dtype, of a shape of int64."""
    seed: dict[str, Any] = {"seed": 3, "seed2": 5, "dtype": tf.as_dtype(dtype)}

    def serve(shape: Any) -> dict[str, Any]:
        uniform, normal = (
            getattr(tf.raw_ops, f"Random{kind}")(shape=shape, **seed) for kind in ("Uniform", "StandardNormal")
        )
        return {"uniform": tf.cast(uniform, tf.float32), "normal": tf.cast(normal, tf.float32)}

    module = tf.Module()
    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([2], tf.int64, name="shape")])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize(("dtype", "rtol"), [("float16", 1e-3), ("bfloat16", 1e-2), ("float32", 1e-5)])
def test_narrow_numbers(tensorflow: TensorFlow, dtype: str, rtol: float) -> None:
    check(tensorflow, tensorflow.save(narrow, dtype), {"shape": np.array([4, 5])}, repeat=1, rtol=rtol)


def of_any_rank(tf: Any) -> Any:
    raw, seed = tf.raw_ops, {"seed": 3, "seed2": 5}

    def serve(sizes: Any) -> dict[str, Any]:
        return {
            "integers": raw.RandomUniformInt(shape=sizes, minval=0, maxval=100, **seed),
            "normal": raw.TruncatedNormal(shape=sizes, dtype=tf.float32, **seed),
            "uniform": raw.RandomUniform(shape=sizes, dtype=tf.float32, **seed),
            "stateless": tf.random.stateless_uniform(sizes, [1, 2]),
        }

    module = tf.Module()
    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None], tf.int64, name="sizes")])
    return module, {"serving_default": module.serve}


def test_shapes_of_unknown_rank(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of_any_rank)
    for sizes in ([3, 2, 4], [7]):
        inputs = {"sizes": np.array(sizes)}
        (expected,) = tensorflow.run(path, inputs, calls=1)
        (found,) = run_calls(litefuse.convert(path).model_bytes, [("serving_default", inputs)])
        for name, value in expected.items():
            assert found[name].shape == tuple(sizes)
            np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "kind",
    [
        *("integers", "all", "one seed", "bounds", "long", "longer", "longest", "long bounds", "truncated", "shuffled"),
        *("shuffled strings", "nothing shuffled", "two", "loop"),
    ],
)
def test_generators_with_seeds_go_on_as_tensorflows_do(tensorflow: TensorFlow, kind: str) -> None:
    rows = [{"x": np.arange(size * 4, dtype=np.float32).reshape(size, 4)} for size in (5, 1, 70, 2)]
    check(tensorflow, tensorflow.save(seeds, kind), rows)
