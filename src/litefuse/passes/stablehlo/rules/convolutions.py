"""Convolutions of any layout."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.rules.products import wide_dtype
from litefuse.passes.stablehlo.rules.shapes import spaced
from litefuse.passes.stablehlo.rules.windows import padding_name, position_count
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

# At most this many products are added up, where LiteRT has no convolution.
_MOST_PLACES = 256


@dataclass(frozen=True)
class _Window:
    """The window of a convolution along its spatial dimensions."""

    strides: list[int]
    paddings: list[tuple[MixedSize, MixedSize]]
    spacing: list[int]
    dilations: list[int]
    groups: int


def _convolution(op: Any, t: Translation) -> Result:
    count = len(t.dialect.ConvDimensionNumbers(op.dimension_numbers).input_spatial_dimensions)
    padding = np.zeros((count, 2), int) if op.padding is None else np.array(op.padding).reshape(count, 2)
    return _convolved(op, t, [(int(low), int(high)) for low, high in padding])


def _dynamic_conv(op: Any, t: Translation) -> Result:
    known = t.elements(op.operands[2])
    if known is not None:
        return _convolved(op, t, [(low, high) for low, high in known.tolist()])
    amounts = t.b.cast(t.value(op.operands[2]), "int32")
    count = t.shape(op.operands[2])[0] or 0
    flat = t.b.sizes_in(t.b.reshape(amounts, [2 * count]), [None] * (2 * count))
    return _convolved(op, t, list(zip(flat[::2], flat[1::2], strict=True)))


def _convolved(op: Any, t: Translation, paddings: list[tuple[MixedSize, MixedSize]]) -> Result:
    """Translates a convolution, https://openxla.org/stablehlo/spec#convolution."""
    b, numbers = t.b, t.dialect.ConvDimensionNumbers(op.dimension_numbers)
    count = len(paddings)
    wanted = t.dtype(op.results[0])
    dtype = wide_dtype(wanted)
    image, kernel = (b.cast(b.cast(t.value(operand), wanted), dtype) for operand in op.operands[:2])
    order = [numbers.input_batch_dimension, *numbers.input_spatial_dimensions, numbers.input_feature_dimension]
    image = b.transpose(image, order)
    channels = [numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension]
    kernel = b.transpose(kernel, [*numbers.kernel_spatial_dimensions, *channels])
    groups, batch_groups = int(op.feature_group_count), int(op.batch_group_count)
    if batch_groups > 1:
        image, groups = _batches_as_channels(t, image, batch_groups), batch_groups
    reversed_axes = [axis for axis, flag in enumerate(_list(op.window_reversal, count, default=False)) if flag]
    if reversed_axes:
        kernel = t.b.reverse(kernel, reversed_axes)
    window = _Window(
        [int(n) for n in _list(op.window_strides, count)],
        paddings,
        [int(n) for n in _list(op.lhs_dilation, count)],
        [int(n) for n in _list(op.rhs_dilation, count)],
        groups,
    )
    by_places = count not in {1, 2, 3} or "int" in dtype
    if count == 1 and not by_places:  # as an image of height 1
        image, kernel = b.expand(image, 1), b.expand(kernel, 0)
        window = _Window(
            [1, *window.strides], [(0, 0), *window.paddings], [1, *window.spacing], [1, *window.dilations], groups
        )
    spaced_out = max(window.spacing, default=1) > 1
    result = _spaced_convolution(t, image, kernel, window) if spaced_out and not by_places else None
    if result is None:
        for axis, spacing in enumerate(window.spacing):
            if spacing > 1:
                image = spaced(t, image, axis + 1, spacing - 1, b.constant(0, dtype))
        result = (_convolution_by_places if by_places else _plain_convolution)(t, image, kernel, window)
    if count == 1 and not by_places:
        shape = b.sizes(result)
        result = b.reshape(result, [shape[0], *shape[2:]])
    order = [numbers.output_batch_dimension, *numbers.output_spatial_dimensions, numbers.output_feature_dimension]
    return b.cast(b.transpose(result, cast("list[int]", np.argsort(order).tolist())), wanted)


def _list(attribute: Any, count: int, *, default: int = 1) -> list[Any]:
    return [default] * count if attribute is None else list(attribute)


def _batches_as_channels(t: Translation, image: ir.Value, groups: int) -> ir.Value:
    """Turns ``[g n, ..., c]`` into ``[n, ..., g c]``: groups of batches are convolved like groups of channels."""
    b = t.b
    batch, *spatial, channels = b.sizes(image)
    apart = b.reshape(image, [groups, batch // groups, *spatial, channels])
    rank = len(spatial) + 3
    moved = b.transpose(apart, [*range(1, rank - 1), 0, rank - 1])
    return b.reshape(moved, [batch // groups, *spatial, channels * groups])


def _plain_convolution(t: Translation, image: ir.Value, kernel: ir.Value, window: _Window) -> ir.Value:
    b = t.b
    sizes, kernel_shape = b.shape(image), b.shape(kernel)
    channels, outputs = sizes[-1], kernel_shape[-1]
    if channels is None or outputs is None or None in kernel_shape:
        raise GraphError("the channels of a convolution must be known")
    extents = [(cast("int", n) - 1) * d + 1 for n, d in zip(kernel_shape[:-2], window.dilations, strict=True)]
    padding = padding_name(sizes[1:-1], extents, window.strides, window.paddings)
    if padding is None:
        image = _padded_image(t, image, window.paddings)
        padding = "VALID"
    three = len(window.strides) == 3
    along = zip(b.shape(image)[1:-1], extents, window.strides, strict=True)
    counts = [position_count(size, extent, stride, padding) for size, extent, stride in along]
    shape = [b.shape(image)[0], *counts, outputs]
    options: dict[str, Any] = {
        "strides": [1, *window.strides, 1],
        "dilations": [1, *window.dilations, 1],
        "padding": padding,
        "data_format": "NDHWC" if three else "NHWC",
    }
    if not three:
        options["explicit_paddings"] = []
    dtype = b.dtype(image)
    if not three and window.groups == channels > 1 and kernel_shape[-2] == 1 and len(set(window.strides)) == 1:
        height, width, _, _ = cast("tuple[int, ...]", kernel_shape)
        depthwise = b.reshape(kernel, [height, width, channels, outputs // channels])
        return b.op("DepthwiseConv2dNative", [image, depthwise], shape, dtype, **options)
    if not three:
        options["use_cudnn_on_gpu"] = True
    return b.op("Conv3D" if three else "Conv2D", [image, kernel], shape, dtype, **options)


def _convolution_by_places(t: Translation, image: ir.Value, kernel: ir.Value, window: _Window) -> ir.Value:
    """Adds up the products with the kernel at each of its places: of integers, and in any number of dimensions."""
    b, shape = t.b, t.b.shape(kernel)
    if None in shape:
        raise GraphError("the sizes of a kernel must be known")
    *extent, depth, outputs = cast("tuple[int, ...]", shape)
    if math.prod(extent) > _MOST_PLACES:
        raise GraphError(f"a kernel of more than {_MOST_PLACES} places is not supported for this dtype or rank")
    image = _padded_image(t, image, window.paddings)
    dims, share = b.sizes(image), outputs // window.groups
    groups: list[ir.Value] = []
    for group in range(window.groups):
        part = b.slice(image, len(dims) - 1, group * depth, (group + 1) * depth)
        weights = b.slice(kernel, len(dims) - 1, group * share, (group + 1) * share)
        total: ir.Value | None = None
        for place in itertools.product(*(range(size) for size in extent)):
            cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
            for axis, (begin, size) in enumerate(zip(place, extent, strict=True)):
                step = window.dilations[axis]
                end = dims[axis + 1] - (size - 1 - begin) * step
                cut[axis + 1] = (begin * step, end, window.strides[axis])
            seen = b.slices(part, cut) if cut else part
            sizes = b.sizes(seen)
            one = {axis: (begin, begin + 1, 1) for axis, begin in enumerate(place)}
            matrix = b.reshape(b.slices(weights, cast("Any", one)) if one else weights, [depth, share])
            rows = b.reshape(seen, [b.product(sizes[:-1]), depth])
            kind, plain = [b.shape(rows)[0], share], {"transpose_a": False, "transpose_b": False}
            product = b.op("MatMul", [rows, matrix], kind, b.dtype(image), **plain)
            product = b.reshape(product, [*sizes[:-1], share])
            total = product if total is None else total + product
        assert total is not None
        groups.append(total)
    return b.concat(groups, len(dims) - 1)


def _padded_image(t: Translation, image: ir.Value, paddings: Sequence[tuple[MixedSize, MixedSize]]) -> ir.Value:
    b = t.b
    more = [tuple(max(n, 0) if isinstance(n, int) else n for n in pair) for pair in paddings]
    image = b.pad(image, cast("list[tuple[MixedSize, MixedSize]]", [(0, 0), *more, (0, 0)]))
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    for axis, (low, high) in enumerate(paddings, 1):
        begin = -low if isinstance(low, int) and low < 0 else 0
        end = b.size(image, axis) + high if isinstance(high, int) and high < 0 else None
        if begin or end is not None:
            cut[axis] = (begin, end, 1)
    return b.slices(image, cut) if cut else image


def _spaced_convolution(t: Translation, image: ir.Value, kernel: ir.Value, window: _Window) -> ir.Value | None:
    """Emits a convolution of an image with zeros between its elements: the transposed convolution.

    TensorFlow's is the gradient of a convolution with the reversed kernel, without padding: it has (n - 1) s + k
    elements, which are cut to the window.
    """
    b = t.b
    kernel_shape, sizes = b.shape(kernel), b.shape(image)
    plain = len(window.strides) == 2 and set(window.strides) == {1} and set(window.dilations) == {1}
    known = None not in kernel_shape and all(isinstance(n, int) for pair in window.paddings for n in pair)
    if not plain or not known or window.groups != 1 or None in sizes[1:]:
        return None
    height, width, _, outputs = cast("tuple[int, ...]", kernel_shape)
    turned = b.transpose(b.reverse(kernel, [0, 1]), [0, 1, 3, 2])
    spatial = cast("list[int]", list(sizes[1:-1]))
    extents = [height, width]
    whole = [(n - 1) * s + k for n, s, k in zip(spatial, window.spacing, extents, strict=True)]
    cuts = [
        (k - 1 - cast("int", low), k - 1 - cast("int", high))
        for k, (low, high) in zip(extents, window.paddings, strict=True)
    ]
    if any(cut < 0 for pair in cuts for cut in pair):
        return None
    wanted = [n - low - high for n, (low, high) in zip(whole, cuts, strict=True)]
    same = all(
        size == n * s and max(k - s, 0) == low + high and low == max(k - s, 0) // 2
        for size, n, s, k, (low, high) in zip(wanted, spatial, window.spacing, extents, cuts, strict=True)
    )
    target = wanted if same else whole
    dims: list[MixedSize] = [b.size(image, 0), *target, outputs]
    result = b.op(
        "Conv2DBackpropInput",
        [b.vector(dims), turned, image],
        [sizes[0], *target, outputs],
        b.dtype(image),
        strides=[1, *window.spacing, 1],
        padding="SAME" if same else "VALID",
        use_cudnn_on_gpu=True,
        explicit_paddings=[],
        data_format="NHWC",
        dilations=[1, 1, 1, 1],
    )
    if same or wanted == whole:
        return result
    ends = enumerate(zip(cuts, wanted, strict=True), 1)
    return b.slices(result, {axis: (low, low + size, 1) for axis, ((low, _), size) in ends})


RULES: Rules = {"stablehlo.convolution": _convolution, "stablehlo.dynamic_conv": _dynamic_conv}
