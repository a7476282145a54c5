# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of windows and blocks of space, against numpy."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.passes.legalize.one_op import Constant, Static, check, counted, normal

F = np.float32


def taps(
    sizes: Sequence[int], window: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> tuple[tuple[int, ...], list[tuple[tuple[int, ...], ...]]]:
    """How many windows there are in each dimension; and the window, the position in it and in the image of each pixel.

    Source: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2.
    """
    counts: list[int] = []
    begins: list[int] = []
    for size, length, stride, rate in zip(sizes, window, strides, rates, strict=True):
        reach = (length - 1) * rate + 1
        counts.append((size - reach) // stride + 1 if padding == "VALID" else -(-size // stride))
        begins.append(0 if padding == "VALID" else max((counts[-1] - 1) * stride + reach - size, 0) // 2)
    pixels: list[tuple[tuple[int, ...], ...]] = []
    for out in itertools.product(*map(range, counts)):
        for at in itertools.product(*map(range, window)):
            numbers = zip(out, strides, begins, at, rates, strict=True)
            place = tuple(o * stride - begin + k * rate for o, stride, begin, k, rate in numbers)
            if all(0 <= i < size for i, size in zip(place, sizes, strict=True)):
                pixels.append((out, at, place))
    return tuple(counts), pixels


def of_windows(
    window: Sequence[int], strides: Sequence[int], padding: str, rates: Sequence[int] = ()
) -> dict[str, Any]:
    options: dict[str, Any] = {"strides": [1, *strides, 1], "padding": padding}
    return options | {"ksize": [1, *window, 1]} | ({"rates": [1, *rates, 1]} if rates else {})


# The window, the strides and the padding.
WINDOWS = [((3, 2), (2, 1), "SAME"), ((2, 3), (1, 2), "VALID"), ((1, 2), (3, 2), "SAME"), ((2, 2), (2, 2), "VALID")]


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_a_bias_of_channels_that_come_first(rank: int) -> None:
    x, bias = counted(2, 3, 2, 2, 1)[(..., *[0] * (5 - rank))], np.array([10, 20, 30], F)
    shaped = bias.reshape(3, *[1] * (rank - 2))
    check("BiasAdd", [x, bias], x + shaped, attributes={"data_format": "NCHW"})


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_a_bias_of_integers(dtype: str) -> None:
    x, bias = counted(2, 3).astype(dtype), np.array([10, 20, 30], dtype)
    check("BiasAdd", [x, bias], x + bias, attributes={"data_format": "NHWC"}, form="any")


def test_ops_on_channels_that_come_first() -> None:
    x = counted(2, 4, 6, 4)
    apart = x.reshape(2, 2, 2, 1, 6, 4).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 12, 8)
    options = {"block_size": 2, "data_format": "NCHW"}
    check("DepthToSpace", [x], apart, attributes=options)
    check("SpaceToDepth", [apart], x, attributes=options)
    filters = normal(2, 3, 4, 2)
    for rates, padding in (((1, 1), "SAME"), ((2, 1), "VALID"), ((1, 1), "EXPLICIT")):
        explicit = [0, 0, 0, 0, 1, 0, 2, 1]
        padded = np.pad(x, np.reshape(explicit, (4, 2))) if padding == "EXPLICIT" else x
        counts, pixels = taps(padded.shape[2:], (2, 3), (1, 1), rates, "VALID" if padding == "EXPLICIT" else padding)
        expected = np.zeros((2, 4, 2, *counts), F)
        for out, at, place in pixels:
            expected[(..., *out)] += padded[(..., *place)][..., None] * filters[at]
        options = {"strides": [1] * 4, "padding": padding, "data_format": "NCHW", "dilations": [1, 1, *rates]}
        options |= {"explicit_paddings": explicit} if padding == "EXPLICIT" else {}
        result = expected.reshape(2, 8, *counts)
        check(
            "DepthwiseConv2dNative",
            [x, Constant(filters)],
            result,
            attributes=options,
            rtol=1e-4,
            atol=1e-3,
            dynamic=[False],
        )


def test_sizes_in_another_layout() -> None:
    options = {"src_format": "NHWC", "dst_format": "NCHW"}
    for x in (np.array([5, 6, 7, 8], np.int32), np.arange(8, dtype=np.int32).reshape(4, 2)):
        check("DataFormatVecPermute", [Static(x)], x[[0, 3, 1, 2]], attributes=options, dynamic=[True])
    back = {"src_format": "NCHW", "dst_format": "NHWC"}
    check("DataFormatVecPermute", [x], x[[0, 2, 3, 1]], attributes=back, dynamic=[False])


def test_square_blocks_of_images() -> None:
    x, pads = counted(1, 3, 4, 2), np.array([[1, 0], [0, 2]], np.int32)
    padded = np.pad(x, [(0, 0), *map(tuple, pads), (0, 0)])
    blocks = padded.reshape(1, 2, 2, 3, 2, 2).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 3, 2)
    check("SpaceToBatch", [x, Constant(pads)], blocks, attributes={"block_size": 2}, form="any")
    check("BatchToSpace", [blocks, Constant(pads)], x, attributes={"block_size": 2}, form="any")


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_blocks_of_a_volume(rank: int) -> None:
    x = counted(1, 2, 4, 2, 3)[(..., *[0] * (5 - rank))]
    for numbers in ([2], [2, 2], [2, 4], [1, 2, 1])[: rank - 1]:
        if len(numbers) >= rank:
            continue
        blocks, pads = Constant(np.array(numbers, np.int32)), Constant(np.zeros((len(numbers), 2), np.int32))
        pairs = [part for size, block in zip(x.shape[1:], numbers, strict=False) for part in (size // block, block)]
        rest = x.shape[1 + len(numbers) :]
        inner, outer = [2 + 2 * at for at in range(len(numbers))], [1 + 2 * at for at in range(len(numbers))]
        kept = [1 + 2 * len(numbers) + at for at in range(len(rest))]
        expected = x.reshape(1, *pairs, *rest).transpose(*inner, 0, *outer, *kept)
        expected = expected.reshape(-1, *expected.shape[len(numbers) + 1 :])
        check("SpaceToBatchND", [x, blocks, pads], expected, form="any")
        check("BatchToSpaceND", [expected, blocks, pads], x, form="any")


def test_blocks_with_paddings_that_the_model_computes() -> None:
    x, pads = counted(1, 2, 3, 2, 1, 2), np.array([[1, 1], [0, 1]], np.int32)
    blocks = Constant(np.array([2, 2], np.int32))
    padded = np.pad(x, [(0, 0), (1, 1), (0, 1), *[(0, 0)] * 3])
    expected = padded.reshape(1, 2, 2, 2, 2, 2, 1, 2).transpose(2, 4, 0, 1, 3, 5, 6, 7).reshape(4, 2, 2, 2, 1, 2)
    check("SpaceToBatchND", [x, blocks, pads], expected)
    check("BatchToSpaceND", [expected, blocks, pads], x)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize(
    ("window", "strides", "rates", "padding"),
    [(*case[:2], (1, 1), case[2]) for case in WINDOWS]
    + [((2, 3), (1, 2), (2, 1), "SAME"), ((2, 2), (2, 2), (1, 1), "SAME")],
)
def test_patches(
    window: tuple[int, int], strides: tuple[int, int], rates: tuple[int, int], padding: str, dtype: str
) -> None:
    x = (counted(2, 5, 7, 2) + 1).astype(dtype)
    counts, pixels = taps((5, 7), window, strides, rates, padding)
    expected = np.zeros((2, *counts, *window, 2), dtype)
    for out, at, place in pixels:
        expected[(slice(None), *out, *at)] = x[(slice(None), *place)]
    options = of_windows(window, strides, padding, rates)
    options["ksizes"] = options.pop("ksize")
    check("ExtractImagePatches", [x], expected.reshape(2, *counts, -1), form="composite", attributes=options)


@pytest.mark.parametrize(("window", "strides", "padding"), WINDOWS)
def test_the_largest_of_each_window_and_where_it_is(
    window: tuple[int, int], strides: tuple[int, int], padding: str
) -> None:
    x = np.random.default_rng(0).integers(0, 5, (2, 5, 7, 2)).astype(F)  # several are equal
    counts, pixels = taps((5, 7), window, strides, (1, 1), padding)
    for of_batch in (False, True):
        largest, places = np.full((2, *counts, 2), -np.inf, F), np.zeros((2, *counts, 2), np.int64)
        for out, _, place in pixels:
            for image, channel in itertools.product(range(2), range(2)):
                value, to = x[(image, *place, channel)], (image, *out, channel)
                if value > largest[to]:
                    row = (image * 5 if of_batch else 0) + place[0]
                    largest[to], places[to] = value, (row * 7 + place[1]) * 2 + channel
        options = of_windows(window, strides, padding) | {"include_batch_in_index": of_batch}
        for kind in (np.int32, np.int64):
            results = [largest, places.astype(kind)]
            check("MaxPoolWithArgmax", [x], *results, form="composite", attributes=options, dynamic=[of_batch])


@pytest.mark.parametrize("rates", [(1, 1), (2, 1)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilation(rates: tuple[int, int], padding: str) -> None:
    x, kernel = normal(2, 5, 7, 3), normal(2, 3, 3)
    counts, pixels = taps((5, 7), (2, 3), (1, 2), rates, padding)
    expected = np.full((2, *counts, 3), -np.inf, F)
    for out, at, place in pixels:
        to = (slice(None), *out)
        expected[to] = np.maximum(expected[to], x[(slice(None), *place)] + kernel[at])
    options = {"strides": [1, 1, 2, 1], "rates": [1, *rates, 1], "padding": padding}
    check("Dilation2D", [x, Constant(kernel)], expected, attributes=options, rtol=1e-6)
    check("Dilation2D", [x, kernel], expected, attributes=options, dynamic=[False], rtol=1e-6)


@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("op", ["MaxPool3D", "AvgPool3D"])
def test_pooled_volumes(op: str, padding: str, layout: str) -> None:
    x, window, strides = normal(2, 4, 5, 6, 2), (2, 3, 2), (2, 1, 3)
    counts, pixels = taps((4, 5, 6), window, strides, (1, 1, 1), padding)
    values: dict[tuple[int, ...], list[Any]] = defaultdict(list)
    for out, _, place in pixels:
        values[out].append(x[(slice(None), *place)])
    expected = np.zeros((2, *counts, 2), F)
    for out, pooled in values.items():
        expected[(slice(None), *out)] = np.max(pooled, 0) if op == "MaxPool3D" else np.mean(pooled, 0)
    options = of_windows(window, strides, padding) | {"data_format": layout}
    if layout == "NCDHW":
        x, expected = np.moveaxis(x, -1, 1).copy(), np.moveaxis(expected, -1, 1)
        options |= {name: [options[name][axis] for axis in (0, 4, 1, 2, 3)] for name in ("ksize", "strides")}
    check(op, [x], expected, attributes=options, rtol=1e-5, atol=1e-6, dynamic=[layout == "NDHWC"])


@pytest.mark.parametrize(
    ("window", "strides", "padding"), [*WINDOWS, ((2, 3, 2), (1, 2, 2), "SAME"), ((2, 1, 2), (2, 1, 1), "VALID")]
)
def test_gradients_of_pooling(window: tuple[int, ...], strides: tuple[int, ...], padding: str) -> None:
    sizes = (5, 7) if len(window) == 2 else (4, 5, 3)
    x = np.random.default_rng(0).permutation(np.prod(sizes) * 4).astype(F).reshape(2, *sizes, 2)
    counts, pixels = taps(sizes, window, strides, [1] * len(sizes), padding)
    gradient, options = normal(2, *counts, 2), of_windows(window, strides, padding)
    pooled, numbers = np.full(gradient.shape, -np.inf, F), np.zeros(counts)
    for out, _, place in pixels:
        to = (slice(None), *out)
        pooled[to] = np.maximum(pooled[to], x[(slice(None), *place)])
        numbers[out] += 1
    largest, average = np.zeros(x.shape, F), np.zeros(x.shape, F)
    for out, _, place in pixels:
        to, at = (slice(None), *out), (slice(None), *place)
        largest[at] += np.where(x[at] == pooled[to], gradient[to], 0)
        average[at] += gradient[to] / numbers[out]
    volumes = "3D" if len(window) == 3 else ""
    check(f"MaxPool{volumes}Grad", [x, pooled, gradient], largest, attributes=options, rtol=1e-5, atol=1e-6)
    shape = np.array(x.shape, np.int32)
    for given in (Constant(shape), Static(shape)):
        operands = [given, gradient]
        constant = isinstance(given, Constant)
        check(
            f"AvgPool{volumes}Grad", operands, average, attributes=options, rtol=1e-5, atol=1e-6, dynamic=[not constant]
        )


def test_the_gradient_of_the_first_of_equal_numbers() -> None:
    x, gradient = np.ones((1, 4, 4, 1), F), counted(1, 2, 2, 1) + 1
    expected = np.zeros((1, 4, 4, 1), F)
    expected[:, ::2, ::2] = gradient
    options = of_windows((2, 2), (2, 2), "VALID")
    check("MaxPoolGrad", [x, x[:, ::2, ::2].copy(), gradient], expected, attributes=options, dynamic=[False])


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


def test_pooled_numbers_by_windows_that_are_operands() -> None:
    x, options = normal(2, 4, 6, 3), {"padding": "VALID", "data_format": "NHWC"}
    sizes = [Constant(np.array([1, 2, 3, 1], np.int32))] * 2
    expected = x.reshape(2, 2, 2, 2, 3, 3).max((2, 4))
    check("MaxPoolV2", [x, *sizes], expected, attributes=options, dynamic=[True])


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
    halves = [operand.astype(np.float16) for operand in (x, filters)]
    loose: dict[str, Any] = {"rtol": 0.01, "atol": 0.02, "form": "widened", "attributes": options}
    check("Conv2D", halves, expected.astype(np.float16), dynamic=[True], **loose)
    each = np.einsum("hwcij,ijcm->hwcm", windows, filters).reshape(*expected.shape[:3], 6)
    check("DepthwiseConv2dNative", [x, filters], each, dynamic=[True], attributes=options, rtol=1e-5, atol=1e-6)
    check("DepthwiseConv2dNative", halves, each.astype(np.float16), dynamic=[True], **loose)


def test_channels_that_the_type_lacks() -> None:
    x = normal(1, 5, 6, 3)
    for op, filters in (("Conv2D", normal(2, 3, 3, 4)), ("DepthwiseConv2dNative", normal(2, 3, 3, 2))):
        counts, pixels = taps((5, 6), (2, 3), (1, 1), (1, 1), "SAME")
        expected = np.zeros((1, *counts, 4 if op == "Conv2D" else 6), F)
        for out, at, place in pixels:
            image = x[(slice(None), *place)]
            product = image @ filters[at] if op == "Conv2D" else (image[..., None] * filters[at]).reshape(1, 6)
            expected[(slice(None), *out)] += product
        options = {"strides": [1] * 4, "padding": "SAME"}
        check(
            op, [x, Constant(filters)], expected, attributes=options, rtol=1e-4, atol=1e-5, dynamic=[True], form="any"
        )


@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize(("per_group", "padding"), [(2, "SAME"), (1, "VALID"), (1, "SAME")])
def test_volumes_of_groups_of_channels(per_group: int, padding: str, layout: str) -> None:
    strides, rates = ((2, 1, 1), (1, 1, 1)) if per_group == 1 else ((1, 2, 1), (2, 1, 1))
    x, filters = normal(2, 4, 5, 4, 4), normal(2, 3, 2, per_group, 8)
    counts, pixels = taps((4, 5, 4), (2, 3, 2), strides, rates, padding)
    groups = 4 // per_group
    expected = np.zeros((2, *counts, groups, 8 // groups), F)
    for out, at, place in pixels:
        image = x[(slice(None), *place)].reshape(2, groups, per_group)
        weights = filters[at].reshape(per_group, groups, 8 // groups)
        expected[(slice(None), *out)] += np.einsum("bgi,igo->bgo", image, weights)
    expected = expected.reshape(2, *counts, 8)
    options = {"strides": [1, *strides, 1], "dilations": [1, *rates, 1], "padding": padding, "data_format": layout}
    if layout == "NCDHW":
        x, expected = np.moveaxis(x, -1, 1).copy(), np.moveaxis(expected, -1, 1)
        options |= {name: [options[name][axis] for axis in (0, 4, 1, 2, 3)] for name in ("strides", "dilations")}
    check("Conv3D", [x, Constant(filters)], expected, dynamic=[False], attributes=options, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("padding", "strides", "rates"), [("SAME", (2, 1), (1, 1)), ("VALID", (1, 1), (2, 1)), ("SAME", (1, 1), (1, 2))]
)
def test_gradients_of_convolutions(padding: str, strides: tuple[int, int], rates: tuple[int, int]) -> None:
    x = normal(2, 5, 6, 4)
    counts, pixels = taps((5, 6), (3, 2), strides, rates, padding)
    options = {"strides": [1, *strides, 1], "padding": padding, "data_format": "NHWC", "dilations": [1, *rates, 1]}
    for depth in (4, 2):
        gradient = normal(2, *counts, 6)
        expected = np.zeros((3, 2, depth, 6), F)
        for out, at, place in pixels:
            image = x[(slice(None), *place)].reshape(2, 4 // depth, depth)
            own = gradient[(slice(None), *out)].reshape(2, 4 // depth, -1)
            expected[at] += np.einsum("bgi,bgo->igo", image, own).reshape(depth, 6)
        sizes = Constant(np.array(expected.shape, np.int32))
        operands = [x, sizes, gradient]
        check("Conv2DBackpropFilter", operands, expected, dynamic=[False], attributes=options, rtol=1e-4, atol=1e-4)
    gradient, filters = normal(2, *counts, 8), normal(3, 2, 4, 2)
    by_filter, by_input = np.zeros(filters.shape, F), np.zeros(x.shape, F)
    for out, at, place in pixels:
        own = gradient[(slice(None), *out)].reshape(2, 4, 2)
        by_filter[at] += (x[(slice(None), *place)][..., None] * own).sum(0)
        by_input[(slice(None), *place)] += (filters[at] * own).sum(-1)
    sizes, shape = Constant(np.array(filters.shape, np.int32)), np.array(x.shape, np.int32)
    op = "DepthwiseConv2dNativeBackprop"
    check(f"{op}Filter", [x, sizes, gradient], by_filter, attributes=options, rtol=1e-4, atol=1e-4)
    for given in (Constant(shape), Static(shape)):
        dynamic = isinstance(given, Static)
        operands = [given, Static(filters), gradient]
        check(f"{op}Input", operands, by_input, attributes=options, rtol=1e-4, atol=1e-4, dynamic=[dynamic])


def test_gradients_of_a_filter_of_volumes() -> None:
    x, gradient = normal(2, 3, 4, 5, 2), normal(2, 3, 2, 4, 3)
    counts, pixels = taps((3, 4, 5), (2, 3, 2), (1, 2, 1), (1, 1, 1), "SAME")
    gradient = normal(2, *counts, 3)
    expected = np.zeros((2, 3, 2, 2, 3), F)
    for out, at, place in pixels:
        expected[at] += x[(slice(None), *place)].T @ gradient[(slice(None), *out)]
    options = {"strides": [1, 1, 2, 1, 1], "padding": "SAME", "data_format": "NDHWC", "dilations": [1] * 5}
    operands = [x, Constant(np.array(expected.shape, np.int32)), gradient]
    check("Conv3DBackpropFilterV2", operands, expected, dynamic=[False], attributes=options, rtol=1e-4, atol=1e-4)
