"""Convolutions of volumes with groups of channels: LiteRT's op supports one group only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor


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
