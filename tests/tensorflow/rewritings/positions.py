"""Slices, and other ops with positions, sizes and axes of int32 and int64: beyond the dimensions, and beyond int32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.tensorflow.rewritings.form import Form, Maker, Named

_LOW, _HIGH = -(2**63), 2**63 - 1
_SLICES = {
    "int32": (
        *((2, 100, 1), (-100, 2, 1), (1, 2**31 - 1, 1), (-(2**31), 2**31 - 1, 3), (5, 100, 1), (2, 1, 1)),
        *((-1, -100, -1), (100, -(2**31), -2), (2**31 - 1, -(2**31), -(2**31)), (0, 9, 2**31 - 1), (1, -1, 1)),
    ),
    "int64": (
        *((2, _HIGH, 1), (_LOW, 2, 1), (_LOW, _HIGH, 1), (_HIGH, _LOW, -1), (-1, _LOW, -1), (0, _HIGH, _HIGH)),
        *((0, 2**32 + 2, 1), (2**32, 2**33, 1), (-(2**32) - 1, 2**32 + 1, 2), (2**32 + 1, -(2**32) - 1, -1)),
        *((1, _HIGH, 2**32 + 1), (_HIGH, 0, _LOW), (3, 1, 1)),
    ),
}


def _slice(kind: str, begin: int, end: int, stride: int, masks: dict[str, int]) -> Form:
    def form(m: Maker, x: Any, _: Any) -> Any:
        value = m.tf.reshape(x, [12])
        ends = [m.tf.constant([number], kind) for number in (begin, end, stride)]
        taken = m.tf.raw_ops.StridedSlice(input=value, begin=ends[0], end=ends[1], strides=ends[2], **masks)
        return m.tf.concat([taken, value[:1]], 0)  # the stock interpreter gives no result without elements

    return form


def _box(kind: str) -> Form:
    """Two dimensions, one new axis, and an ellipsis."""

    def form(m: Maker, x: Any, _: Any) -> Any:
        high = np.iinfo(kind).max
        operands = [
            m.tf.constant(numbers, kind) for numbers in ([1, high, high, -high], [high, 5, 5, high], [1, high, 1, 3])
        ]
        taken = m.tf.raw_ops.StridedSlice(
            input=m.tf.reshape(x, [3, 2, 2]),
            **dict(zip(("begin", "end", "strides"), operands, strict=True)),
            new_axis_mask=2,
            ellipsis_mask=4,
        )
        return m.tf.concat([m.tf.reshape(taken, [-1]), x[0]], 0)

    return form


def _positions() -> Iterator[Named]:
    for kind, slices in _SLICES.items():
        for numbers in slices:
            masks = {"begin_mask": 0, "end_mask": 0}
            yield f"{kind} {numbers}", ("float32", "int8"), _slice(kind, *numbers, masks)
        yield f"{kind}, to the masked end", ("float32",), _slice(kind, np.iinfo(kind).min, 3, 1, {"begin_mask": 1})
        yield f"{kind}, from the masked begin", ("float32",), _slice(kind, 3, np.iinfo(kind).min, 1, {"end_mask": 1})
        yield f"{kind}, with other axes", ("float32",), _box(kind)
    long = "int64"
    yield (
        "slice",
        ("float32",),
        lambda m, x, _: m.tf.slice(x, m.tf.constant([1, 0], long), m.tf.constant([-1, 2], long)),
    )
    yield "reshape", ("float32",), lambda m, x, _: m.tf.reshape(x, m.tf.constant([2, -1], long))
    yield (
        "range",
        ("float32",),
        lambda m, x, _: m.tf.cast(m.tf.range(2**40, 2**40 + 3, dtype=long) - 2**40, x.dtype) + x[:, 0],
    )
    yield "pad", ("float32",), lambda m, x, _: m.tf.pad(x, m.tf.constant([[1, 0], [0, 2]], long))
    yield "tile", ("float32",), lambda m, x, _: m.tf.tile(x, m.tf.constant([2, 1], long))
    yield "fill", ("float32",), lambda m, x, _: m.tf.raw_ops.Fill(dims=m.tf.constant([3, 4], long), value=x[0, 0])
    yield "broadcast", ("float32",), lambda m, x, _: m.tf.broadcast_to(x[:1], m.tf.constant([2, 3, 4], long))
    yield "transpose", ("float32",), lambda m, x, _: m.tf.transpose(x, m.tf.constant([1, 0], long))
    yield "reverse", ("float32",), lambda m, x, _: m.tf.reverse(x, m.tf.constant([-1], long))
    yield (
        "roll",
        ("float32",),
        lambda m, x, _: m.tf.roll(x, m.tf.constant([5, -6], long), m.tf.constant([0, 1], long)),
    )
    yield "reverse both", ("float32",), lambda m, x, _: m.tf.reverse(x, m.tf.constant([-1, 0], long))
    yield "sum of both", ("float32",), lambda m, x, _: m.tf.reduce_sum(x, m.tf.constant([1, 0], long), keepdims=True)
    yield "pad both", ("float32",), lambda m, x, _: m.tf.pad(x, m.tf.constant([[1, 2], [3, 0]], long), "CONSTANT", 2)
    yield "mirrored", ("float32",), lambda m, x, _: m.tf.pad(x, m.tf.constant([[1, 1], [2, 0]], long), "REFLECT")
    yield "sum", ("float32",), lambda m, x, _: m.tf.reduce_sum(x, m.tf.constant([-1], long))
    yield "running sum", ("float32",), lambda m, x, _: m.tf.cumsum(x, m.tf.constant(1, long))
    yield "concat", ("float32",), lambda m, x, y: m.tf.raw_ops.ConcatV2(values=[x, y], axis=m.tf.constant(-1, long))
    yield "split", ("float32",), lambda m, x, _: m.tf.split(x, m.tf.constant([1, 3], long), 1)[1]
    yield (
        "gather",
        ("float32",),
        lambda m, x, _: m.tf.gather(x, m.tf.constant([2, 0], long), axis=m.tf.constant(1, long)),
    )
    yield "gather nd", ("float32",), lambda m, x, _: m.tf.gather_nd(x, m.tf.constant([[2, 0]], long))
    yield (
        "scatter",
        ("float32",),
        lambda m, x, _: m.tf.scatter_nd(m.tf.constant([[4], [0], [1]], long), x, m.tf.constant([5, 4], long)),
    )
    yield (
        "segments",
        ("float32",),
        lambda m, x, _: m.tf.math.unsorted_segment_sum(x, m.tf.constant([1, 0, 1], long), m.tf.constant(2, long)),
    )
    yield "one hot", ("float32",), lambda m, x, _: m.tf.one_hot(m.tf.cast(x[:, 0] * 0 + 2, long), 4)
    yield "expand", ("float32",), lambda m, x, _: m.tf.expand_dims(x, m.tf.constant(-1, long))
    yield "argmax", ("float32",), lambda m, x, _: m.tf.raw_ops.ArgMax(input=x, dimension=m.tf.constant(1, long))
    yield (
        "top",
        ("float32",),
        lambda m, x, _: m.tf.raw_ops.TopKV2(input=x, k=m.tf.constant(2, long), index_type=long)[0],
    )
    yield (
        "update",
        ("float32",),
        lambda m, x, y: m.tf.raw_ops.TensorStridedSliceUpdate(
            input=x,
            begin=m.tf.constant([1], long),
            end=m.tf.constant([_HIGH], long),
            strides=m.tf.constant([1], long),
            value=y[1:],
        ),
    )


POSITIONS = list(_positions())
