"""Convolutions, pooling and other sliding-window ops."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.ir.ops.dims import Dim, minimum
from litefuse.ir.ops.facts import (
    Answer,
    Dims,
    Op,
    PartialDims,
    Rule,
    ShapeError,
    Undecided,
    meet,
    meet_dims,
    size_or_none,
    text,
)
from litefuse.ir.ops.rules.layout import stated_shape


def _axes(op: Op, rank: int) -> tuple[range, int]:
    """Returns the spatial dimensions and the channel dimension."""
    layout: str = op.attribute("data_format", "NHWC" if rank == 4 else "NDHWC")
    if layout in {"NCHW", "NCDHW"}:
        return range(2, rank), 1
    if layout not in {"NHWC", "NDHWC"}:
        raise Undecided(f"the layout {layout}")
    return range(1, rank - 1), rank - 1


def _steps(size: Dim | None, window: Dim | None, stride: int, padding: str, pads: tuple[int, int]) -> Dim | None:
    """Returns the number of window positions along one dimension.

    ``SAME``: ``ceil(size / stride)``; ``VALID``: ``ceil((size - window + 1) / stride)``.
    """
    if size is None:
        return None
    if padding == "SAME":
        return (size + (stride - 1)) // stride if stride > 1 else size
    if window is None:
        return None
    room = size + sum(pads) - window
    if isinstance(room, int) and room < 0:
        raise ShapeError(f"a window of {window} does not fit into {size}")
    return room // stride + 1 if stride > 1 else room + 1


def _windows(op: Op, shape: Dims, window: Sequence[Dim | None], channels: Dim | None) -> PartialDims:
    """Returns the result shape of a window of these sizes (one per spatial dimension) over a tensor."""
    spatial, channel_axis = _axes(op, len(shape))
    strides: list[int] = op.attribute("strides", [1] * len(shape))
    dilations: list[int] = op.attribute("dilations", None) or [1] * len(shape)
    padding: str = op.attribute("padding")
    explicit: list[int] = op.attribute("explicit_paddings", None) or [0] * (2 * len(shape))
    result: list[Dim | None] = list(shape)
    result[channel_axis] = channels
    for axis, size in zip(spatial, window, strict=True):
        covered = None if size is None else (size - 1) * dilations[axis] + 1
        pads = (explicit[2 * axis], explicit[2 * axis + 1]) if padding == "EXPLICIT" else (0, 0)
        result[axis] = _steps(shape[axis], covered, strides[axis], padding, pads)
    return tuple(result)


def _convolution(op: Op) -> Answer:
    rank = 5 if op.name == "Conv3D" else 4
    shape = op.ranked(0, rank)
    filters = op.operands[1].shape
    if filters is None:
        return _windows(op, shape, [None] * (rank - 2), None)
    filters = op.ranked(1, rank)
    _, channel_axis = _axes(op, rank)
    channels, taken = shape[channel_axis], filters[-2]
    if isinstance(channels, int) and isinstance(taken, int) and (taken == 0 or channels % taken):
        raise ShapeError(f"the value {text(shape)} and the filters {text(filters)} differ in channels")
    return _windows(op, shape, filters[:-2], filters[-1])


def _depthwise(op: Op) -> Answer:
    shape = op.ranked(0, 4)
    filters = op.operands[1].shape
    if filters is None:
        return _windows(op, shape, [None, None], None)
    filters = op.ranked(1, 4)
    _, channel_axis = _axes(op, 4)
    meet((shape[channel_axis],), (filters[2],))
    channels = filters[2] if isinstance(filters[2], int) else shape[channel_axis]
    return _windows(op, shape, filters[:2], channels * filters[3])


def _pool(op: Op) -> Answer:
    rank = 5 if op.name.endswith("3D") else 4
    shape = op.ranked(0, rank)
    spatial, channel_axis = _axes(op, rank)
    sizes: list[int] = op.attribute("ksize")
    return _windows(op, shape, [sizes[axis] for axis in spatial], shape[channel_axis])


def _pool_with_argmax(op: Op) -> Answer:
    shape = op.ranked(0, 4)
    sizes: list[int] = op.attribute("ksize")
    result = _windows(op, shape, sizes[1:3], shape[3])
    return [result, result]


def _conv_transpose(op: Op) -> Answer:
    """Has the stated shape; its batch is the operand's."""
    rank = 5 if op.name.startswith("Conv3D") else 4
    batch = op.operands[2].shape
    try:
        result = stated_shape(op, 0)
    except Undecided:
        result = (None,) * rank
    if result is not None and len(result) == rank - 2:  # only the spatial sizes
        return None
    return meet(result, None if batch is None else (batch[0], *[None] * (rank - 1)))


def _dilation(op: Op) -> Answer:
    shape, filters = op.ranked(0, 4), op.ranked(1, 3)
    strides: list[int] = op.attribute("strides")
    rates: list[int] = op.attribute("rates")
    padding: str = op.attribute("padding")
    sizes = [
        _steps(shape[axis], (filters[axis - 1] - 1) * rates[axis] + 1, strides[axis], padding, (0, 0))
        for axis in (1, 2)
    ]
    return (shape[0], *sizes, meet_dims(shape[3], filters[2]))


def _extract_patches(op: Op) -> Answer:
    shape = op.ranked(0, 4)
    sizes: list[int] = op.attribute("ksizes")
    strides: list[int] = op.attribute("strides")
    rates: list[int] = op.attribute("rates")
    padding: str = op.attribute("padding")
    places = [
        _steps(shape[axis], (sizes[axis] - 1) * rates[axis] + 1, strides[axis], padding, (0, 0)) for axis in (1, 2)
    ]
    return (shape[0], *places, shape[3] * (sizes[1] * sizes[2]))


def _stated_sizes(op: Op, operand: int) -> list[Dim | None]:
    """Returns the rows and columns that a vector states."""
    try:
        rows, columns = op.vector(operand)
    except Undecided:
        return [None, None]
    return [size_or_none(rows), size_or_none(columns)]


def _resized_by(operand: int) -> Rule:
    """Resizes images to the sizes that an operand states."""

    def rule(op: Op) -> Answer:
        batch, _, _, channels = op.ranked(0, 4)
        return (batch, *_stated_sizes(op, operand), channels)

    return rule


def _crop_and_resize(op: Op) -> Answer:
    shape = op.ranked(0, 4)
    boxes = meet_dims(op.ranked(1, 2)[0], op.ranked(2, 1)[0])
    return (boxes, *_stated_sizes(op, 3), shape[3])


def _suppression(op: Op) -> Answer:
    """``NonMaxSuppression``: the number of chosen boxes is unknown, unless the result is padded."""
    try:
        limit = op.scalar(2)
    except Undecided:
        limit = None
    padded = limit if op.attribute("pad_to_max_output_size", False) else None
    if op.name == "NonMaxSuppressionV5":
        return [(padded,), (padded,), ()]
    return [(padded,), ()] if op.name == "NonMaxSuppressionV4" else (None,)


def _combined_suppression(op: Op) -> Answer:
    """Has the boxes, scores and classes of each image, and how many of them are valid."""
    images = op.ranked(0, 4)[0]
    classes = op.ranked(1, 3)[2]
    total, per_class = op.size(3), op.size(2)
    if op.attribute("pad_per_class", False):
        total = None if total is None or per_class is None else minimum(total, per_class * classes)
    return [(images, total, 4), (images, total), (images, total), (images,)]


def _greedy_decoder(op: Op) -> Answer:
    """Has indices, values and shape of a sparse tensor, and the negative sum of each row's logits."""
    rows = meet_dims(op.ranked(0, 3)[1], op.ranked(1, 1)[0])
    return [(None, 2), (None,), (2,), (rows, 1)]


RULES: dict[str, Rule] = {
    "CTCGreedyDecoder": _greedy_decoder,
    "CombinedNonMaxSuppression": _combined_suppression,
    "AvgPool": _pool,
    "AvgPool3D": _pool,
    "Conv2D": _convolution,
    "Conv2DBackpropInput": _conv_transpose,
    "Conv3D": _convolution,
    "Conv3DBackpropInputV2": _conv_transpose,
    "CropAndResize": _crop_and_resize,
    "DepthwiseConv2dNative": _depthwise,
    "Dilation2D": _dilation,
    "ExtractImagePatches": _extract_patches,
    "MaxPool": _pool,
    "MaxPool3D": _pool,
    "MaxPoolWithArgmax": _pool_with_argmax,
    **dict.fromkeys(
        [
            "NonMaxSuppression",
            "NonMaxSuppressionV2",
            "NonMaxSuppressionV3",
            "NonMaxSuppressionV4",
            "NonMaxSuppressionV5",
        ],
        _suppression,
    ),
    **dict.fromkeys(["ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"], _resized_by(1)),
    **dict.fromkeys(["ImageProjectiveTransformV2", "ImageProjectiveTransformV3"], _resized_by(2)),
}
