# pyright: reportUnknownLambdaType=false
"""``tf.map_fn`` over the rows of ragged tensors, and functions that make such rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError
from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def mapped(tf: Any, kind: str, splits_dtype: str, inner: tuple[int, ...]) -> Any:
    """Maps a ragged tensor of ``values`` and ``splits``."""

    def ragged(values: Any, splits: Any) -> Any:
        return tf.RaggedTensor.from_row_splits(values, splits, validate=False)

    def parts(result: Any) -> dict[str, Any]:
        return {"values": result.flat_values, "splits": result.row_splits}

    rows = tf.RaggedTensorSpec([None, *inner], tf.float32, ragged_rank=0, row_splits_dtype=splits_dtype)
    kinds: dict[str, Any] = {
        "rows": lambda v, s: parts(tf.map_fn(lambda row: row + row * row, ragged(v, s))),
        "sums": lambda v, s: {"y": tf.map_fn(tf.reduce_sum, ragged(v, s), fn_output_signature=tf.float32)},
        "halves": lambda v, s: parts(
            tf.map_fn(lambda row: row[: tf.shape(row)[0] // 2], ragged(v, s), fn_output_signature=rows)
        ),
        "counts": lambda v, s: parts(
            tf.map_fn(lambda n: tf.ones([n, *inner]) * tf.cast(n, tf.float32), s[1:], fn_output_signature=rows)
        ),
        "twice": lambda v, s: {
            **parts(tf.map_fn(lambda row: row * 2, ragged(v, s))),
            "longest": tf.map_fn(lambda row: tf.reduce_max(row, 0), ragged(v, s), fn_output_signature=tf.float32),
        },
        "pairs": lambda v, s: parts(
            tf.map_fn(lambda pair: pair[0] * pair[1], (ragged(v, s), v[: tf.shape(s)[0] - 1]), fn_output_signature=rows)
        ),
    }
    module = tf.Module()
    specs = [
        tf.TensorSpec([None, *inner], tf.float32, name="values"),
        tf.TensorSpec([None], splits_dtype, name="splits"),
    ]
    module.serve = tf.function(kinds[kind], input_signature=specs)
    return module, {"serving_default": module.serve}


def inputs(splits_dtype: str, inner: tuple[int, ...]) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    return [
        {
            "values": random.normal(size=(splits[-1], *inner)).astype(np.float32),
            "splits": np.array(splits, splits_dtype),
        }
        for splits in ([0, 3, 4, 6, 10], [0, 2, 3], [0, 2, 2, 7, 7, 9], [0, 5])
    ]


@pytest.mark.parametrize(
    ("kind", "splits_dtype", "inner"),
    [
        ("rows", "int64", ()),
        ("rows", "int32", (3, 2)),
        ("sums", "int64", (2,)),
        ("halves", "int32", ()),
        ("counts", "int32", (2,)),
        ("twice", "int64", ()),
        ("pairs", "int64", (2,)),
    ],
)
def test_rows(tensorflow: TensorFlow, kind: str, splits_dtype: str, inner: tuple[int, ...]) -> None:
    given = inputs(splits_dtype, inner)
    if kind == "twice":  # of no numbers, the largest is the smallest float32 in one and infinite in the other
        given = [each for each in given if np.all(np.diff(each["splits"]))]
    check(tensorflow, tensorflow.save(mapped, kind, splits_dtype, inner), given)


def nested(tf: Any) -> Any:
    def serve(values: Any) -> Any:
        whole = tf.RaggedTensor.from_nested_row_splits(values, [[0, 1, 3], [0, 2, 2, 4]])
        return tf.map_fn(lambda rows: tf.reduce_sum(rows.flat_values), whole, fn_output_signature=tf.float32)

    module = tf.Module()
    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([4], tf.float32)])
    return module, {"serving_default": module.serve}


def test_rows_that_are_ragged_are_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(ConversionError, match="RaggedTensorToVariant") as caught:
        litefuse.convert(tensorflow.save(nested))
    assert "LiteRT has no ragged tensors" in caught.value.hint
    assert "TensorArray" not in caught.value.hint
