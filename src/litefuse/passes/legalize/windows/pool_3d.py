"""``MaxPool3D`` and ``AvgPool3D`` as two-dimensional pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor


@decomposition("MaxPool3D", "AvgPool3D")
def pool3_d(op: TensorFlowOp, b: Builder) -> Tensor:
    """Pools the rows and columns of every plane first, then the depth.

    A window is a box, so its maximum is the maximum of the planes' maxima. Its average, without the padding, is the
    average of the planes' averages, as every plane of a window has the same number of positions in the image.

    SAME windows with gaps between them start at the image's first position, as in the documentation and TensorFlow's
    oneDNN kernels; its Eigen kernels center them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool3d, avg_pool3d.
    """
    op.shape(0, 5)
    op.require(0, "float32")
    channels_first = op.attributes.get("data_format", "NDHWC") == "NCDHW"
    order = [0, 2, 3, 4, 1] if channels_first else [0, 1, 2, 3, 4]
    ksize: list[int] = [op.attributes["ksize"][axis] for axis in order]
    strides: list[int] = [op.attributes["strides"][axis] for axis in order]
    if any(values[axis] != 1 for values in (ksize, strides) for axis in (0, 4)):
        raise NotDecomposed("its windows reach over batch or channels")
    pool, padding = op.name.removesuffix("3D"), op.attributes["padding"]
    images = b.transpose(op.operands[0], order) if channels_first else op.operands[0]

    batch, depth, rows, columns, channels = b.sizes(images)
    planes = b.reshape(images, [b.product([batch, depth]), rows, columns, channels])
    planes = _pool(b, pool, planes, (ksize[2], ksize[3]), (strides[2], strides[3]), padding)
    _, rows, columns, _ = b.sizes(planes)
    stacks = b.reshape(planes, [batch, depth, b.product([rows, columns]), channels])
    stacks = _pool(b, pool, stacks, (ksize[1], 1), (strides[1], 1), padding)
    pooled = b.reshape(stacks, [batch, b.size(stacks, 1), rows, columns, channels])
    return b.transpose(pooled, [0, 4, 1, 2, 3]) if channels_first else pooled


def _pool(
    b: Builder, name: str, images: Tensor, size: tuple[int, int], strides: tuple[int, int], padding: str
) -> Tensor:
    shape = list(images.shape)
    for axis in (1, 2):
        extent = shape[axis]
        if extent is not None:
            taken = extent - size[axis - 1] + 1 if padding == "VALID" else extent
            if taken < 1:
                raise NotDecomposed(f"a window of {size[axis - 1]} positions does not fit into {extent}")
            shape[axis] = -(-taken // strides[axis - 1])
    attributes = {"ksize": [1, *size, 1], "strides": [1, *strides, 1], "padding": padding, "data_format": "NHWC"}
    return b.op(name, [images], shape, images.dtype, **attributes)
