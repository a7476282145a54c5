"""Slices, gathers and scatters in the forms that neither LiteRT nor the engine takes as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, check_calls, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def slices_at(tf: Any) -> Any:
    """Slices whose positions are inputs, beside new axes and ellipses."""
    new = tf.newaxis
    slicings: dict[str, Callable[[Any, Any], Any]] = {
        "behind": lambda x, t: x[:, t, :, new],
        "from_the_end": lambda x, t: x[:, -t, new, ...],
        "around": lambda x, t: x[new, ..., new, t:, 0],
        "steps": lambda x, t: x[..., :: t + 1, :, new],
        "of_six": lambda x, t: tf.reshape(x, (1, -1, 5, 1, 2, 1))[..., new, :, t, :, ::-1, :],
    }
    module = tf.Module()
    specs = [tf.TensorSpec((None, 5, 2), tf.float32, name="x"), tf.TensorSpec((), tf.int32, name="t")]

    def sliced(slicing: Callable[[Any, Any], Any]) -> Any:
        def serve(x: Any, t: Any) -> Any:
            return {"y": slicing(x, t)}

        return tf.function(serve, input_signature=specs)

    functions = {name: sliced(slicing) for name, slicing in slicings.items()}
    module.functions = functions
    return module, {name: function.get_concrete_function() for name, function in functions.items()}


def test_slices_at_computed_positions_beside_new_axes(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(slices_at)
    x = np.arange(30, dtype=np.float32).reshape(3, 5, 2)
    calls: list[tuple[str, dict[str, npt.NDArray[Any]]]] = [
        (name, {"x": rows, "t": np.asarray(t, np.int32)})
        for name in ("behind", "from_the_end", "around", "steps", "of_six")
        for rows, t in ((x, 1), (x[:1], 3), (x, 2), (x[:1], 3))
    ]
    check_calls(tensorflow, path, calls, rtol=0.0)


def empty_slices(tf: Any, rows: int | None, columns: int | None, dtype: str) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([rows, columns, 4], dtype, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        nothing = {
            "first": (x[:0], 0),
            "second": (x[:, :0], 1),
            "last": (x[..., :0], 2),
            "turned": (x[:, 2:2:-1], 1),
            "of one": (x[0, :, :0], 1),
            "new": (x[:, tf.newaxis, :, :0], 3),
            "slice": (tf.slice(x, [0, 0, 0], [1, 2, 0]), 2),
            "below": (x[2:1], 0),
        }
        return {
            **{name: tf.reduce_sum(value, axis) for name, (value, axis) in nothing.items()},
            "joined": tf.concat([x[:, :0], x], 1),
            "joined last": tf.concat([x, x[..., :0]], -1),
        }

    module.serve = serve
    return module


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("sizes", [(3, 5), (None, 5), (3, None), (None, None)])
def test_slices_of_nothing(tensorflow: TensorFlow, sizes: tuple[int | None, int | None], dtype: str) -> None:
    random = np.random.default_rng(3)
    shapes = [[known or open_size for known, open_size in zip(sizes, each, strict=True)] for each in ((3, 5), (4, 2))]
    inputs = [{"x": random.normal(0, 9, (*shape, 4)).astype(dtype)} for shape in shapes]
    check(tensorflow, tensorflow.save(empty_slices, *sizes, dtype), inputs)


def scattered(tf: Any, dtype: str) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], "float32", name="x")], autograph=False)
    def serve(x: Any) -> Any:
        values = tf.complex(x, x * 2.0 - 1.0) if dtype == "complex64" else tf.cast(x * 4.0, dtype)
        places = tf.constant([[1], [1], [4]])
        summed = tf.scatter_nd(places, values[:3], [6, 3])
        if dtype == "complex64":
            return {"real": tf.math.real(summed), "imaginary": tf.math.imag(summed)}
        added = tf.tensor_scatter_nd_add(values[:2], [[0], [0], [1]], values[:3])
        return {"summed": tf.cast(summed, "float32"), "added": tf.cast(added, "float32")}

    module.serve = serve
    return module


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int16", "int8"])
def test_what_falls_on_one_place_is_added(tensorflow: TensorFlow, dtype: str) -> None:
    random = np.random.default_rng(5)
    inputs = [{"x": (random.integers(-12, 12, (batch, 3)) / 4).astype(np.float32)} for batch in (3, 5)]
    check(tensorflow, tensorflow.save(scattered, dtype), inputs)


def few_forms(tf: Any) -> Any:
    """Forms of ops that the engine, or what checks the module, took for others."""
    module = tf.Module()
    signature = [
        tf.TensorSpec([None, 4, 4], tf.float32, name="x"),
        tf.TensorSpec([None, 4, 2], tf.int32, name="i"),
        tf.TensorSpec([2], tf.int64, name="begin"),
    ]

    @tf.function(input_signature=signature, autograph=False)
    def serve(x: Any, i: Any, begin: Any) -> Any:
        return {
            "batch from the last": tf.gather(x, i, batch_dims=-1),
            "two before the last": tf.gather(x, i, axis=1, batch_dims=-2),
            "at": tf.slice(x[0], begin, tf.constant([1, 2], tf.int64)),
            "ones": tf.math.real(tf.ones_like(tf.complex(x, x))),
            "band": tf.cast(tf.linalg.band_part(tf.cast(tf.abs(x) * 9.0, tf.uint32), 1, 0), tf.int64),
        }

    module.serve = serve
    return module


def test_forms_of_gathers_slices_and_bands(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(6)
    inputs = [
        {
            "x": random.normal(size=(batch, 4, 4)).astype(np.float32),
            "i": random.integers(0, 4, (batch, 4, 2)).astype(np.int32),
            "begin": np.array([2, 1]),
        }
        for batch in (3, 1, 2)
    ]
    check(tensorflow, tensorflow.save(few_forms), inputs)


def slices_within(tf: Any) -> Any:
    """Slices as XLA takes them: from a place where they fit."""
    from tensorflow.compiler.tf2xla.python import xla

    module = tf.Module()
    specs = [tf.TensorSpec([None, 4], tf.float32, name="x"), tf.TensorSpec([2], tf.int32, name="begin")]

    @tf.function(input_signature=specs)
    def serve(x: Any, begin: Any) -> Any:
        return {
            "y": xla.dynamic_slice(x, begin, [2, 3]),
            "rows": xla.dynamic_slice(x, begin, [1, 4]),
            "whole": xla.dynamic_slice(x, begin, tf.shape(x)),
            "flags": xla.dynamic_slice(x > 1, tf.cast(begin, tf.int64), tf.constant([2, 1], tf.int64)),
        }

    module.serve = serve
    return module, {"serving_default": serve}


def test_slices_that_stay_within_the_tensor(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(slices_within)
    calls = [
        {"x": np.arange(rows * 4, dtype=np.float32).reshape(rows, 4), "begin": np.array(begin, np.int32)}
        for rows, begin in ((5, [1, 1]), (2, [0, 0]), (3, [0, 1]))
    ]
    check(tensorflow, path, calls, rtol=0.0)


def slices_of_stacks(tf: Any) -> Any:
    """Slices that take one of a stack, and do more or do not."""
    module, new = tf.Module(), tf.newaxis
    specs = [tf.TensorSpec([None, 4, 3], tf.float32, name=name) for name in "ab"]

    @tf.function(input_signature=specs, autograph=False)
    def serve(a: Any, b: Any) -> Any:
        inner = [tf.stack([a, b], 1), tf.stack([b, a], 1)]
        nested, last = tf.stack(inner, 1), tf.stack([a, b], -1)
        return {
            "nested": nested[:, 1, ...][:, 0, ...] + 1.0,
            "first": tf.stack([a, b])[-1] * 2.0,
            "from the end": last[..., -1] - 3.0,
            "and more": nested[:, 0, :, 3:0:-2, new, 1] * 4.0,
            "of the batch": inner[1][1:, 1] + 5.0,
            "new axis": last[..., new, 0] * 6.0,
            "several": last[..., :1] + 7.0,
        }

    module.serve = serve
    return module


def test_slices_of_stacks(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(7)
    calls = [{name: random.normal(size=(batch, 4, 3)).astype(np.float32) for name in "ab"} for batch in (1, 3, 2)]
    result = check(tensorflow, tensorflow.save(slices_of_stacks), calls)
    # Two stacks are left, of which both values are taken or a slice that keeps the axis; and slices that do more.
    counts = op_counts(result.model_bytes)
    assert counts["PACK"] == 2
    assert counts["STRIDED_SLICE"] <= 4
