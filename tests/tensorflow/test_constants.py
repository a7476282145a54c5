"""Constants that a model computes with: infinities, strings, axes counted from the last, factors that are zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts
from tests.tensorflow.process import TensorFlow

VALUES = np.array([0.0, 2.0, -0.0, 1.0], np.float32)
ENDS = np.array([np.inf, 2.0, -np.inf, np.nan], np.float32)


def computed(tf: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """One signature that computes with ``x``, an open batch of four numbers."""
    module = tf.Module()
    specification = tf.TensorSpec([None, 4], tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": function(tf, x, *arguments)}

    module.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return module, {"serving_default": module.serve}


def rows(*batches: int) -> list[Mapping[str, Any]]:
    """Small whole numbers, zero among them."""
    return [{"x": (np.arange(4.0 * batch) - 2).reshape(batch, 4).astype(np.float32)} for batch in batches]


def plus_infinities(_: Any, x: Any) -> Any:
    return x + ENDS


def computed_infinities(tf: Any, x: Any) -> Any:
    return x + tf.math.log(tf.constant(VALUES)) + tf.math.rsqrt(tf.abs(tf.constant(VALUES)))


def masked(tf: Any, x: Any) -> Any:
    return tf.where(x > 0, x, -np.inf)


def over_zero(_: Any, x: Any) -> Any:
    return x / VALUES


@pytest.mark.parametrize("function", [plus_infinities, computed_infinities, masked, over_zero])
def test_infinite_constants_stay_infinite(tensorflow: TensorFlow, function: Any) -> None:
    check(tensorflow, tensorflow.save(computed, function), rows(1, 3, 2))


def pairs(tf: Any, x: Any, count: int, what: str) -> Any:
    """The products of different numbers, each pair once, as recommenders take them."""
    many = tf.concat([x] * (count // 4), 1)
    if what == "a constant":
        mask = tf.constant(np.tri(count, k=-1, dtype=bool))
    else:
        mask = tf.linalg.band_part(tf.ones([count, count], tf.int32), -1, 0) > tf.eye(count, dtype=tf.int32)
    return tf.boolean_mask(many[:, :, tf.newaxis] * many[:, tf.newaxis], mask, axis=1)


@pytest.mark.parametrize(("count", "what"), [(28, "a constant"), (8, "computed"), (4, "a constant")])
def test_places_of_constants_are_known(tensorflow: TensorFlow, count: int, what: str) -> None:
    result = check(tensorflow, tensorflow.save(computed, pairs, count, what), rows(1, 3, 2))
    counts = op_counts(result.model_bytes)
    assert "WHERE" not in counts
    assert counts["GATHER"] == 1


def places_handed_on(tf: Any, x: Any) -> Any:
    mask = np.tri(30, k=-1, dtype=bool).reshape(-1)
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.where(mask), lambda: tf.where(x > 0)[:, :1])
    nowhere = tf.gather(x, tf.where(tf.zeros_like(mask))[:, 0], axis=1)
    products = tf.tile(tf.matmul(x, x, transpose_a=True), [8, 8])
    pairs = tf.cast(tf.gather_nd(products, tf.where(mask.reshape(30, 30))), tf.int64)
    return tf.concat([tf.where(mask), chosen, tf.cast(tf.shape(nowhere)[:1, tf.newaxis], tf.int64), pairs[:, None]], 0)


def test_places_of_constants_that_are_handed_on(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(computed, places_handed_on), rows(1, 3, 2))


def doubles(tf: Any, x: Any) -> Any:
    half, rates = tf.constant(0.5, tf.float64), tf.constant([1.0, 2.0, 3.0, 4.0], tf.float64)
    scale = tf.math.log(half) + tf.exp(-half) * tf.sin(half) / tf.math.log1p(half)
    return x * tf.cast(scale, tf.float32) + tf.cast(tf.tanh(tf.pow(rates, -half)) - tf.math.expm1(half), tf.float32)


def connected(tf: Any, x: Any) -> Any:
    """The loss of TensorFlow's own formula, in which a number is a logarithm of float64."""
    logits = tf.stack([x, x * 2.0, x - 1.0, tf.sin(x), x * x], -1)
    count = tf.shape(x)[0]
    labels = tf.tile([[1, 2]], [count, 1])
    lengths = (tf.fill([count], 2), tf.fill([count], 4))
    return tf.nn.ctc_loss(labels, logits, *lengths, logits_time_major=False, blank_index=0)


@pytest.mark.parametrize("function", [doubles, connected])
def test_float64_of_constants_alone(tensorflow: TensorFlow, function: Any) -> None:
    check(tensorflow, tensorflow.save(computed, function), rows(1, 3, 2))


def moved(tf: Any, x: Any, op: str, axes: list[int], keep: bool) -> Any:
    constant = tf.square(tf.constant(np.arange(24.0).reshape(2, 3, 4) - 7, tf.float32))
    if op == "Sum":
        result = tf.raw_ops.Sum(input=constant, axis=axes, keep_dims=keep)
    elif op == "ReverseV2":
        result = tf.raw_ops.ReverseV2(tensor=constant, axis=axes)
    else:
        result = tf.raw_ops.Transpose(x=constant, perm=axes)
    return tf.concat([tf.reshape(result, [-1]), tf.reshape(x, [-1])], 0)


@pytest.mark.parametrize(
    ("op", "axes", "keep"),
    [
        *(("Sum", axes, keep) for axes in ([-1], [-2, 0], [-1, 1], [-3, -2, -1]) for keep in (False, True)),
        *(("ReverseV2", axes, False) for axes in ([-1], [-2, 0])),
        *(("Transpose", axes, False) for axes in ([-1, -3, -2], [-3, -2, -1], [0, -1, 1])),
    ],
)
def test_axes_counted_from_the_last(tensorflow: TensorFlow, op: str, axes: list[int], keep: bool) -> None:
    check(tensorflow, tensorflow.save(computed, moved, op, axes, keep), rows(1, 2))


def with_zero(tf: Any, x: Any, name: str, value: float, position: int) -> Any:
    constant = tf.constant(value)
    return getattr(tf.raw_ops, name)(**dict(zip("xy", (x, constant)[:: 1 - 2 * position], strict=True)))


@pytest.mark.parametrize("name", ["DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy"])
@pytest.mark.parametrize("value", [0.0, 1.5])
@pytest.mark.parametrize("position", [0, 1])
def test_quotients_where_zero_wins(tensorflow: TensorFlow, name: str, value: float, position: int) -> None:
    path = tensorflow.save(computed, with_zero, name, value, position)
    check(tensorflow, path, [{"x": np.abs(each["x"])} for each in rows(1, 3)])


LABELS = [b"a", b'b"\\', b"\xe4\x00c", b""]


def labels(tf: Any, x: Any, form: str) -> Any:
    flat, square = tf.constant(LABELS), tf.reshape(tf.constant(LABELS), [2, 2])
    chosen = tf.cast(x[:, 1] > 0, tf.int32)
    batch = tf.shape(x)[0]
    forms: dict[str, Callable[[], Any]] = {
        "broadcast": lambda: tf.broadcast_to(tf.reshape(flat, [1, 2, 2]), [batch, 2, 2]),
        "column": lambda: square[:, 1],
        "expanded": lambda: tf.identity(flat)[tf.newaxis],
        "first": lambda: tf.fill([batch], flat[0]),
        "gathered": lambda: tf.gather(square, chosen),
        "gathered constants": lambda: tf.gather(square, [1, 0, 1]),
        "joined": lambda: tf.concat([square, tf.transpose(square)], 1),
        "packed": lambda: tf.gather(tf.stack([flat[0]]), tf.zeros([batch], tf.int32)),
        "reversed": lambda: tf.reverse(square, [-1]),
        "sequences": lambda: tf.reverse_sequence(square, [1, 2], 1),
        "sliced": lambda: tf.slice(square, [0, chosen[0]], [1, 1]),
        "split": lambda: tf.split(square, [1, 1], -1)[1],
        "squeezed": lambda: tf.squeeze(tf.reshape(flat, [1, 4, 1])),
        "stepped": lambda: square[::-1, ..., -1],
        "tiled": lambda: tf.tile(tf.expand_dims(flat, 0), [batch, 1]),
        "unstacked": lambda: tf.unstack(square, axis=1)[0],
    }
    return forms[form]()


@pytest.mark.parametrize(
    "form",
    [
        *("broadcast", "column", "expanded", "first", "gathered", "gathered constants", "joined", "packed"),
        *("reversed", "sequences", "sliced", "split", "squeezed", "stepped", "tiled", "unstacked"),
    ],
)
def test_strings_are_moved(tensorflow: TensorFlow, form: str) -> None:
    """As in a classifier that gives its labels with each row."""
    check(tensorflow, tensorflow.save(computed, labels, form), rows(1, 3))


def frequencies(tf: Any, x: Any) -> Any:
    """Two filters of frequencies, and a window in each step of a loop."""
    mel = tf.signal.linear_to_mel_weight_matrix(6, 9, 16000, 20.0, 8000.0)
    turns = tf.cast(tf.range(9), tf.float32)[:, None] * tf.exp(tf.cast(tf.range(4), tf.float32) * -0.5)
    spectrum = tf.sin(x @ tf.transpose(turns))

    def goes_on(count: Any, _: Any) -> Any:
        return count < 3

    def step(count: Any, total: Any) -> Any:
        window = tf.signal.hann_window(9) * tf.cast(tf.range(9) > 2, tf.float32)
        return count + 1, total * 0.5 + window

    _, total = tf.while_loop(goes_on, step, (0, spectrum))
    return tf.math.log(tf.abs(total @ mel) + 0.1)


def test_what_is_computed_of_constants_is_in_the_file(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(computed, frequencies), rows(1, 3, 2))
    assert set(result.report.op_counts) <= {"FULLY_CONNECTED", "SIN", "WHILE", "ADD", "MUL", "LESS", "ABS", "LOG"}


def updates(tf: Any, x: Any) -> Any:
    """Rows, elements and every second row of a matrix replaced, and half of it zeros."""
    square = tf.matmul(x, x, transpose_a=True)
    matrix = tf.ensure_shape(tf.tile(square, [32, 16]), [128, 64])
    some = tf.tensor_scatter_nd_update(matrix, [[1], [3]], tf.reshape(tf.range(128.0), [2, 64]))
    elements = tf.tensor_scatter_nd_update(some, [[1, 2], [127, 60]], [9.0, 8.0])
    every = tf.tensor_scatter_nd_update(elements, tf.range(0, 128, 2)[:, None], tf.tile(square[:2], [32, 16]))
    return tf.stack([some, elements, every * (1.0 - tf.linalg.band_part(tf.ones([128, 64]), -1, 0))])


def test_constants_are_no_larger_than_what_they_say(tensorflow: TensorFlow) -> None:
    """A mask of what is updated would be 33 kB each, and so would be what the band is made of."""
    result = check(tensorflow, tensorflow.save(computed, updates), rows(1, 3, 2))
    assert len(result.model_bytes) < 4 * 128 * 64 + 15_000  # the band, and all the rest


def identities(tf: Any, x: Any) -> Any:
    """Products and sums with the identity, and rows of it, of 100 by 100."""
    wide = tf.tile(x, [1, 25])
    rows = tf.gather(tf.eye(100), tf.cast(tf.abs(x[:, 0]) * 5.0, tf.int32))
    return wide @ (tf.reverse(tf.eye(100), [1]) * 2.0) + rows + wide @ tf.one_hot(tf.range(100), 100, 0.5, 0.25)


def test_identities_are_in_the_file(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(computed, identities), rows(1, 3, 2))
    assert not {"MATRIX_DIAG", "ONE_HOT", "REVERSE_V2"} & set(result.report.op_counts)
