"""``CombinedNonMaxSuppression``: LiteRT's op for every class of every image, then the best of the remaining boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, minimum, select
from litefuse.passes.legalize.arrays.loops import count_to, write_row
from litefuse.passes.legalize.decomposition import before_engine, decomposition
from litefuse.passes.legalize.images.suppression import apart, best_boxes, threshold_above

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

_LOWEST = float(np.finfo(np.float32).min)


@decomposition("CombinedNonMaxSuppression")
# It has a loop, which only the engine can lower; faults `suppression-of-empty-boxes`, `suppression-at-the-threshold`.
@before_engine("CombinedNonMaxSuppression")
def combined_non_max_suppression(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Emits a loop of NON_MAX_SUPPRESSION_V4, then TOPK_V2 over all classes of an image.

    ::

        for i in range(batch * classes):
            chosen[i], valid[i] = NonMaxSuppressionV4(boxes[i], scores[i], max_output_size_per_class, ...)
        best = TopKV2(where(range < valid, scores at chosen, -inf), k)

    TensorFlow does not define the order of equal scores; here the lower class comes first.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/combined_non_max_suppression.
    """
    *_, boxes_per_place, _ = op.shape(0, 4)
    classes = op.shape(1, 3)[2]
    op.require(0, "float32")
    per_class, total = int(op.constant(2)), int(op.constant(3))
    if classes is None or boxes_per_place is None:
        raise NotDecomposed("the number of classes is not known")
    if boxes_per_place not in (1, classes):
        raise NotDecomposed(f"there are boxes of {boxes_per_place} classes, but scores of {classes}")
    boxes, scores, *_, iou, least = op.operands
    batch, places = b.size(scores, 0), b.size(scores, 1)
    rows = batch * classes
    by_class = b.reshape(b.transpose(scores, [0, 2, 1]), [rows, places])
    box_rows = batch * boxes_per_place
    box_sets = b.reshape(b.transpose(boxes, [0, 2, 1, 3]), [box_rows, places, 4])
    iou, none_overlap = threshold_above(b, iou, op.constants[4], inclusive=False)
    distinct = apart(b, box_sets, none_overlap)

    def boxes_of(row: Tensor) -> Tensor:
        return row if boxes_per_place == classes else row // classes

    def suppress(row: Tensor, found: Sequence[Tensor]) -> Sequence[Tensor]:
        chosen, valid = found
        operands = [b.gather(distinct, boxes_of(row)), b.gather(by_class, row), size, iou, least]
        indices, count = best_boxes(operands, length=per_class)
        return [write_row(b, chosen, indices, row), write_row(b, valid, count, row)]

    size = b.constant(per_class, "int32")
    start = [b.fill([rows, per_class], 0, "int32"), b.fill([rows], 0, "int32")]
    chosen, valid = count_to(b, rows, start, suppress)

    # The best boxes of all classes of an image.
    is_valid = b.constant(np.arange(per_class), "int32") < b.expand(valid, 1)
    kept = select(is_valid, _at(b, by_class, chosen), _LOWEST)
    width = classes * per_class
    best = min(total, width)
    values, order = b.ops(
        "TopKV2",
        [b.reshape(kept, [batch, width]), b.constant(best, "int32")],
        [(b.known([batch, best]), "float32"), (b.known([batch, best]), "int32")],
        sorted=True,
    )
    detections = b.reduce("Sum", b.reshape(valid, [batch, classes]), 1)
    detections = minimum(detections, best)
    is_detection = b.constant(np.arange(best), "int32") < b.expand(detections, 1)

    class_of = order // per_class
    sets = box_sets
    if boxes_per_place != classes:  # all classes share the boxes
        places_of = _at(b, b.reshape(chosen, [batch, width]), order)
    else:
        offsets = class_of * b.scalar(places)
        places_of = _at(b, b.reshape(chosen, [batch, width]), order) + offsets
        sets = b.reshape(sets, [batch, classes * places, 4])
    result = _at(b, sets, places_of)
    if op.attributes.get("clip_boxes", True):
        result = minimum(maximum(result, 0.0), 1.0)
    result = select(b.expand(is_detection, 2), result, 0.0)
    values = select(is_detection, values, 0.0)
    of_class = select(is_detection, b.cast(class_of, "float32"), 0.0)
    missing = 0 if op.attributes.get("pad_per_class", False) else total - best
    return [
        b.pad(result, [(0, 0), (0, missing), (0, 0)]),
        b.pad(values, [(0, 0), (0, missing)]),
        b.pad(of_class, [(0, 0), (0, missing)]),
        detections,
    ]


def _at(b: Builder, values: Tensor, indices: Tensor) -> Tensor:
    """Gathers values at their own indices for each position of the first dimension."""
    shape = (*indices.shape, *values.shape[2:])
    axis = b.constant(1, "int32")
    return b.op("GatherV2", [values, indices, axis], shape, values.dtype, batch_dims=1)
