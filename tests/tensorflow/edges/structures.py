# pyright: reportUnknownLambdaType=false
"""Ops at the edge of what their shapes, indices and integers can be, each with inputs of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Case: TypeAlias = tuple[Callable[..., Any], tuple[Array, ...]]

_NAN, _INF = float("nan"), float("inf")


def _f(*shape: int) -> Array:
    return (np.arange(np.prod(shape), dtype=np.float32) % 7 - 2).reshape(shape)


def _i(*values: Any, dtype: npt.DTypeLike = np.int32) -> Array:
    return np.array(values, dtype)


def _ties(dtype: npt.DTypeLike) -> Array:
    return np.array([[1, 3, 3, 0, 3, 1], [2] * 6, [5, 4, 3, 2, 1, 0]], dtype)


_IMAGE = _f(1, 4, 5, 2)
_EXTREMES = {
    kind: np.array([np.iinfo(kind).min, np.iinfo(kind).max, -7, -1, 1, 7], kind)
    for kind in ("int8", "int16", "int32", "int64")
} | {kind: np.array([0, np.iinfo(kind).max, 1, 7, 8, 2], kind) for kind in ("uint8", "uint16", "uint32")}


def _of_ties() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for kind in ("float32", "int32", "int8", "uint8"):
        x = _ties(kind)
        cases |= {
            f"argmax of ties, {kind}": (lambda tf, x: tf.argmax(x, 1), (x,)),
            f"argmin of ties, {kind}": (lambda tf, x: tf.argmin(x, 1), (x,)),
            f"top_k of ties, {kind}": (lambda tf, x: tf.math.top_k(x, 4), (x,)),
            f"sort of ties, {kind}": (lambda tf, x: tf.sort(x, 1), (x,)),
            f"argsort of ties, {kind}": (lambda tf, x: tf.argsort(x, 1, stable=True), (x,)),
            f"argsort of ties, descending, {kind}": (lambda tf, x: tf.argsort(x, 1, "DESCENDING", stable=True), (x,)),
        }
    x = _ties("float32")
    cases |= {
        "argmax along the first axis": (lambda tf, x: tf.argmax(x, 0), (x,)),
        "top_k of all": (lambda tf, x: tf.math.top_k(x, 6), (x,)),
        "top_k of none": (lambda tf, x: tf.shape(tf.math.top_k(x, 0)[0]), (x,)),
        "in_top_k of ties": (lambda tf, x: tf.math.in_top_k(_i(0, 3, 5), x, 3), (x,)),
        "unique": (lambda tf, x: tf.unique(tf.reshape(x, [-1])), (x,)),
        "unique_with_counts": (lambda tf, x: tf.unique_with_counts(tf.reshape(x, [-1])), (x,)),
        "unique of NaN": (lambda tf, x: tf.unique(x), (np.array([_NAN, 1, _NAN, 0.0, -0.0], np.float32),)),
        "argmax of NaN": (lambda tf, x: tf.argmax(x, 1), (np.array([[1, _NAN, 3], [_NAN] * 3], np.float32),)),
        "argmax of -inf": (lambda tf, x: tf.argmax(x, 1), (np.full((2, 3), -_INF, np.float32),)),
        "argmin of inf": (lambda tf, x: tf.argmin(x, 1), (np.full((2, 3), _INF, np.float32),)),
        "argmax of bool": (lambda tf, x: tf.argmax(x > 2, 1), (x,)),
        "searchsorted, left": (lambda tf, x: tf.searchsorted(tf.sort(x, 1), tf.constant([[3.0]] * 3)), (x,)),
        "searchsorted, right": (lambda tf, x: tf.searchsorted(tf.sort(x, 1), tf.constant([[3.0]] * 3), "right"), (x,)),
        "max_pool_with_argmax of ties": (
            lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"),
            (np.ones((1, 4, 4, 1), np.float32),),
        ),
        "bincount": (lambda tf, x: tf.math.bincount(x, minlength=4, maxlength=4), (_i(0, 2, 2, 9),)),
    }
    return cases


def _of_places() -> dict[str, Case]:
    x, m = _f(4, 3), _f(2, 3, 4)
    out = _i(0, 4, -1)
    return {
        "gather, out of range": (lambda tf, x, i: tf.gather(x, i), (x, out)),
        "gather of nothing": (lambda tf, x, i: tf.reduce_sum(tf.gather(x, i), 0), (x, np.zeros(0, np.int32))),
        "gather, axis -1, batch_dims 1": (
            lambda tf, x, i: tf.gather(x, i, axis=-1, batch_dims=1),
            (m, _i([0, 3], [2, 2])),
        ),
        "gather_nd, out of range": (lambda tf, x, i: tf.gather_nd(x, i), (x, _i([0, 0], [4, 1]))),
        "gather_nd, no indices": (lambda tf, x, i: tf.gather_nd(x, i), (x, np.zeros((2, 0), np.int32))),
        "gather_nd, batch_dims 1": (lambda tf, x, i: tf.gather_nd(x, i, batch_dims=1), (m, _i([[0, 3]], [[2, 2]]))),
        "one_hot, out of range": (lambda tf, i: tf.one_hot(i, 3), (_i(0, 2, 3, -1),)),
        "one_hot of depth 0": (lambda tf, i: tf.shape(tf.one_hot(i, 0)), (_i(0, 2),)),
        "one_hot, axis 0": (lambda tf, i: tf.one_hot(i, 3, 5, 7, axis=0), (_i(0, 2, 3, -1),)),
        "scatter_nd, twice": (lambda tf, i: tf.scatter_nd(i, [1.0, 2.0, 4.0], [4]), (_i([1], [3], [1]),)),
        "scatter_nd, out of range": (lambda tf, i: tf.scatter_nd(i, [1.0, 2.0, 4.0], [4]), (_i([1], [4], [-1]),)),
        "scatter_nd of none": (lambda tf, i: tf.scatter_nd(i, tf.zeros([0]), [4]), (np.zeros((0, 1), np.int32),)),
        "tensor_scatter_nd_update, twice": (
            lambda tf, x, i: tf.tensor_scatter_nd_update(x, i, x[:2] + 9.0),
            (x, _i([1], [1])),
        ),
        "tensor_scatter_nd_add, twice": (
            lambda tf, x, i: tf.tensor_scatter_nd_add(x, i, x[:2] + 9.0),
            (x, _i([1], [1])),
        ),
        "tensor_scatter_nd_max": (lambda tf, x, i: tf.tensor_scatter_nd_max(x, i, x[:2]), (x, _i([1], [1]))),
        "unsorted_segment_sum, negative ids": (
            lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 3),
            (x, _i(0, -1, 2, 0)),
        ),
        "unsorted_segment_max, empty segments": (
            lambda tf, x, i: tf.math.unsorted_segment_max(x, i, 3),
            (x, _i(0, 0, 2, 0)),
        ),
        "unsorted_segment_min, negative ids": (
            lambda tf, x, i: tf.math.unsorted_segment_min(x, i, 3),
            (x, _i(0, -1, 2, 0)),
        ),
        "unsorted_segment_prod, empty segments": (
            lambda tf, x, i: tf.math.unsorted_segment_prod(x, i, 3),
            (x, _i(0, 0, 2, 0)),
        ),
        "unsorted_segment_sum, out of range": (
            lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 3),
            (x, _i(0, 3, 2, 0)),
        ),
        "unsorted_segment_max, int32": (lambda tf, i: tf.math.unsorted_segment_max(i, i, 3), (_i(0, 0, 2, 0),)),
        "segment_sum, gaps": (lambda tf, x, i: tf.math.segment_sum(x, i), (x, _i(0, 0, 2, 2))),
        "segment_mean, gaps": (lambda tf, x, i: tf.math.segment_mean(x, i), (x, _i(0, 0, 2, 2))),
        "segment_max, gaps": (lambda tf, x, i: tf.math.segment_max(x, i), (x, _i(0, 0, 2, 2))),
        "embedding_lookup, twice": (lambda tf, x, i: tf.nn.embedding_lookup(x, i), (x, _i(3, 3, 0))),
        "where": (lambda tf, x: tf.where(x > 0), (x,)),
        "where of a scalar": (lambda tf, x: tf.shape(tf.where(tf.reduce_sum(x) > 0)), (x,)),
        "boolean_mask": (lambda tf, x: tf.boolean_mask(x, x > 0), (x,)),
        "dynamic_partition": (lambda tf, x, i: tf.concat(tf.dynamic_partition(x, i, 3), 0), (x, _i(2, 0, 2, 2))),
        "dynamic_stitch, twice": (lambda tf, x, i: tf.dynamic_stitch([i, i], [x, x + 1.0]), (x, _i(3, 1, 0, 2))),
        "reverse_sequence, 0 and all": (lambda tf, x, n: tf.reverse_sequence(x, n, 1), (m, _i(0, 3))),
        "reverse_sequence, 1": (lambda tf, x, n: tf.reverse_sequence(x, n, 2, batch_axis=0), (m, _i(1, 4))),
        "sequence_mask": (lambda tf, n: tf.sequence_mask(n, 3), (_i(0, 3, 5, -1),)),
        "strided_slice, negative strides": (lambda tf, x: x[::-1, 2:0:-1, ::-2], (m,)),
        "strided_slice, beyond": (lambda tf, x: x[-9:9, 1:99, -2:], (m,)),
        "strided_slice, ellipsis and new axis": (lambda tf, x: x[..., None, -1], (m,)),
        "strided_slice, new axis first": (lambda tf, x: x[None, 1, ..., ::2], (m,)),
        "strided_slice of none": (lambda tf, x: tf.shape(x[2:1, :, 3:3]), (m,)),
        "strided_slice, negative index": (lambda tf, x: x[-1, :, -4], (m,)),
        "slice of the rest": (lambda tf, x: tf.slice(x, [1, 0, 2], [-1, 2, -1]), (m,)),
        "slice of none": (lambda tf, x: tf.shape(tf.slice(x, [2, 0, 0], [0, 3, 4])), (m,)),
        "roll, beyond": (lambda tf, x: tf.roll(x, [5, -7], [1, 2]), (m,)),
        "roll, twice along one axis": (lambda tf, x: tf.roll(x, [1, 1], [1, 1]), (m,)),
        "tile by 0": (lambda tf, x: tf.shape(tf.tile(x, [1, 0, 2])), (m,)),
        "repeat by 0": (lambda tf, x: tf.repeat(x, [0, 2, 1, 0], 0), (x,)),
        "pad by 0": (lambda tf, x: tf.pad(x, [[0, 0], [0, 0], [0, 0]]), (m,)),
        "pad with -inf": (lambda tf, x: tf.pad(x, [[1, 0], [0, 2], [0, 0]], constant_values=-_INF), (m,)),
        "pad, reflect at the limit": (lambda tf, x: tf.pad(x, [[1, 1], [2, 2], [3, 3]], "REFLECT"), (m,)),
        "pad, symmetric at the limit": (lambda tf, x: tf.pad(x, [[2, 2], [3, 3], [4, 4]], "SYMMETRIC"), (m,)),
        "pad, reflect beyond": (lambda tf, x: tf.pad(x, [[0, 0], [3, 0], [0, 0]], "REFLECT"), (m,)),
        "split of sizes 0": (lambda tf, x: tf.concat(tf.split(x, [2, 0, 1], 1)[::-1], 1), (m,)),
        "range of nothing": (lambda tf, n: tf.shape(tf.range(n[0], n[1])), (_i(3, 3),)),
        "range, negative": (lambda tf, n: tf.range(n[0], n[1], -2), (_i(3, -4),)),
        "linspace of 1": (lambda tf, x: tf.linspace(x[0, 0], x[1, 2], 1), (x,)),
        "eye, rows": (lambda tf, x: tf.eye(3, 5) + x[0, 0], (x,)),
        "band_part": (lambda tf, x: tf.linalg.band_part(x, 0, -1), (m,)),
        "set_diag": (lambda tf, x: tf.linalg.set_diag(x, x[:, 0, :3]), (m,)),
        "broadcast_to of size 1": (lambda tf, x: tf.broadcast_to(x[:, :1], [2, 3, 4]), (m,)),
        "cumsum, exclusive and reverse": (lambda tf, x: tf.cumsum(x, 1, exclusive=True, reverse=True), (m,)),
        "cumsum along 1": (lambda tf, x: tf.cumsum(x[:, :1], 1, exclusive=True), (m,)),
        "cumsum, axis -3": (lambda tf, x: tf.cumsum(x, -3, reverse=True), (m,)),
        "cumprod, exclusive": (lambda tf, x: tf.math.cumprod(x, 2, exclusive=True), (m,)),
        "concat with nothing": (lambda tf, x: tf.concat([x, x[:, :0], x], 1), (m,)),
        "transpose with 1": (lambda tf, x: tf.transpose(x[:, :1], [2, 1, 0]), (m,)),
        "squeeze": (lambda tf, x: tf.squeeze(x[:1, :, :1]), (m,)),
    }


def _of_none() -> dict[str, Case]:
    none, x = np.zeros((2, 0, 3), np.float32), _f(2, 3, 4)
    flags = np.zeros((2, 0), np.bool_)
    return {
        "reduce_sum of none": (lambda tf, x: tf.reduce_sum(x, 1), (none,)),
        "reduce_prod of none": (lambda tf, x: tf.reduce_prod(x, 1), (none,)),
        "reduce_mean of none": (lambda tf, x: tf.reduce_mean(x, 1), (none,)),
        "reduce_max of none": (lambda tf, x: tf.reduce_max(x, 1), (none,)),
        "reduce_min of none": (lambda tf, x: tf.reduce_min(x, 1), (none,)),
        "reduce_max of none, int32": (lambda tf, x: tf.reduce_max(x, 1), (none.astype(np.int32),)),
        "reduce_all of none": (lambda tf, x: tf.reduce_all(x, 1), (flags,)),
        "reduce_any of none": (lambda tf, x: tf.reduce_any(x, 1), (flags,)),
        "reduce_logsumexp of none": (lambda tf, x: tf.reduce_logsumexp(x, 1), (none,)),
        "reduce_sum over no axes": (lambda tf, x: tf.reduce_sum(x, []), (x,)),
        "reduce_max over no axes": (lambda tf, x: tf.reduce_max(x, []), (x,)),
        "reduce_mean over no axes": (lambda tf, x: tf.reduce_mean(x, [], keepdims=True), (x,)),
        "reduce_all over no axes": (lambda tf, x: tf.reduce_all(x > 0, []), (x,)),
        "reduce_sum of axes of 1": (lambda tf, x: tf.reduce_sum(x[:, :1, :1], [1, -1]), (x,)),
        "reduce_variance of 1": (lambda tf, x: tf.math.reduce_variance(x[:, :1], 1), (x,)),
        "softmax of 1": (lambda tf, x: tf.nn.softmax(x[..., :1]), (x,)),
        "matmul over none": (lambda tf, x: tf.matmul(x, x, transpose_a=True), (np.zeros((2, 0, 3), np.float32),)),
        "dense over none": (lambda tf, x: tf.matmul(x, tf.zeros([0, 3])) + 1.0, (np.zeros((2, 0), np.float32),)),
        "argmax of 1": (lambda tf, x: tf.argmax(x[..., :1], -1), (x,)),
        "matmul, adjoint": (lambda tf, x: tf.matmul(x, x, adjoint_b=True), (x,)),
        "matmul, both transposed": (
            lambda tf, x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True),
            (x, _f(2, 5, 3)),
        ),
        "matmul, broadcast": (lambda tf, x, y: tf.matmul(x[:, None], y), (x, _f(3, 4, 2))),
        "matmul, int32": (lambda tf, x, y: tf.matmul(x, y), (_EXTREMES["int32"].reshape(2, 3), _i([2], [3], [5]))),
        "matmul of complex, adjoint": (
            lambda tf, x: tf.math.real(tf.matmul(tf.complex(x, x + 1.0), tf.complex(x, -x), adjoint_b=True)),
            (x,),
        ),
    }


def _resized(name: str, size: tuple[int, int], corners: bool, half: bool, tf: Any, x: Any) -> Any:
    options = {"align_corners": corners, "half_pixel_centers": half}
    return getattr(tf.raw_ops, name)(images=x, size=size, **options)


def _of_windows() -> dict[str, Case]:
    image = _IMAGE
    w = _f(3, 3, 2, 2)
    cases: dict[str, Case] = {
        "max_pool larger than the input, SAME": (lambda tf, x: tf.nn.max_pool2d(x, 9, 1, "SAME"), (image,)),
        "avg_pool larger than the input, SAME": (lambda tf, x: tf.nn.avg_pool2d(x, 9, 3, "SAME"), (image,)),
        "max_pool of all": (lambda tf, x: tf.nn.max_pool2d(x, [4, 5], 1, "VALID"), (image,)),
        "max_pool, strides larger than windows": (lambda tf, x: tf.nn.max_pool2d(x, 1, 3, "SAME"), (image,)),
        "avg_pool, strides larger than windows": (lambda tf, x: tf.nn.avg_pool2d(x, 2, 3, "VALID"), (image,)),
        "max_pool, explicit padding": (
            lambda tf, x: tf.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 1], [2, 0], [0, 0]]),
            (-np.abs(image),),
        ),
        "conv2d larger than the input, SAME": (lambda tf, x: tf.nn.conv2d(x, _f(7, 7, 2, 2), 1, "SAME"), (image,)),
        "conv2d, strides larger than filters": (lambda tf, x: tf.nn.conv2d(x, _f(1, 1, 2, 2), 3, "SAME"), (image,)),
        "conv2d, dilated beyond the input, SAME": (lambda tf, x: tf.nn.conv2d(x, w, 1, "SAME", dilations=4), (image,)),
        "conv2d, dilated, VALID": (lambda tf, x: tf.nn.conv2d(x, w[:2, :2], 1, "VALID", dilations=[3, 4]), (image,)),
        "conv2d, explicit padding": (lambda tf, x: tf.nn.conv2d(x, w, 2, [[0, 0], [2, 0], [0, 3], [0, 0]]), (image,)),
        "depthwise_conv2d, strides of two kinds": (
            lambda tf, x: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
            (image,),
        ),
        "depthwise_conv2d, dilated, SAME": (
            lambda tf, x: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME", dilations=[2, 3]),
            (image,),
        ),
        "conv1d, strides": (lambda tf, x: tf.nn.conv1d(x[:, 0], _f(4, 2, 3), 3, "SAME"), (image,)),
        "conv3d": (lambda tf, x: tf.nn.conv3d(x[:, :, :, None], _f(2, 2, 1, 2, 3), [1, 2, 1, 1, 1], "SAME"), (image,)),
        "dilation2d": (lambda tf, x: tf.nn.dilation2d(x, _f(2, 2, 2), [1] * 4, "SAME", "NHWC", [1] * 4), (image,)),
        "extract_patches, rates": (
            lambda tf, x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
            (image,),
        ),
        "space_to_depth": (lambda tf, x: tf.nn.space_to_depth(x[:, :, :4], 4), (image,)),
        "space_to_batch, paddings": (lambda tf, x: tf.space_to_batch(x, [2, 3], [[1, 1], [0, 1]]), (image,)),
        "lrn of all channels": (lambda tf, x: tf.nn.lrn(x, 5, 1.0, 0.5, 0.5), (image,)),
        "crop_and_resize outside": (
            lambda tf, x: tf.image.crop_and_resize(x, [[-0.5, 0.0, 1.5, 1.0], [1.0, 1.0, 0.0, 0.0]], [0, 0], [3, 3]),
            (image,),
        ),
    }
    for stride, size in ((2, (7, 10)), (2, (8, 9)), (3, (10, 13)), (3, (12, 15))):
        cases[f"conv2d_transpose by {stride} to {size[0]} x {size[1]}, SAME"] = (
            lambda tf, x, stride=stride, size=size: tf.nn.conv2d_transpose(x, w, [1, *size, 2], stride, "SAME"),
            (image,),
        )
    for stride, size in ((2, (9, 11)), (2, (10, 12)), (3, (12, 15)), (4, (15, 19)), (4, (16, 20))):
        cases[f"conv2d_transpose by {stride} to {size[0]} x {size[1]}, VALID"] = (
            lambda tf, x, stride=stride, size=size: tf.nn.conv2d_transpose(x, w, [1, *size, 2], stride, "VALID"),
            (image,),
        )
    for name in ("ResizeBilinear", "ResizeNearestNeighbor"):
        for size in ((4, 5), (1, 1), (8, 10), (7, 3), (2, 2), (11, 13)):
            for corners, half in ((False, False), (True, False), (False, True)):
                label = f"{name} to {size[0]} x {size[1]}{', corners' * corners}{', half pixels' * half}"
                cases[label] = (functools.partial(_resized, name, size, corners, half), (image,))
    return cases


def _of_integers() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for kind, x in _EXTREMES.items():
        y = np.array([3, 2, 2, 5, 7, 4], kind)
        signed = np.array([-1, 2, 2, -5, 7, -4] if kind.startswith("i") else [1, 2, 2, 5, 7, 4], kind)
        shifts = np.array([0, 1, np.iinfo(kind).bits - 1, np.iinfo(kind).bits, np.iinfo(kind).bits + 1, 2], kind)
        cases |= {
            f"add, {kind}": (lambda tf, x, y: x + y, (x, y)),
            f"subtract, {kind}": (lambda tf, x, y: x - y, (x, y)),
            f"multiply, {kind}": (lambda tf, x, y: x * y, (x, y)),
            f"floordiv, {kind}": (lambda tf, x, y: x // y, (x, signed)),
            f"floormod, {kind}": (lambda tf, x, y: tf.math.floormod(x, y), (x, signed)),
            f"truncatediv, {kind}": (lambda tf, x, y: tf.truncatediv(x, y), (x, signed)),
            f"maximum, {kind}": (lambda tf, x, y: tf.maximum(x, y), (x, y)),
            f"less, {kind}": (lambda tf, x, y: x < y, (x, y)),
            f"equal, {kind}": (lambda tf, x, y: tf.equal(x, y), (x, y)),
            f"bitwise_xor, {kind}": (lambda tf, x, y: tf.bitwise.bitwise_xor(x, y), (x, y)),
            f"left_shift, {kind}": (lambda tf, x, y: tf.bitwise.left_shift(x, y), (x, shifts)),
            f"right_shift, {kind}": (lambda tf, x, y: tf.bitwise.right_shift(x, y), (x, shifts)),
            f"invert, {kind}": (lambda tf, x: tf.bitwise.invert(x), (x,)),
            f"reduce_sum, {kind}": (lambda tf, x: tf.reduce_sum(x), (x,)),
            f"reduce_prod, {kind}": (lambda tf, x: tf.reduce_prod(x), (x,)),
            f"reduce_mean, {kind}": (lambda tf, x: tf.reduce_mean(x), (x,)),
            f"reduce_max, {kind}": (lambda tf, x: tf.reduce_max(x), (x,)),
            f"cumsum, {kind}": (lambda tf, x: tf.cumsum(x), (x,)),
            f"cast to float32, {kind}": (lambda tf, x: tf.cast(x, tf.float32), (x,)),
            f"cast to bool, {kind}": (lambda tf, x: tf.cast(x, tf.bool), (x,)),
            f"clip_by_value, {kind}": (lambda tf, x, y: tf.clip_by_value(x, y[0], y[4]), (x, y)),
        }
        if kind in {"int32", "int64"}:
            cases |= {
                f"square, {kind}": (lambda tf, x: tf.square(x), (x,)),
                f"truncatemod, {kind}": (lambda tf, x, y: tf.truncatemod(x, y), (x, signed)),
            }
        if kind.startswith("i"):
            cases |= {
                f"abs, {kind}": (lambda tf, x: tf.abs(x), (x,)),
                f"negative, {kind}": (lambda tf, x: -x, (x,)),
                f"sign, {kind}": (lambda tf, x: tf.sign(x), (x,)),
                f"pow, {kind}": (lambda tf, x, y: tf.pow(x, y), (x, np.array([3, 2, 2, 5, 0, 4], kind))),
            }
        for other in ("int8", "uint8", "int16", "int32", "int64"):
            if other != kind:
                cases[f"cast to {other}, {kind}"] = (lambda tf, x, other=other: tf.cast(x, other), (x,))
    halves = np.array([[6e-5, 3e-5, 1e-6], [0, -6e-5, 1e-7], [-9, 0, 9], [-12, 0, 1]], np.float16)
    cases |= {
        "softmax of subnormal results, float16": (
            lambda tf, x: tf.nn.softmax(x * 1.0),
            (np.array([[-9.5, 0], [-11, 0], [-14, 0], [-17, 0]], np.float16),),
        ),
        "add of subnormals, float16": (lambda tf, x: x + x, (halves,)),
        "multiply to subnormals, float16": (lambda tf, x: x * tf.constant(0.01, tf.float16), (halves,)),
        "cast of subnormals to float32": (lambda tf, x: tf.cast(x, tf.float32), (halves,)),
        "cast to float16, subnormal": (
            lambda tf, x: tf.cast(x, tf.float16),
            (np.array([6e-5, 3e-5, 1e-6, 2e-8, 3e-8, 65519, 65520], np.float32),),
        ),
        "exp to subnormals, float16": (lambda tf, x: tf.exp(x), (np.array([-9.5, -11, -14, -17], np.float16),)),
        "sigmoid to subnormals, float16": (lambda tf, x: tf.sigmoid(x), (np.array([-9.5, -11, -14, -17], np.float16),)),
    }
    return cases


CASES: Mapping[str, Case] = {**_of_ties(), **_of_places(), **_of_none(), **_of_windows(), **_of_integers()}


def structures(tf: Any, names: tuple[str, ...]) -> Any:
    """A model of some cases, with outputs for each."""
    inputs = {f"x{number}_{place}": x for number, name in enumerate(names) for place, x in enumerate(CASES[name][1])}

    def serve(**given: Any) -> dict[str, Any]:
        results: dict[str, Any] = {}
        for number, name in enumerate(names):
            function, arrays = CASES[name]
            answer = function(tf, *(given[f"x{number}_{place}"] for place in range(len(arrays))))
            flat = tf.nest.flatten(answer)
            results |= {f"y{number}_{place}": tf.identity(value) for place, value in enumerate(flat)}
        return results

    made = tf.Module()
    kinds = {name: tf.TensorSpec(x.shape, x.dtype, name=name) for name, x in inputs.items()}
    made.serve = tf.function(serve, autograph=False)
    return made, {"serving_default": made.serve.get_concrete_function(**kinds)}
