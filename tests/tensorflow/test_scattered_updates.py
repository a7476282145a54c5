"""``tf.tensor_scatter_nd_update``: one row, some rows, places that are named twice, infinities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def updated(tf: Any, dtype: str) -> Any:
    module = tf.Module()
    spec = [tf.TensorSpec([None, 3], "float32", name="x"), tf.TensorSpec([None], "int32", name="ids")]

    @tf.function(input_signature=[*spec, tf.TensorSpec([None, 3], "float32", name="rows")], autograph=False)
    def serve(x: Any, ids: Any, rows: Any) -> Any:
        values, new = tf.cast(x, dtype), tf.cast(rows, dtype)
        some = tf.where(x[:, 0] > 1.0)
        results = {
            "rows": tf.tensor_scatter_nd_update(values, ids[:, None], new),
            "row": tf.tensor_scatter_nd_update(values, [[1]], new[:1]),
            "element": tf.tensor_scatter_nd_update(values[0], tf.cast(ids[:1, None] % 3, "int64"), new[0, :1]),
            "elements": tf.tensor_scatter_nd_update(values, tf.stack([ids, ids % 3], 1), new[:, 0]),
            "boxes": tf.tensor_scatter_nd_update(values[None], tf.stack([ids * 0, ids], 1)[None], new[None]),
            "few": tf.tensor_scatter_nd_update(values, some, tf.gather_nd(values, some) + 1),
        }
        if dtype == "float32":
            results["infinite"] = tf.tensor_scatter_nd_update(tf.fill(tf.shape(x), -np.inf), ids[:, None], rows)
        return {name: tf.cast(value, "float32") for name, value in results.items()}

    module.serve = serve
    return module


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64", "int8"])
def test_last_update_of_a_place_counts(tensorflow: TensorFlow, dtype: str) -> None:
    """As in TensorFlow's kernel; that of some places is replaced no other way than by itself, infinities included."""
    random = np.random.default_rng(6)
    inputs = [
        {
            "x": random.integers(-9, peak, (batch, 3)).astype(np.float32),
            "ids": random.integers(0, batch, number).astype(np.int32),
            "rows": random.integers(-9, 9, (number, 3)).astype(np.float32),
        }
        for batch, number, peak in ((3, 4, 9), (5, 9, 1), (2, 2, 9))  # where none is above 1, few are none
    ]
    check(tensorflow, tensorflow.save(updated, dtype), inputs)


def one_updated(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="at")])
    def serve(x: Any, at: Any) -> Any:
        return tf.tensor_scatter_nd_update(x, [[at]], [2.5])

    module.serve = serve
    return module


def test_one_row_is_replaced_by_one_op(tensorflow: TensorFlow) -> None:
    inputs = [{**each, "at": np.array(at, np.int32)} for each, at in zip(normal({"x": (4,)}), (0, 3, 1), strict=True)]
    result = check(tensorflow, tensorflow.save(one_updated), inputs)
    counts = op_counts(result.model_bytes)
    assert counts["DYNAMIC_UPDATE_SLICE"] == 1
    assert not {"GATHER", "SCATTER_ND", "UNSORTED_SEGMENT_MAX"} & counts.keys()


def at_constants(tf: Any, size: int) -> Any:
    """Places that are constants, some of them named twice."""
    module = tf.Module()
    twice = [[3], [size - 1], [3], [0]]
    cells = [[3, 1], [size - 1, 2], [3, 1], [0, 0]]

    @tf.function(input_signature=[tf.TensorSpec([size, 4], name="x"), tf.TensorSpec([4, 4], name="new")])
    def serve(x: Any, new: Any) -> Any:
        infinite = x / tf.zeros_like(x[:, :1])
        return {
            "rows": tf.tensor_scatter_nd_update(x, twice, new),
            "elements": tf.tensor_scatter_nd_update(infinite, cells, new[:, 0]),
            "none": tf.tensor_scatter_nd_update(x[:, 0], tf.zeros([0, 1], tf.int32), new[0, :0]),
        }

    module.serve = serve
    return module


@pytest.mark.parametrize("size", [8, 2000])
def test_places_that_are_constants(tensorflow: TensorFlow, size: int) -> None:
    inputs = normal({"x": (size, 4), "new": (4, 4)})
    result = check(tensorflow, tensorflow.save(at_constants, size), inputs)
    assert result.report.size < 4 * size + 12_000  # a number for each row, none for each element


def updated_strings(tf: Any, constants: bool) -> Any:
    module = tf.Module()
    texts = tf.constant([["a", "bc", ""], ["déf", "g", "\x00h"]])

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 3], tf.string, name="x"),
            tf.TensorSpec([None], tf.int32, name="ids"),
            tf.TensorSpec([None, 3], tf.string, name="rows"),
        ]
    )
    def serve(x: Any, ids: Any, rows: Any) -> Any:
        tensor, updates = (texts, texts[:1]) if constants else (x, rows)
        return {
            "rows": tf.tensor_scatter_nd_update(tensor, ids[:, None], rows),
            "row": tf.tensor_scatter_nd_update(tensor, [[1]], updates[:1]),
            "first": tf.tensor_scatter_nd_update(tensor, [[0, 2], [1, 1], [0, 2]], ["p", "q", "r"]),
            "elements": tf.tensor_scatter_nd_update(tensor[0], tf.cast(ids[:, None], tf.int64), rows[:, 0]),
            "constant": tf.tensor_scatter_nd_update(texts[0], [[2], [0]], ["x", "y"]),
        }

    module.serve = serve
    return module


@pytest.mark.parametrize("constants", [False, True])
def test_strings(tensorflow: TensorFlow, constants: bool) -> None:
    texts = np.array([b"a", b"", b"bcd", "\u00e9".encode(), b"\x00f", b"g"], object)
    rows = [
        {"x": texts.reshape(2, 3), "ids": np.array(ids, np.int32), "rows": texts[:count].reshape(-1, 3)}
        for ids, count in (([1], 3), ([0, 1], 6), ([1, 1], 6))
    ]
    path = tensorflow.save(updated_strings, constants)
    result = check(tensorflow, path, rows, kernel_pack=True)
    assert set(result.report.custom_ops) <= {"ConcatV2"}
