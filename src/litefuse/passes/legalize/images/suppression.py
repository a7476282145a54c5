"""Non-maximum suppression by LiteRT's ops, whose kernels need boxes, scores and thresholds of a certain form.

The kernel puts each box that it selects back among the candidates, and counts on its overlap with itself to be 1 and to
suppress it: a box without an area, of which that is 0, is selected again and again, in the place of others. It
suppresses boxes that overlap by exactly the threshold, so by 0 too, which TensorFlow does not. And of equal scores it
takes any first, where TensorFlow takes the lowest index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

_FLOATS = np.finfo(np.float32)
_SMALLEST, _LARGEST = float(_FLOATS.tiny), float(_FLOATS.max)
# Boxes in the place of those that overlap none: far from all others and from each other, of an area of 1e30.
FAR, _STEP = (0.0, 0.0, 1e30, 1.0), (2e30, 0.0, 2e30, 0.0)
# Positions of that many scores are exact in float32.
_POSITIONS = 2.0**24
# Of a number m * 2 ** e, three quarters of a unit in the last place times m are rounded to one unit.
_UNIT = 0.75 * float(_FLOATS.eps)


def boxes_of_four(b: Builder, boxes: Tensor) -> Tensor:
    """Emits boxes ``[n, 4]`` whose 4 the op requires, and only its definition implies."""
    return boxes if boxes.shape[1] is not None else b.reshape(boxes, [b.size(boxes, 0), 4])


def suppressed(
    b: Builder,
    boxes: Tensor,
    scores: Tensor,
    number: Tensor,
    iou: Tensor,
    least: Tensor,
    *,
    length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Emits NON_MAX_SUPPRESSION_V4 of boxes by descending scores, of equal ones the lowest index first.

    Args:
        b: Emits the ops.
        boxes: float32 ``[n, 4]`` as ``apart`` returns them.
        scores: float32 ``[n]``.
        number: int32 scalar, the maximum number of boxes.
        iou: float32 scalar; boxes whose intersection over union with a chosen one is this or more are dropped.
        least: float32 scalar; boxes whose score is this or less are dropped.
        length: The value of ``number``, if it is known.

    Returns:
        int32 ``[number]``, the indices of the chosen boxes, padded with zeros, and their number.
    """
    from litefuse.ir.tensors import select  # late, as in best_boxes

    # The fault `suppression-of-equal-scores`.
    size = b.size(scores, 0)
    kinds = [(scores.shape, kind) for kind in ("float32", "int32")]
    values, order = b.ops("TopKV2", [scores, b.scalar(size)], kinds, sorted=True)
    # 2 ** 24 - 1, 2 ** 24 - 2, ... for candidates, 0 for others.
    candidates = b.cast(values > least, "float32")
    ranks = candidates * (_POSITIONS - b.cumsum(candidates, 0))
    operands = [b.gather(boxes, order), ranks, number, iou, b.constant(0.0, "float32")]
    places, valid = best_boxes(operands, length=length)
    # Beyond the chosen boxes stands the zero behind the last index, even if there is none.
    beyond = b.range(length if length is not None else number) >= valid
    places = select(beyond, b.scalar(size), places)
    return b.gather(b.concat([order, b.constant([0], "int32")], 0), places), valid


def best_boxes(operands: Sequence[Tensor], *, length: int | None = None) -> tuple[Tensor, Tensor]:
    """As ``suppressed``, of boxes, scores, ..., with any of equal scores first: NON_MAX_SUPPRESSION_V4 alone."""
    from litefuse.ir.mlir import ir  # late: quantization reads ``FAR`` without an engine
    from litefuse.ir.op_creation import create_op

    int32 = ir.IntegerType.get_signless(32)
    size = ir.ShapedType.get_dynamic_size() if length is None else length
    kinds = [ir.RankedTensorType.get([size], int32), ir.RankedTensorType.get([], int32)]
    # Not the TensorFlow op, which would be rewritten again.
    op = create_op("tfl.non_max_suppression_v4", kinds, operands)
    return op.results[0], op.results[1]


def apart(b: Builder, boxes: Tensor, none_overlap: Tensor | None = None) -> Tensor:
    """Emits boxes with others, far away, in the place of those that overlap none: without an area, NaN or infinite.

    Args:
        b: Emits the ops.
        boxes: float32 ``[..., n, 4]``, two corners ``(y, x, y, x)`` in any order.
        none_overlap: Whether no box overlaps another, a bool scalar; None for no.
    """
    from litefuse.ir.tensors import select  # late, as in best_boxes

    # The fault `suppression-of-empty-boxes`.
    last = len(boxes.shape) - 1
    corners = [b.slice(boxes, last, begin, begin + 2) for begin in (0, 2)]
    areas = b.reduce("Prod", abs(b.binary("Sub", *corners)), last, keep_dims=True)
    # The union of a larger one with itself is infinite.
    areal = [areas >= _SMALLEST, areas <= _LARGEST / 2]
    if none_overlap is not None:
        areal.append(~none_overlap)
    whole = areal[0]
    for condition in areal[1:]:
        whole = b.op("LogicalAnd", [whole, condition], areas.shape, "bool")
    count = b.cumsum(select(whole, b.constant(0.0, "float32"), b.constant(1.0, "float32")), last - 1)
    step, first = (b.constant(values, "float32") for values in (_STEP, FAR))
    return select(whole, boxes, count * step + first)


def threshold_above(
    b: Builder, iou: Tensor, known: npt.NDArray[Any] | None, *, inclusive: bool
) -> tuple[Tensor, Tensor | None]:
    """Emits the threshold for the kernel, and whether no boxes overlap by that much, even equal ones.

    Args:
        b: Emits the ops.
        iou: float32 scalar, the threshold.
        known: Its value, if it is a constant.
        inclusive: Whether boxes that overlap by exactly the threshold are suppressed; without any overlap none is.

    Returns:
        float32 scalar; bool scalar, or None if it is known to be false.
    """
    from litefuse.ir.tensors import maximum, minimum  # late, as in best_boxes

    # The fault `suppression-at-the-threshold`.
    if known is not None:
        value = np.float32(known)
        raised = max(value if inclusive else np.nextafter(value, np.float32(2)), np.float32(_SMALLEST))
        none_overlap = value > 1 if inclusive else value >= 1
        return b.constant(min(float(raised), 1.0), "float32"), b.constant(True, "bool") if none_overlap else None
    raised = iou if inclusive else iou + iou * _UNIT
    raised = minimum(maximum(raised, _SMALLEST), 1.0)
    return raised, b.compare("Greater" if inclusive else "GreaterEqual", iou, 1.0)


def overlaps(b: Builder, boxes: Tensor, box: Tensor) -> Tensor:
    """Emits the intersection over union ``[n]`` of boxes ``[n, 4]``, as ``apart`` returns them, with a box ``[4]``."""
    from litefuse.ir.tensors import maximum, minimum  # late, as in best_boxes

    def extents(value: Tensor, axis: int) -> tuple[Tensor, Tensor, Tensor]:
        first, second = (b.slice(value, axis, begin, begin + 2) for begin in (0, 2))
        low, high = minimum(first, second), maximum(first, second)
        return low, high, b.reduce("Prod", high - low, axis)

    low, high, areas = extents(boxes, 1)
    low_of_box, high_of_box, area = extents(box, 0)
    shared = minimum(high, high_of_box) - maximum(low, low_of_box)
    common = b.reduce("Prod", maximum(shared, 0.0), 1)
    return common / (areas + area - common)
