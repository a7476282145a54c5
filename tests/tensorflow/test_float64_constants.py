"""Float64 that is computed of constants alone: it is folded, exactly as TensorFlow computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import difference, op_counts, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def rounded_up(tf: Any, positions: Any) -> Any:
    """Buckets whose logarithms are rounded up, with signs: float64, then float32."""
    middle, most = 16, 512
    sizes = tf.where((positions < middle) & (positions > -middle), middle - 1, tf.abs(positions))
    logarithms = tf.cast(tf.math.log(sizes / middle), tf.float32) / tf.cast(
        tf.math.log((most - 1) / middle), tf.float32
    )
    buckets = tf.math.ceil(logarithms * (middle - 1)) + middle
    signed = tf.where(
        sizes <= middle, tf.cast(positions, tf.float32), buckets * tf.cast(tf.sign(positions), tf.float32)
    )
    return tf.cast(signed, tf.int32) + 512


def truncated(tf: Any, positions: Any) -> Any:
    """Buckets whose logarithms are truncated, in float64 to the end; that of zero is infinite."""
    sizes = tf.abs(positions)
    large = 8 + tf.cast(tf.math.log(sizes / 8) / np.log(128 / 8) * 8, positions.dtype)
    buckets = tf.where(sizes < 8, sizes, tf.minimum(large, 15))
    return buckets + tf.cast(positions > 0, positions.dtype) * 16


def frequencies(tf: Any, positions: Any) -> Any:
    """Float32 in the end, by way of powers in float64."""
    angles = tf.cast(positions, tf.float64) / tf.pow(tf.constant(1e4, tf.float64), 0.25)
    return tf.cast(tf.stack([tf.sin(angles), tf.cos(angles)], -1)[..., 0], tf.float32)


def of(tf: Any, name: str, length: int, batch: int | None, dtype: str) -> Any:
    module = tf.Module()
    module.table = tf.Variable(np.random.default_rng(2).standard_normal((1100, 4)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([batch, length, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        places = tf.range(tf.shape(x)[1])
        positions = tf.cast(places[:, None] - places[None, :], dtype)
        found = globals()[name](tf, positions)
        if found.dtype == tf.float32:
            return {"y": tf.reduce_sum(found[None, :, :, None] * x[:, None], 2)}
        return {"buckets": found + tf.cast(x[0, 0, 0], found.dtype), "y": x[:, None] * tf.gather(module.table, found)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("batch", [1, 3, None])
@pytest.mark.parametrize(
    ("name", "length", "dtype"),
    [
        ("rounded_up", 24, "int32"),
        ("rounded_up", 520, "int32"),
        ("truncated", 24, "int32"),
        # Not 64: there, Grappler's other order of division and multiplication truncates to the bucket below.
        ("truncated", 60, "int64"),
        ("frequencies", 24, "int32"),
    ],
)
def test_buckets(tensorflow: TensorFlow, name: str, length: int, dtype: str, batch: int | None) -> None:
    path = tensorflow.save(of, name, length, batch, dtype)
    model = litefuse.convert(path).model_bytes
    random = np.random.default_rng(0)
    batches = [batch, batch] if batch else [1, 2]
    inputs = [{"x": random.uniform(0, 0.9, (each, length, 4)).astype(np.float32)} for each in batches]
    calls = [("serving_default", each) for each in inputs for _ in range(2)]
    for found, wanted in zip(run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True):
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert not (problem := difference(found[key], value, rtol=1e-5)), f"{key} {problem}"
    assert not {"CEIL", "LOG", "DIV", "RANGE", "SIGN"} & op_counts(model).keys()
