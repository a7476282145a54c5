"""Casts, reductions, slices, products and what else the engine merges with its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests.tensorflow.rewritings.form import DTYPES, FLOATS, INTEGERS, NUMBERS, Form, Maker, Named


def _positive(m: Maker, x: Any) -> Any:
    return m.tf.abs(x) if m.dtype in FLOATS or m.dtype.startswith("i") else x


def _restacked(m: Maker, vector: Any) -> Any:
    return m.tf.stack([vector[0], vector[1], vector[2]])


def _first_two(m: Maker, values: Any, places: Any) -> Any:
    return m.tf.cast(values[:, :2], m.tf.float32) + m.tf.cast(places[:, :3][:, :2], m.tf.float32)


def _within(m: Maker, x: Any, other: str) -> Any:
    """What a cast of is defined: floats below 0 have no unsigned integer."""
    return m.tf.abs(x) if m.dtype in FLOATS and other.startswith("u") else x


def _casts() -> Iterator[Named]:
    for other in DTYPES:
        yield f"to {other}", DTYPES, lambda m, x, _, other=other: m.tf.cast(_within(m, x, other), other)
        # What is beyond the range of an integer is undefined.
        exact = [dtype for dtype in DTYPES if dtype not in INTEGERS or other not in FLOATS]
        yield (
            f"to {other} and back",
            tuple(exact),
            lambda m, x, _, other=other: m.tf.cast(m.tf.cast(_within(m, x, other), other), m.dtype),
        )
        yield (
            f"constant to {other}",
            DTYPES,
            lambda m, x, _, other=other: m.tf.concat(
                [m.tf.cast(_within(m, x, other)[0], other), m.tf.cast(m([0, 1, 100, 77]), other)], 0
            ),
        )
        yield (
            f"gathered from a cast to {other}",
            DTYPES,
            lambda m, x, _, other=other: m.tf.gather(m.tf.cast(_within(m, x, other), other), [2, 0, 0]),
        )
        yield (
            f"joined casts to {other}",
            DTYPES,
            lambda m, x, y, other=other: m.tf.concat([m.tf.cast(_within(m, each, other), other) for each in (x, y)], 1),
        )
        yield (
            f"transposed cast to {other}",
            DTYPES,
            lambda m, x, _, other=other: m.tf.transpose(m.tf.cast(m.tf.transpose(_within(m, x, other)), other)),
        )
    yield (
        "one hot, cast",
        INTEGERS,
        lambda m, x, _: m.tf.cast(m.tf.one_hot(m.tf.cast(x, m.tf.int32), 5, True, False), m.dtype),
    )
    yield "one hot", DTYPES, lambda m, x, _: m.tf.one_hot(m.tf.cast(x, m.tf.int32), 5, m(1), m(0), dtype=m.dtype)
    yield "one hot, others", DTYPES, lambda m, x, _: m.tf.one_hot(m.tf.cast(x, m.tf.int32), 5, m(1), m(1), 0, m.dtype)
    yield (
        "one hot of ints, to float",
        INTEGERS,
        lambda m, x, _: m.tf.cast(m.tf.one_hot(m.tf.cast(x, m.tf.int32), 5, m(3), m(2), dtype=m.dtype), m.tf.float32),
    )


CASTS = list(_casts())

_BITS: Mapping[str, Form] = {
    "and": lambda m, x, y: m.tf.bitwise.bitwise_and(x, y),
    "or": lambda m, x, y: m.tf.bitwise.bitwise_or(x, y),
    "xor": lambda m, x, y: m.tf.bitwise.bitwise_xor(x, y),
    "invert": lambda m, x, _: m.tf.bitwise.invert(x),
    "invert twice": lambda m, x, _: m.tf.bitwise.invert(m.tf.bitwise.invert(x)),
    "and 0": lambda m, x, _: m.tf.bitwise.bitwise_and(x, m(0)),
    "or 0": lambda m, x, _: m.tf.bitwise.bitwise_or(x, m(0)),
    "xor 0": lambda m, x, _: m.tf.bitwise.bitwise_xor(x, m(0)),
    "xor constants": lambda m, x, _: x + m.tf.bitwise.bitwise_xor(m([1, 2, 100, 7]), m([3, 3, 3, 120])),
    "and constants": lambda m, x, _: x + m.tf.bitwise.bitwise_and(m([1, 2, 100, 7]), m([3, 3, 3, 120])),
    "left": lambda m, x, y: m.tf.bitwise.left_shift(x, m(2)),
    "right": lambda m, x, y: m.tf.bitwise.right_shift(x, m(1)),
    "left 0": lambda m, x, y: m.tf.bitwise.left_shift(x, m(0)),
    "left constants": lambda m, x, _: x + m.tf.bitwise.left_shift(m([1, 2, 100, 7]), m([3, 3, 3, 1])),
    "right constants": lambda m, x, _: x + m.tf.bitwise.right_shift(m([1, 2, 100, 7]), m([3, 3, 3, 1])),
}
BITS = [(n, INTEGERS, f) for n, f in _BITS.items()]

_OF_ANY: Mapping[str, Form] = {
    "split and joined": lambda m, x, _: m.tf.concat(m.tf.split(x, 2, 1), 1),
    "split and swapped": lambda m, x, _: m.tf.concat(m.tf.split(x, 2, 1)[::-1], 1),
    "unstacked and joined": lambda m, x, _: m.tf.concat(m.tf.unstack(x), 0),
    "unstacked and stacked": lambda m, x, _: m.tf.stack(m.tf.unstack(x)),
    "unstacked and reversed": lambda m, x, _: m.tf.stack(m.tf.unstack(x)[::-1]),
    "slices, stacked": lambda m, x, _: m.tf.stack([x[0], x[1], x[2]]),
    "slices, stacked at 1": lambda m, x, _: m.tf.stack([x[0], x[1], x[2]], 1),
    "slices of columns, stacked": lambda m, x, _: m.tf.stack([x[:, 0], x[:, 1], x[:, 2], x[:, 3]]),
    "elements of a vector, stacked": lambda m, x, _: _restacked(m, m.tf.reshape(x, [12])[:3]),
    "two of three, stacked": lambda m, x, _: m.tf.stack([x[0], x[1]]),
    "whole slice": lambda m, x, _: m.tf.slice(x, [0, 0], [3, 4]),
    "strided": lambda _m, x, _: x[::2, 1:3],
    "strided backward": lambda _m, x, _: x[::-1, 3:0:-2],
    "slice of a sum": lambda m, x, _: (x + m(1))[1:, :2] if m.dtype != "bool" else x[1:, :2],
    "gathered": lambda m, x, _: m.tf.gather(x, [2, 0, 2, 1]),
    "gathered columns": lambda m, x, _: m.tf.gather(x, [2, 0], axis=1),
    "gathered elements": lambda m, x, _: m.tf.gather_nd(x, [[2, 0], [1, 1]]),
    "gather of all": lambda m, x, _: m.tf.gather(x, [0, 1, 2]),
    "gather nd of all": lambda m, x, _: m.tf.gather_nd(x, [[0], [1], [2]]),
    "gather nd windows": lambda m, x, _: m.tf.gather_nd(x, [[[0], [1]], [[1], [2]]]),
    "gather nd upscaled": lambda m, x, _: m.tf.gather_nd(
        m.tf.reshape(x, [1, 3, 4, 1]), [[[[0, r // 2, c // 2] for c in range(8)] for r in range(6)]]
    ),
    "scatter nd of all": lambda m, x, _: m.tf.scatter_nd([[0], [1], [2]], x, [3, 4]) if m.dtype != "bool" else x,
    "scatter update": lambda m, x, y: m.tf.tensor_scatter_nd_update(x, [[1]], y[:1]),
    "padded": lambda m, x, _: m.tf.pad(x, [[1, 0], [0, 2]]) if m.dtype != "bool" else x,
    "padded twice": lambda m, x, _: (
        m.tf.pad(m.tf.pad(x, [[1, 0], [0, 2]]), [[0, 1], [1, 0]]) if m.dtype != "bool" else x
    ),
    "padded with 3": lambda m, x, _: m.tf.pad(x, [[1, 0], [0, 2]], constant_values=m(3)) if m.dtype != "bool" else x,
    "padded twice with 3": lambda m, x, _: (
        m.tf.pad(m.tf.pad(x, [[1, 0], [0, 2]]), [[0, 1], [1, 0]], constant_values=m(3)) if m.dtype != "bool" else x
    ),
    "padded by nothing": lambda m, x, _: (
        m.tf.pad(x, [[0, 0], [0, 0]], constant_values=m(3)) if m.dtype != "bool" else x
    ),
    "mirrored": lambda m, x, _: m.tf.pad(x, [[1, 0], [0, 2]], "REFLECT") if m.dtype != "bool" else x,
    "tiled": lambda m, x, _: m.tf.tile(x, [2, 3]),
    "tiled once": lambda m, x, _: m.tf.tile(x, [1, 1]),
    "broadcast": lambda m, x, _: m.tf.broadcast_to(x[:1], [2, 3, 4]),
    "transposed twice": lambda m, x, _: m.tf.transpose(m.tf.transpose(x)),
    "transposed, reshaped, transposed": lambda m, x, _: m.tf.transpose(
        m.tf.reshape(m.tf.transpose(x), [2, 2, 3]), [2, 0, 1]
    ),
    "reversed": lambda m, x, _: m.tf.reverse(x, [0]),
    "reversed twice": lambda m, x, _: m.tf.reverse(m.tf.reverse(x, [1]), [1]),
    "rolled": lambda m, x, _: m.tf.roll(x, 1, 1),
    "space to depth": lambda m, x, _: m.tf.nn.space_to_depth(m.tf.reshape(x, [1, 2, 2, 3]), 2),
    "filled": lambda m, x, _: m.tf.concat([m.tf.fill([2, 4], m(1)), x], 0),
    "zeros like": lambda m, x, _: m.tf.concat([m.tf.zeros_like(x), x], 0),
    "ones like": lambda m, x, _: m.tf.concat([m.tf.ones_like(x), x], 0),
    "constants joined": lambda m, x, _: m.tf.concat([m([[1, 0, 1, 1]]), m([[0, 0, 1, 0]]), x], 0),
    "constants stacked": lambda m, x, _: m.tf.concat([m.tf.stack([m([1, 0, 1, 1]), m([0, 0, 1, 0])]), x], 0),
    "constants gathered": lambda m, x, _: m.tf.concat([m.tf.gather(m([[1, 0, 1, 1], [0, 1, 0, 1]]), [1]), x], 0),
    "constants sliced": lambda m, x, _: m.tf.concat([m([[1, 0, 1, 1], [0, 1, 0, 1]])[1:], x], 0),
    "constants reversed": lambda m, x, _: m.tf.concat([m.tf.reverse(m([[1, 0, 1, 1], [0, 1, 0, 1]]), [0, 1]), x], 0),
    "constants transposed": lambda m, x, _: m.tf.concat([m.tf.transpose(m([[1, 0], [1, 1], [0, 1], [0, 1]])), x], 0),
    "constants padded": lambda m, x, _: (
        m.tf.concat([m.tf.pad(m([[1, 0, 1]]), [[1, 1], [1, 0]]), x], 0) if m.dtype != "bool" else x
    ),
    "constants tiled": lambda m, x, _: m.tf.concat([m.tf.tile(m([[1, 0]]), [3, 2]), x], 0),
    "constants selected": lambda m, x, _: m.tf.concat(
        [m.tf.where([True, False, True, True], m([1, 0, 1, 1]), m([0, 0, 1, 0]))[m.tf.newaxis], x], 0
    ),
    "constants selected by one": lambda m, x, _: m.tf.concat(
        [m.tf.where(True, m([1, 0, 1, 1]), m([0, 0, 1, 0]))[m.tf.newaxis], x], 0
    ),
    "where": lambda m, x, _: m.tf.where(m.tf.cast(x, m.tf.bool)),
    "equal": lambda m, x, y: m.tf.equal(x, y),
    "not equal": lambda m, x, y: m.tf.not_equal(x, y),
    "selected by itself": lambda m, x, y: m.tf.where(m.tf.cast(x, m.tf.bool), x, y),
    "first of two": lambda m, x, y: m.tf.stack([x, y])[0],
    "band": lambda m, x, _: m.tf.linalg.band_part(x, 0, -1),
    "diagonal": lambda m, x, _: m.tf.linalg.diag(x[0]),
    "part of the diagonal": lambda m, x, _: m.tf.linalg.diag_part(x),
}
MOVEMENTS = [(n, DTYPES, f) for n, f in _OF_ANY.items()]

_REDUCED: Mapping[str, Form] = {
    **{
        f"{name}, {axes}": lambda m, x, _, name=name, axes=axes: getattr(m.tf, f"reduce_{name}")(x, axes)
        for name in ("sum", "mean", "prod", "max", "min")
        for axes in (0, -1, None, ())
    },
    **{
        f"{name} of one": lambda m, x, _, name=name: getattr(m.tf, f"reduce_{name}")(
            m.tf.reshape(x, [3, 1, 4]), 1, keepdims=True
        )
        for name in ("sum", "mean", "prod", "max", "min")
    },
    **{
        f"{name} of one, dropped": lambda m, x, _, name=name: getattr(m.tf, f"reduce_{name}")(
            m.tf.reshape(x, [3, 1, 4]), 1
        )
        for name in ("sum", "mean", "prod", "max", "min")
    },
    **{
        f"{name}, reshaped": lambda m, x, _, name=name: m.tf.reshape(getattr(m.tf, f"reduce_{name}")(x, 1), [3, 1])
        for name in ("sum", "mean", "prod", "max", "min")
    },
    **{
        f"{name} of transposed": lambda m, x, _, name=name: getattr(m.tf, f"reduce_{name}")(m.tf.transpose(x), 1)
        for name in ("sum", "mean", "prod", "max", "min")
    },
    **{
        f"{name} of {name}": lambda m, x, _, name=name: getattr(m.tf, f"reduce_{name}")(
            getattr(m.tf, f"reduce_{name}")(x, 1), 0
        )
        for name in ("sum", "mean", "prod", "max", "min")
    },
    "sum of squares": lambda m, x, _: m.tf.reduce_sum(m.tf.square(x), 1),
    "mean of squares": lambda m, x, _: m.tf.reduce_mean(m.tf.square(x), 1),
    "running": lambda m, x, _: m.tf.cumsum(x, 1),
    "running, exclusive": lambda m, x, _: m.tf.cumsum(x, 1, exclusive=True),
    "running, reversed": lambda m, x, _: m.tf.cumsum(x, 0, reverse=True),
    "running over one": lambda m, x, _: m.tf.cumsum(m.tf.reshape(x, [3, 1, 4]), 1),
    "running over one, exclusive": lambda m, x, _: m.tf.cumsum(m.tf.reshape(x, [3, 1, 4]), 1, exclusive=True),
    "running product": lambda m, x, _: m.tf.math.cumprod(x, 1),
    "running product over one": lambda m, x, _: m.tf.math.cumprod(m.tf.reshape(x, [3, 1, 4]), 1, exclusive=True),
    "argmax": lambda m, x, _: m.tf.argmax(x, 1),
    "argmin": lambda m, x, _: m.tf.argmin(x, 0, m.tf.int32),
    "argmax of negative": lambda m, x, _: m.tf.argmax(-x, 1),
    "largest": lambda m, x, _: m.tf.math.top_k(x, 3)[0],
    "largest, first": lambda m, x, _: m.tf.math.top_k(x, 4)[0][:, :2],
    "largest indices, first": lambda m, x, _: m.tf.math.top_k(x, 4)[1][:, :2],
    "largest, both sliced": lambda m, x, _: _first_two(m, *m.tf.math.top_k(x, 4)),
    "sorted": lambda m, x, _: m.tf.sort(x, 1),
    "sorted down": lambda m, x, _: m.tf.sort(x, 1, "DESCENDING"),
    "order": lambda m, x, _: m.tf.argsort(x, 1, stable=True),
    "segments, largest": lambda m, x, _: m.tf.math.unsorted_segment_max(x, [0, 2, 2], 4),
    "segments, smallest": lambda m, x, _: m.tf.math.unsorted_segment_min(x, [0, 2, -1], 4),
    "segments, sum": lambda m, x, _: m.tf.math.unsorted_segment_sum(x, [0, 2, 2], 4),
    "segments, product": lambda m, x, _: m.tf.math.unsorted_segment_prod(x, [0, 2, 2], 4),
    "sorted segments, largest": lambda m, x, _: m.tf.math.segment_max(x, [0, 2, 2]),
    "sorted segments, smallest": lambda m, x, _: m.tf.math.segment_min(x, [0, 2, 2]),
    "sorted segments, product": lambda m, x, _: m.tf.math.segment_prod(x, [0, 2, 2]),
    "scattered maximum": lambda m, x, y: m.tf.tensor_scatter_nd_max(x, [[0], [0]], y[:2]),
    "scattered minimum": lambda m, x, y: m.tf.tensor_scatter_nd_min(x, [[0], [0]], y[:2]),
    "scattered sum": lambda m, x, y: m.tf.tensor_scatter_nd_add(x, [[0], [0]], y[:2]),
    "scattered difference": lambda m, x, y: m.tf.tensor_scatter_nd_sub(x, [[0], [0]], y[:2]),
    "scattered element maximum": lambda m, x, y: m.tf.tensor_scatter_nd_max(x, [[0, 1], [2, 3]], y[0, :2]),
    "pooled": lambda m, x, _: m.tf.nn.max_pool2d(m.tf.reshape(x, [1, 3, 4, 1]), 2, 1, "SAME"),
    "pooled, rectified": lambda m, x, _: m.tf.nn.relu(m.tf.nn.max_pool2d(m.tf.reshape(x, [1, 3, 4, 1]), 2, 2, "VALID")),
    "variance": lambda m, x, _: m.tf.math.reduce_variance(x, 1) if m.dtype in FLOATS else x,
    "of no columns, largest": lambda m, x, _: m.tf.reduce_max(x[:, :0], 1),
    "of no columns, smallest": lambda m, x, _: m.tf.reduce_min(x[:, :0], 1),
    "of no columns, product": lambda m, x, _: m.tf.reduce_prod(x[:, :0], 1),
    "of no columns, sum": lambda m, x, _: m.tf.reduce_sum(x[:, :0], 1),
    "in the top": lambda m, x, _: m.tf.math.in_top_k([0, 1, 2], m.tf.cast(x, m.tf.float32), 2),
    "histogram": lambda m, x, _: m.tf.math.bincount(m.tf.cast(_positive(m, x), m.tf.int32), minlength=12),
}


def _whole(name: str, axes: Any) -> Form:
    return lambda m, x, _: getattr(m.tf, f"reduce_{name}")(x, axes)


def _of_one(name: str) -> Form:
    return lambda m, x, _: getattr(m.tf, f"reduce_{name}")(m.tf.reshape(x, [3, 1, 4]), 1)


def _reductions() -> Iterator[Named]:
    for name, form in _REDUCED.items():
        yield name, NUMBERS, form
    yield "sorted segments, mean", FLOATS, lambda m, x, _: m.tf.math.segment_mean(x, [0, 2, 2])
    for name in ("all", "any"):
        for axes in (0, None, ()):
            yield f"{name}, {axes}", ("bool",), _whole(name, axes)
        yield f"{name} of one", ("bool",), _of_one(name)


REDUCTIONS = list(_reductions())

_W = np.arange(-10, 10).reshape(4, 5) % 7 - 3
_K = (np.arange(2 * 2 * 1 * 3).reshape(2, 2, 1, 3) * 5) % 7 - 3


def _image(m: Maker, x: Any) -> Any:
    return m.tf.reshape(x, [1, 3, 4, 1])


def _convolved(m: Maker, x: Any, padding: Any = "SAME", strides: int = 1) -> Any:
    return m.tf.nn.conv2d(_image(m, x), m(_K), strides, padding)


def _depthwise(m: Maker, x: Any) -> Any:
    return m.tf.nn.depthwise_conv2d(_image(m, x), m(_K), [1, 1, 1, 1], "SAME")


def _back(m: Maker, x: Any) -> Any:
    return m.tf.nn.conv2d_transpose(_image(m, x), m(_K.transpose(0, 1, 3, 2)), [1, 6, 8, 3], 2)


_AFTER: Mapping[str, Form] = {
    "alone": lambda _m, x, _: x,
    "and a row": lambda m, x, _: x + m([1, -2, 3]),
    "and one": lambda m, x, _: x + m(2),
    "less a row": lambda m, x, _: x - m([1, -2, 3]),
    "from a row": lambda m, x, _: m([1, -2, 3]) - x,
    "times a row": lambda m, x, _: x * m([1, -2, 3]),
    "times one": lambda m, x, _: x * m(3),
    "over a row": lambda m, x, _: x / m([1, -2, 3]),
    "over one": lambda m, x, _: x / m(3),
    "a row over": lambda m, x, _: m([1, -2, 3]) / (x + m(0.5)),
    "with a bias, times a row": lambda m, x, _: m.tf.nn.bias_add(x, m([1, -2, 3])) * m([2, 1, -1]),
    "with a bias, rectified": lambda m, x, _: m.tf.nn.relu(m.tf.nn.bias_add(x, m([1, -2, 3]))),
    "with a bias, bounded": lambda m, x, _: m.tf.nn.relu6(m.tf.nn.bias_add(x, m([1, -2, 3]))),
    "clipped": lambda m, x, _: m.tf.maximum(m.tf.minimum(x, m(1)), m(-1)),
}


def _products() -> Iterator[Named]:
    for name, make in (("convolution", _convolved), ("depthwise", _depthwise), ("transposed convolution", _back)):
        for after, form in _AFTER.items():
            yield f"{name} {after}", FLOATS, lambda m, x, y, make=make, form=form: form(m, make(m, x), y)
    for after, form in _AFTER.items():
        yield (
            f"product {after}",
            FLOATS,
            lambda m, x, y, form=form: form(m, m.tf.matmul(x, m(_W[:, :3])), y),
        )
    yield (
        "normalized",
        FLOATS,
        lambda m, x, _: m.tf.nn.batch_normalization(
            _convolved(m, x), m([1, 2, 3]), m([4, 1, 2]), m([1, 0, -1]), m([2, 1, 3]), 1e-3
        ),
    )
    yield (
        "padded convolution",
        FLOATS,
        lambda m, x, _: m.tf.nn.conv2d(
            m.tf.pad(_image(m, x), [[0, 0], [1, 1], [1, 1], [0, 0]]), m(np.ones([3, 3, 1, 2])), 1, "VALID"
        ),
    )
    yield (
        "padded with 1, convolution",
        FLOATS,
        lambda m, x, _: m.tf.nn.conv2d(
            m.tf.pad(_image(m, x), [[0, 0], [1, 1], [1, 1], [0, 0]], constant_values=m(1)),
            m(np.ones([3, 3, 1, 2])),
            1,
            "VALID",
        ),
    )
    yield "scaled before a convolution", FLOATS, lambda m, x, _: m.tf.nn.conv2d(_image(m, x) * m(2), m(_K), 1, "VALID")
    yield (
        "shifted before a convolution",
        FLOATS,
        lambda m, x, _: m.tf.nn.conv2d(_image(m, x) + m(2), m(_K), 1, "VALID") + m([1, 2, 3]),
    )
    yield (
        "shifted before a product",
        FLOATS,
        lambda m, x, _: m.tf.matmul(x + m([1, 2, 3, 4]), m(_W)) + m([1, 2, 3, 4, 5]),
    )
    yield "less before a product", FLOATS, lambda m, x, _: m.tf.matmul(x - m([1, 2, 3, 4]), m(_W))
    yield "scaled before a product", FLOATS, lambda m, x, _: m.tf.matmul(x * m([1, 2, 3, 4]), m(_W))
    yield (
        "product",
        NUMBERS,
        lambda m, x, y: (
            m.tf.matmul(x, m.tf.transpose(y))
            if m.dtype not in ("int8", "int16", "uint8", "uint16", "uint32", "uint64")
            else x
        ),
    )
    yield (
        "product with constant",
        NUMBERS,
        lambda m, x, _: (
            m.tf.matmul(x, m(np.abs(_W)))
            if m.dtype not in ("int8", "int16", "uint8", "uint16", "uint32", "uint64")
            else x
        ),
    )
    yield (
        "product of constant",
        NUMBERS,
        lambda m, x, _: (
            m.tf.matmul(m(np.abs(_W).T), m.tf.transpose(x))
            if m.dtype not in ("int8", "int16", "uint8", "uint16", "uint32", "uint64")
            else x
        ),
    )
    yield "constant column", FLOATS, lambda m, x, _: m.tf.matmul(m([[1], [2], [3]]), x[:1])
    yield "column", FLOATS, lambda m, x, _: m.tf.matmul(x[:, :1], m([[1, 2, 3]]))
    yield (
        "batches",
        FLOATS,
        lambda m, x, y: m.tf.matmul(m.tf.reshape(x, [3, 2, 2]), m.tf.reshape(y, [3, 2, 2]), transpose_b=True),
    )
    yield (
        "batches, transposed",
        FLOATS,
        lambda m, x, y: m.tf.transpose(
            m.tf.matmul(m.tf.reshape(x, [3, 2, 2]), m.tf.reshape(y, [3, 2, 2]), transpose_b=True), [0, 2, 1]
        ),
    )
    yield (
        "batches of transposed",
        FLOATS,
        lambda m, x, y: m.tf.matmul(m.tf.transpose(m.tf.reshape(x, [3, 2, 2]), [0, 2, 1]), m.tf.reshape(y, [3, 2, 2])),
    )
    yield (
        "table",
        FLOATS,
        lambda m, x, _: m.tf.matmul(
            m.tf.one_hot(
                m.tf.cast(m.tf.clip_by_value(m.tf.cast(x[:, 0], m.tf.float32), 0, 3), m.tf.int32), 4, dtype=m.dtype
            ),
            m(_W),
        ),
    )
    yield "sum of products", FLOATS, lambda m, x, y: m.tf.einsum("ij,ij->i", x, y)
    yield "mean of an image", FLOATS, lambda m, x, _: m.tf.nn.avg_pool2d(_image(m, x), 2, 1, "SAME")
    yield (
        "mean of an image, rectified",
        FLOATS,
        lambda m, x, _: m.tf.nn.relu(m.tf.nn.avg_pool2d(_image(m, x), 2, 1, "VALID")),
    )
    yield "global mean", FLOATS, lambda m, x, _: m.tf.reduce_mean(_image(m, x), [1, 2])
    yield "resized", FLOATS, lambda m, x, _: m.tf.image.resize(_image(m, x), [6, 8])
    yield (
        "resized nearest",
        NUMBERS,
        lambda m, x, _: m.tf.image.resize(_image(m, x), [6, 8], "nearest"),
    )


PRODUCTS = list(_products())
