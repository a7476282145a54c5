"""Convolutions of any layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.stablehlo.paddings import padding_name, position_count
from litefuse.stablehlo.rules.shapes import spaced
from litefuse.stablehlo.translation import Result, Rules, Translation

__all__ = ["RULES"]


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
    if count not in {1, 2, 3}:
        raise GraphError(f"convolutions of {count} spatial dimensions are not supported")
    dtype = t.dtype(op.results[0])
    image = b.cast(t.value(op.operands[0]), dtype)
    kernel = b.cast(t.value(op.operands[1]), dtype)
    image = b.transpose(
        image, [numbers.input_batch_dimension, *numbers.input_spatial_dimensions, numbers.input_feature_dimension]
    )
    kernel = b.transpose(
        kernel,
        [
            *numbers.kernel_spatial_dimensions,
            numbers.kernel_input_feature_dimension,
            numbers.kernel_output_feature_dimension,
        ],
    )
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
    if count == 1:  # as an image of height 1
        image, kernel = b.expand(image, 1), b.expand(kernel, 0)
        window = _Window(
            [1, *window.strides], [(0, 0), *window.paddings], [1, *window.spacing], [1, *window.dilations], groups
        )
    result = _spaced_convolution(t, image, kernel, window) if max(window.spacing) > 1 else None
    if result is None:
        for axis, spacing in enumerate(window.spacing):
            if spacing > 1:
                image = spaced(t, image, axis + 1, spacing - 1, b.constant(0, dtype))
        result = _plain_convolution(t, image, kernel, window)
    if count == 1:
        shape = b.sizes(result)
        result = b.reshape(result, [shape[0], *shape[2:]])
    order = [numbers.output_batch_dimension, *numbers.output_spatial_dimensions, numbers.output_feature_dimension]
    return b.transpose(result, cast("list[int]", np.argsort(order).tolist()))


def _list(attribute: Any, count: int, *, default: int = 1) -> list[Any]:
    return [default] * count if attribute is None else list(attribute)


def _batches_as_channels(t: Translation, image: ir.Value, groups: int) -> ir.Value:
    """Turns ``[g n, ..., c]`` into ``[n, ..., g c]``: groups of batches are convolved like groups of channels."""
    b = t.b
    batch, *spatial, channels = b.sizes(image)
    apart = b.reshape(image, [groups, b.dims("FloorDiv", batch, groups), *spatial, channels])
    rank = len(spatial) + 3
    moved = b.transpose(apart, [*range(1, rank - 1), 0, rank - 1])
    return b.reshape(moved, [b.dims("FloorDiv", batch, groups), *spatial, b.dims("Mul", channels, groups)])


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
    shape = [
        b.shape(image)[0],
        *(
            position_count(size, extent, stride, padding)
            for size, extent, stride in zip(b.shape(image)[1:-1], extents, window.strides, strict=True)
        ),
        outputs,
    ]
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


def _padded_image(t: Translation, image: ir.Value, paddings: Sequence[tuple[MixedSize, MixedSize]]) -> ir.Value:
    b = t.b
    more = [tuple(max(n, 0) if isinstance(n, int) else n for n in pair) for pair in paddings]
    image = b.pad(image, cast("list[tuple[MixedSize, MixedSize]]", [(0, 0), *more, (0, 0)]))
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    for axis, (low, high) in enumerate(paddings, 1):
        begin = -low if isinstance(low, int) and low < 0 else 0
        end = b.dims("AddV2", b.size(image, axis), high) if isinstance(high, int) and high < 0 else None
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
    return b.slices(
        result,
        {axis: (low, low + size, 1) for axis, ((low, _), size) in enumerate(zip(cuts, wanted, strict=True), 1)},
    )


RULES: Rules = {"stablehlo.convolution": _convolution, "stablehlo.dynamic_conv": _dynamic_conv}
