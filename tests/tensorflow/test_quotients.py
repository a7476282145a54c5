"""Quotients and fractions of integers, which TensorFlow computes in float64 and LiteRT need not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def quotients(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.float32, name="x"), tf.TensorSpec([None], tf.int32, name="n")],
        autograph=False,
    )
    def serve(x: Any, n: Any) -> Any:
        sizes, divisor = tf.shape(x), tf.constant([3, -7])
        return {
            "half": x[: tf.cast(sizes[0] / 2, tf.int32), : tf.cast(tf.math.ceil(sizes[1] / 2), tf.int32)],
            "truncated": tf.cast(n[:, None] / divisor, tf.int64),
            "floor": tf.cast(tf.floor(n[:, None] / divisor), tf.int32),
            "ceil": tf.cast(tf.math.ceil(n[:, None] / divisor), tf.int32),
            "constant": tf.cast(tf.cast(n, tf.float64) / 5.0, tf.int32),
            "number": tf.cast(sizes / n[0], tf.float32),
        }

    module.serve = serve
    return module


def test_quotients_of_integers_need_no_float64(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(4)
    extremes = np.array([2**31 - 1, -(2**31), 0, 21, -21, 20, -20, 1], np.int32)
    inputs = [
        {
            "x": random.normal(size=(batch, batch + 2)).astype(np.float32),
            "n": np.concatenate([extremes, random.integers(-(2**31), 2**31, batch * 9).astype(np.int32)]),
        }
        for batch in (3, 7, 2)
    ]
    result = check(tensorflow, tensorflow.save(quotients), inputs)
    assert not result.report.narrowed


def fractions(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, None, 2], tf.float32, name="x"),
            tf.TensorSpec([None], tf.int32, name="n"),
        ],
        autograph=False,
    )
    def serve(x: Any, n: Any) -> Any:
        number = tf.cast(n, tf.float64)
        scaled = (number * -0.75 + 2.5) / 4.0 - tf.cast(n[0], tf.float64) * 0.125
        return {
            "cropped": tf.image.central_crop(x, 0.875),
            "middle": tf.image.central_crop(x[0], 0.7),  # which it has as float32
            "truncated": tf.cast(scaled, tf.int64),
            "floor": tf.cast(tf.floor(scaled), tf.int64),
            "ceil": tf.cast(tf.math.ceil(scaled), tf.int64),
            "whole": tf.cast(number * 3.0 - 7.0, tf.int64),
            "nothing": tf.cast((number - number * 0.5) * 2.0 - number, tf.int32),
            "area": tf.cast(tf.cast(tf.size(x), tf.float64) * 0.3125, tf.int32),
            "far": tf.cast(tf.floor(number * 2.0**-40 + 2.0**-33), tf.int64),
            "halves": tf.cast((number - 1.0) * 2.0**-20, tf.int32),
            "product": tf.cast(
                tf.cast(tf.shape(x)[1], tf.float64) * tf.cast(tf.shape(x)[2], tf.float64) / 8.0, tf.int32
            ),
        }

    module.serve = serve
    return module


def test_simple_fractions_of_integers_need_no_float64(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(4)
    extremes = np.array([2**31 - 1, -(2**31), 0, 21, -21, 2, 3, 4, 5, -1], np.int32)
    inputs = [
        {
            "x": random.normal(size=(2, *sizes, 2)).astype(np.float32),
            "n": random.permuted(
                np.concatenate([extremes, random.integers(-(2**31), 2**31, 50).astype(np.int32)])
            ).astype(np.int32),
        }
        for sizes in ((9, 16), (31, 7), (8, 50))
    ]
    result = check(tensorflow, tensorflow.save(fractions), inputs)
    assert not result.report.narrowed


def test_a_crop_takes_few_ops(tensorflow: TensorFlow) -> None:
    """The part of a size that is cut off is the upper half of one product."""
    path = tensorflow.save(central_crop)
    inputs = [
        {"x": np.random.default_rng(7).normal(size=(1, *sizes, 3)).astype(np.float32)} for sizes in ((9, 16), (31, 7))
    ]
    result = check(tensorflow, path, inputs)
    assert op_counts(result.model_bytes) == {
        **dict.fromkeys(("SHAPE", "SLICE"), 1),
        **dict.fromkeys(("BITCAST", "CAST", "GATHER", "PACK", "STRIDED_SLICE", "SUB"), 2),
        "MUL": 4,
    }


def central_crop(tf: Any) -> Any:
    module = tf.Module()
    specification = tf.TensorSpec([None, None, None, 3], tf.float32, name="x")

    def serve(x: Any) -> Any:
        return {"y": tf.image.central_crop(x, 0.7)}

    module.serve = tf.function(serve, input_signature=[specification])
    return module


def fraction_of_many_bits(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": x[: tf.cast(tf.cast(tf.shape(x)[0], tf.float64) * 0.7, tf.int32)]}

    module.serve = serve
    return module


def test_other_fractions_need_float64(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(fraction_of_many_bits)
    with pytest.raises(UnsupportedOpsError, match="float64") as raised:
        litefuse.convert(path)
    assert "--dtypes narrow computes float64 in float32" in raised.value.hint
    random = np.random.default_rng(5)
    inputs = [{"x": random.normal(size=(rows, 2)).astype(np.float32)} for rows in (9, 31)]
    check(tensorflow, path, inputs, dtypes="narrow")
