"""Convolutions of images whose filters or channels are dynamic, and of volumes with groups of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor


@decomposition("Conv2D", "Conv3D", "DepthwiseConv2dNative", order=1)
def open_channels(op: TensorFlowOp, b: Builder) -> Tensor:
    """Reshapes the image to the filter's number of channels, which changes only its type.

    A grouped convolution has a multiple of these channels: then the reshape fails at run time.

    Fault ``convolution-of-open-channels``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/conv2d, depthwise_conv2d, conv3d.
    """
    image, filters = op.shape(0), op.shape(1)
    channels, made = filters[-2:]
    if image[-1] is not None or not str(op.attributes.get("data_format", "NHWC")).endswith("C"):
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype} in this form")
    if channels is None or made is None:
        raise NotDecomposed("the number of channels is unknown")
    last = channels * made if op.name == "DepthwiseConv2dNative" else made
    shape = op.results[0].shape or (None,) * len(image)
    sizes = b.sizes(op.operands[0])[:-1]
    # If the reshape inferred a dynamic batch, it would turn groups into images.
    operands = [op.operands[0], b.vector([*sizes, channels])]
    closed = b.op("Reshape", operands, [*image[:-1], channels], op.types[0].dtype)
    return b.op(op.name, [closed, op.operands[1]], [*shape[:-1], last], op.results[0].dtype, **b.options(op))


@decomposition("Conv2D", order=2)
def open_filter(op: TensorFlowOp, b: Builder) -> Tensor:
    """A convolution of volumes of depth 1, whose filter may have any size.

    A grouped convolution is refused at run time: only there is it known that the numbers of channels differ.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/conv2d.
    """
    image, filters = op.shape(0, 4), op.shape(1, 4)
    if None not in filters or op.attributes.get("data_format", "NHWC") != "NHWC":
        raise NotDecomposed(f"LiteRT's Conv2D does not take {op.types[0].dtype} in this form")
    op.require(0, "float32")
    if None not in (image[3], filters[2]) and image[3] != filters[2]:
        raise NotDecomposed("it has groups of channels, and a filter of unknown size")
    value, padding = op.operands[0], str(op.attributes["padding"])
    if padding == "EXPLICIT":
        amounts: list[int] = list(op.attributes["explicit_paddings"])
        value, padding = b.pad(value, list(zip(amounts[::2], amounts[1::2], strict=True))), "VALID"
    options = {key: [1, 1, *op.attributes.get(key, [1, 1, 1, 1])[1:3], 1] for key in ("strides", "dilations")}
    batch, *space, made = op.results[0].shape or (None,) * 4
    volumes = b.op(
        "Conv3D",
        [b.expand(value, 1), b.expand(op.operands[1], 0)],
        [image[0] if batch is None else batch, 1, *space, filters[3] if made is None else made],
        "float32",
        padding=padding,
        data_format="NDHWC",
        **options,
    )
    sizes = b.sizes(volumes)
    return b.reshape(volumes, [sizes[0], *sizes[2:]])


@decomposition("DepthwiseConv2dNative", order=2)
def open_depthwise_filter(op: TensorFlowOp, b: Builder) -> Tensor:
    """Gathers the pixels of each window, and sums up their products with the filter.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/depthwise_conv2d.
    """
    op.shape(0, 4)
    if None not in op.shape(1, 4) or op.attributes.get("data_format", "NHWC") != "NHWC":
        raise NotDecomposed(f"LiteRT's DepthwiseConv2dNative does not take {op.types[0].dtype} in this form")
    op.require(0, "float32")
    value, filters = op.operands
    rows, columns, channels, multiplier = b.sizes(filters)
    padding, explicit = str(op.attributes["padding"]), list(op.attributes.get("explicit_paddings", []))
    counts: list[MixedSize] = []
    for axis, length in ((1, rows), (2, columns)):
        stride, dilation = (int(op.attributes.get(key, [1] * 4)[axis]) for key in ("strides", "dilations"))
        reach = (length - 1) * dilation + 1
        size = b.size(value, axis)
        before: MixedSize = 0
        after: MixedSize = 0
        if padding == "SAME":
            last = (size - 1) // stride * stride
            total = maximum(last + reach - size, 0)
            before = total // 2
            after = total - before
        elif padding == "EXPLICIT":
            before, after = explicit[2 * axis : 2 * axis + 2]
        value = b.pad(value, [(before, after) if each == axis else (0, 0) for each in range(4)])
        free = b.size(value, axis) - reach
        count = free // stride + 1
        first = b.expand(b.range(count) * stride, 1)
        places = first + b.expand(b.range(length) * dilation, 0)
        value = b.gather(value, b.reshape(places, [count * length]), axis)
        counts.append(count)
    batch, (height, width) = b.size(value, 0), counts
    apart = b.reshape(value, [batch, height, rows, width, columns * channels])
    windows = b.product([batch, height, width])
    pixels = rows * columns
    value = b.reshape(b.transpose(apart, [0, 1, 3, 2, 4]), [windows, pixels, channels, 1])
    products = value * b.reshape(filters, [1, pixels, channels, multiplier])
    return b.reshape(b.reduce("Sum", products, 1), [batch, height, width, channels * multiplier])


@decomposition("Conv3D")
# Fault `volumes-in-groups`.
@before_engine("Conv3D", dtypes=("float32",))
class GroupedVolumes(Decomposition):
    """Sums over the planes of the filter, each convolved with planes of the volume::

        conv3d(x, w)[:, d] = sum of conv2d(x[:, stride d + rate k], w[k]) over k

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/conv3d.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        volumes, kernel = op.types[0].shape, op.types[1].shape
        if volumes is None or kernel is None:
            return False
        channels, per_group = volumes[_places(op)[-1]], kernel[3]
        return channels is not None and per_group is not None and channels != per_group

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0, 5)
        op.require(0, "float32")
        order = _places(op)
        depth_size, height, width, per_group, outputs = op.shape(1, 5)
        if depth_size is None or height is None or width is None or per_group is None or outputs is None:
            raise NotDecomposed("the size of its filter is unknown")
        sizes: tuple[int, ...] = (depth_size, height, width)
        strides, rates = (
            [int(values[axis]) for axis in order[1:-1]]
            for values in (op.attributes["strides"], op.attributes.get("dilations", [1] * 5))
        )
        padding = op.attributes["padding"]
        volumes = b.transpose(op.operands[0], order)
        batch, *extents, channels = b.sizes(volumes)
        if not isinstance(channels, int):
            raise NotDecomposed("the number of channels is unknown")
        depth, rows, columns = (
            WindowAxis.of(*axis, padding) for axis in zip(extents, sizes, strides, rates, strict=True)
        )
        padded = b.pad(volumes, [(0, 0), (depth.before, depth.after), (0, 0), (0, 0), (0, 0)])
        planes = b.product([batch, depth.count])
        shape = b.known([planes, rows.count, columns.count, outputs])
        attributes: dict[str, Any] = {
            "strides": [1, *strides[1:], 1],
            "dilations": [1, *rates[1:], 1],
            "padding": padding,
            "data_format": "NHWC",
            "explicit_paddings": [],
        }
        depthwise = per_group == 1 and strides[1] == strides[2]
        name = "DepthwiseConv2dNative" if depthwise else "Conv2D"
        kernel = (height, width, channels, outputs // channels) if depthwise else (height, width, per_group, outputs)
        if not depthwise:
            attributes["use_cudnn_on_gpu"] = True
        result: Tensor | None = None
        for number in range(depth_size):
            taken = b.slice(padded, 1, *depth.positions(number))
            images = b.reshape(taken, [planes, *extents[1:], channels])
            weights = b.reshape(b.slice(op.operands[1], 0, number, number + 1), kernel)
            part = b.op(name, [images, weights], shape, "float32", **attributes)
            result = part if result is None else result + part
        if result is None:
            raise NotDecomposed("its filter is empty")
        whole = b.reshape(result, [batch, depth.count, rows.count, columns.count, outputs])
        return b.transpose(whole, [order.index(axis) for axis in range(5)])


def _places(op: TensorFlowOp) -> list[int]:
    """Returns the dimensions of batch, depth, rows, columns and channels."""
    return [0, 2, 3, 4, 1] if op.attributes.get("data_format", "NDHWC") == "NCDHW" else [0, 1, 2, 3, 4]
