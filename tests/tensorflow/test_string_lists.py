# pyright: reportUnknownLambdaType=false
"""TensorArrays of strings, map_fn and loops over strings: the lists behind them become dense tensors of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.tensorflow.process import TensorFlow

TEXTS = [b"one two", b"", b"gr\xc3\xb6\xc3\x9fe", b"\xff\x00x", b" ", b"a longer text than the others", b"b"]


def mapped(tf: Any, x: Any) -> Any:
    joined, lengths = tf.map_fn(
        lambda text: (tf.strings.join([text, "!"]), tf.strings.length(text)),
        x,
        fn_output_signature=(tf.string, tf.int32),
    )
    return {"joined": joined, "lengths": lengths}


def written(tf: Any, x: Any) -> Any:
    count = tf.shape(x)[0]
    array = tf.TensorArray(tf.string, count, element_shape=[], clear_after_read=False)
    for i in tf.range(count - 1):  # the last is never written
        array = array.write(i + 0, tf.strings.upper(x[i]))
    return {"all": array.stack(), "first": array.read(0), "some": array.gather([0, 0, count - 1])}


def grown(tf: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.string, 0, dynamic_size=True, element_shape=[2], clear_after_read=False)
    for i in tf.range(4):
        array = array.write(i, tf.stack([x[0], tf.strings.as_string(i)]))
    return {"all": array.stack(), "row": array.concat(), "size": array.size()}


def unstacked(tf: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.string, tf.shape(x)[0], clear_after_read=False).unstack(x)
    longest = tf.constant("")
    for i in tf.range(tf.shape(x)[0]):
        text = array.read(i)
        if tf.strings.length(text) > tf.strings.length(longest):
            longest = text
    return {"longest": longest, "back": array.stack()}


def scattered(tf: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.string, 5, element_shape=[], clear_after_read=False).scatter(
        [3, 0], tf.strings.join([x[0], ["!", "?"]])
    )
    return {"all": array.stack()}


def matrices(tf: Any, x: Any) -> Any:
    rows = tf.stack([x, tf.strings.lower(x)], 1)
    return {"y": tf.map_fn(lambda row: tf.strings.reduce_join(row, separator="/")[tf.newaxis], rows)}


def empty(tf: Any, x: Any) -> Any:
    return {"y": tf.concat([tf.map_fn(tf.strings.upper, x[:0]), x], 0)}


def serving(tf: Any, name: str, size: int | None) -> Any:
    module = tf.Module()
    spec = tf.TensorSpec([size], tf.string, name="x")
    module.serve = tf.function(lambda x: globals()[name](tf, x), input_signature=[spec])
    return module, {"serving_default": module.serve}


def strings(values: Sequence[bytes]) -> Any:
    return np.array(values, object)


FUNCTIONS: list[Callable[..., Any]] = [mapped, written, grown, unstacked, scattered, matrices, empty]


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_lists_of_strings(tensorflow: TensorFlow, function: Callable[..., Any], size: int | None) -> None:
    path = tensorflow.save(serving, function.__name__, size)
    batches = [TEXTS[:4], TEXTS[4:5], TEXTS] if size is None else [TEXTS[:3], TEXTS[3:6]]
    check(tensorflow, path, [{"x": strings(batch)} for batch in batches], kernel_pack=True)
