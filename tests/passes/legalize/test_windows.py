# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of windows and blocks of space, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.legalize.one_op import Constant, check, counted, normal

F = np.float32


def test_a_bias_of_channels_that_come_first() -> None:
    x, bias = counted(2, 3, 2, 2), np.array([10, 20, 30], F)
    check("BiasAdd", [x, bias], x + bias[:, None, None], attributes={"data_format": "NCHW"})


def test_blocks_of_a_volume() -> None:
    x = counted(1, 2, 4, 2, 1)
    blocks, pads = Constant(np.array([2, 2, 1], np.int32)), Constant(np.zeros((3, 2), np.int32))
    expected = x.reshape(1, 1, 2, 2, 2, 2, 1).transpose(2, 4, 0, 1, 3, 5, 6).reshape(4, 1, 2, 2, 1)
    check("SpaceToBatchND", [x, blocks, pads], expected)
    check("BatchToSpaceND", [expected, blocks, pads], x)


def test_blocks_with_paddings_that_the_model_computes() -> None:
    x, pads = counted(1, 2, 3, 2, 1, 2), np.array([[1, 1], [0, 1]], np.int32)
    blocks = Constant(np.array([2, 2], np.int32))
    padded = np.pad(x, [(0, 0), (1, 1), (0, 1), *[(0, 0)] * 3])
    expected = padded.reshape(1, 2, 2, 2, 2, 2, 1, 2).transpose(2, 4, 0, 1, 3, 5, 6, 7).reshape(4, 2, 2, 2, 1, 2)
    check("SpaceToBatchND", [x, blocks, pads], expected)
    check("BatchToSpaceND", [expected, blocks, pads], x)


def test_patches() -> None:
    x = counted(1, 4, 4, 1)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, ..., 0], (2, 2))[::2, ::2]
    sizes = {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
    check("ExtractImagePatches", [x], windows.reshape(1, 2, 2, 4), form="composite", dynamic=[False], attributes=sizes)


def test_the_largest_of_each_window_and_where_it_is() -> None:
    x = np.random.default_rng(0).permutation(16).astype(F).reshape(1, 4, 4, 1)
    windows = x.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(1, 2, 2, 1, 4)
    largest = windows.max(-1)
    places = np.argsort(x.reshape(-1))[largest.astype(np.int64)]
    sizes = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID", "include_batch_in_index": False}
    check("MaxPoolWithArgmax", [x], largest, places, form="composite", dynamic=[False], attributes=sizes)


def test_dilation() -> None:
    x, kernel = counted(1, 3, 3, 1) ** 2, np.array([[0, 1], [2, -1]], F).reshape(2, 2, 1)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, ..., 0], (2, 2))
    expected = (windows + kernel[..., 0]).max((2, 3)).reshape(1, 2, 2, 1)
    options = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
    check("Dilation2D", [x, Constant(kernel)], expected, dynamic=[False], attributes=options)


def test_pooled_volumes() -> None:
    x = counted(1, 2, 4, 4, 2)
    expected = x.reshape(1, 1, 2, 2, 2, 2, 2, 2).max((2, 4, 6))
    sizes = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID", "data_format": "NDHWC"}
    check("MaxPool3D", [x], expected, dynamic=[False], attributes=sizes)


def test_pooled_integers() -> None:
    top = 2**31 - 1
    x = top - np.random.default_rng(0).permutation(2 * 5 * 4 * 3).astype(np.int32).reshape(2, 5, 4, 3)
    sizes = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1]}
    valid = np.stack([x[:, 0:3], x[:, 2:5]], 1).max(2).reshape(2, 2, 2, 2, 3).max(3)
    check("MaxPool", [x], valid, attributes=sizes | {"padding": "VALID", "data_format": "NHWC"})
    filled = np.pad(-x, ((0, 0), (1, 1), (0, 0), (0, 0)), constant_values=-(2**31))
    same = np.stack([filled[:, 0:3], filled[:, 2:5], filled[:, 4:7]], 1).max(2).reshape(2, 3, 2, 2, 3).max(3)
    check("MaxPool", [-x], same, attributes=sizes | {"padding": "SAME", "data_format": "NHWC"})
    explicit = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1, 0, 0, 0, 0], "data_format": "NHWC"}
    check("MaxPool", [-x], same, attributes=sizes | explicit)
    real = -x.astype(np.float32)
    channels_first = {name: [sizes[name][axis] for axis in (0, 3, 1, 2)] for name in sizes} | {"data_format": "NCHW"}
    explicit = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 0, 0, 1, 1, 0, 0]}
    expected = same.astype(np.float32).transpose(0, 3, 1, 2)
    check("MaxPool", [real.transpose(0, 3, 1, 2)], expected, attributes=channels_first | explicit)
    wide = -x.astype(np.int64) - 2**40
    first = {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}
    expected = (same.astype(np.int64) - 2**40).transpose(0, 3, 1, 2)
    check("MaxPool", [wide.transpose(0, 3, 1, 2)], expected, attributes=first)
    bytes_ = (x % 256).astype(np.uint8)
    windows = [Constant(np.array(sizes[name], np.int32)) for name in ("ksize", "strides")]
    largest = np.stack([bytes_[:, 0:3], bytes_[:, 2:5]], 1).max(2).reshape(2, 2, 2, 2, 3).max(3)
    check("MaxPoolV2", [bytes_, *windows], largest, attributes={"padding": "VALID", "data_format": "NHWC"})
    windows = [Constant(np.array(channels_first[name], np.int32)) for name in ("ksize", "strides")]
    bytes_, largest = (each.transpose(0, 3, 1, 2) for each in (bytes_, largest))
    check("MaxPoolV2", [bytes_, *windows], largest, attributes={"padding": "VALID", "data_format": "NCHW"})


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
def test_filters_of_unknown_size(padding: str) -> None:
    x, filters = normal(1, 4, 5, 2), normal(3, 2, 2, 3)
    options = {"strides": [1, 2, 1, 1], "padding": padding}
    pads = {"SAME": [(0, 1), (0, 1)], "VALID": [(0, 0), (0, 0)], "EXPLICIT": [(2, 0), (1, 1)]}[padding]
    if padding == "EXPLICIT":
        options["explicit_paddings"] = [0, 0, 2, 0, 1, 1, 0, 0]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x[0], [*pads, (0, 0)]), (3, 2), (0, 1))[::2]
    expected = np.einsum("hwcij,ijco->hwo", windows, filters)[None]
    check("Conv2D", [x, filters], expected, dynamic=[True], attributes=options, rtol=1e-5, atol=1e-6)
    each = np.einsum("hwcij,ijcm->hwcm", windows, filters).reshape(*expected.shape[:3], 6)
    check("DepthwiseConv2dNative", [x, filters], each, dynamic=[True], attributes=options, rtol=1e-5, atol=1e-6)


def test_volumes_of_groups_of_channels() -> None:
    x, filters = normal(1, 3, 4, 4, 4), normal(2, 2, 2, 2, 6)
    options = {"strides": [1] * 5, "padding": "VALID", "data_format": "NDHWC", "dilations": [1] * 5}
    windows = np.lib.stride_tricks.sliding_window_view(x[0], (2, 2, 2), (0, 1, 2))
    groups = [
        np.einsum("dhwcijk,ijkco->dhwo", windows[..., 2 * group : 2 * group + 2, :, :, :], filters[..., places])
        for group, places in enumerate((slice(0, 3), slice(3, 6)))
    ]
    expected = np.concatenate(groups, -1)[None]
    check("Conv3D", [x, Constant(filters)], expected, dynamic=[False], attributes=options, rtol=1e-5, atol=1e-5)


def test_gradients_of_a_filter() -> None:
    x, gradient = normal(2, 4, 5, 4), np.random.default_rng(1).normal(size=(2, 3, 4, 6)).astype(F)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (1, 2))
    options = {"strides": [1] * 4, "padding": "VALID", "data_format": "NHWC", "dilations": [1] * 4}
    for depth in (4, 2):
        parts = zip(np.split(windows, 4 // depth, 3), np.split(gradient, 4 // depth, 3), strict=True)
        expected = np.concatenate([np.einsum("nhwcij,nhwo->ijco", *part) for part in parts], -1)
        sizes = Constant(np.array(expected.shape, np.int32))
        operands = [x, sizes, gradient]
        check("Conv2DBackpropFilter", operands, expected, dynamic=[False], attributes=options, rtol=1e-4, atol=1e-4)
