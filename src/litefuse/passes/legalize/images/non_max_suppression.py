"""``NonMaxSuppression`` in all its forms: hard by LiteRT's op, and a loop where scores decay."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, exp, maximum, minimum, not_equal, select
from litefuse.passes.legalize.arrays.loops import count_to, write_row
from litefuse.passes.legalize.decomposition import before_engine, decomposition
from litefuse.passes.legalize.images.suppression import apart, boxes_of_four, overlaps, suppressed, threshold_above

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

_LOWEST = float(np.finfo(np.float32).min)


@decomposition(
    *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
)
# Faults `padded-suppression`, `suppression-of-empty-boxes`, `suppression-at-the-threshold`,
# `suppression-of-equal-scores`, `suppression-by-decay`; a loop only the engine can lower.
@before_engine(
    *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
)
def non_max_suppression(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Emits NON_MAX_SUPPRESSION_V4 of what its kernel does right, or a loop over the boxes that are chosen.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression,
    non_max_suppression_with_scores.
    """
    _, columns = op.shape(0, 2)
    op.shape(1, 1)
    op.require(0, "float32")
    boxes, scores, number, *others = op.operands
    pads = op.attributes.get("pad_to_max_output_size", False)
    if pads and columns is not None and columns != 4:
        raise NotDecomposed("LiteRT's op for it takes boxes of four numbers")
    known = [*op.constants, None, None, None]
    if not others:
        known[3] = np.array(op.attributes.get("iou_threshold", 0.5), np.float32)
        others = [b.constant(known[3], "float32")]
    iou, least = others[0], others[1] if len(others) > 1 else b.constant(_LOWEST, "float32")
    length = None if known[2] is None else int(known[2])
    boxes = boxes_of_four(b, boxes)
    of_chosen: list[Tensor] = []
    if op.name == "NonMaxSuppressionV5" and (known[5] is None or known[5] > 0):
        chosen, *of_chosen, valid = _with_decay(b, [boxes, *op.operands[1:]], length, hard=known[5] is None)
    else:
        iou, none_overlap = threshold_above(b, iou, known[3], inclusive=False)
        boxes = apart(b, boxes, none_overlap)
        chosen, valid = suppressed(b, boxes, scores, number, iou, least, length=length)
        if op.name == "NonMaxSuppressionV5":
            is_chosen = b.range(length if length is not None else number) < valid
            of_chosen = [select(is_chosen, b.gather(_and_none(b, scores), chosen), 0.0)]
    padded = [chosen, *of_chosen]
    results = padded if pads else [b.slice(value, 0, 0, valid) for value in padded]
    return [*results, valid][: len(op.results)]


def _and_none(b: Builder, scores: Tensor) -> Tensor:
    """The scores, and one more for the index 0 where there are none."""
    return b.concat([scores, b.constant([0.0], "float32")], 0)


def _with_decay(b: Builder, operands: Sequence[Tensor], length: int | None, *, hard: bool) -> list[Tensor]:
    """Emits soft suppression: chosen boxes make the scores of those that they overlap smaller.

    ::

        for i in range(min(number, n)):
            chosen[i] = argmax(scores), if that is above the threshold
            scores *= exp(-iou(boxes, boxes[chosen[i]]) ** 2 / (2 sigma)), -inf at chosen[i]

    If ``hard``, sigma may be 0: then the scores of those that overlap by more than the threshold become -inf.

    Returns:
        int32 and float32 ``[number]``, padded with zeros; the number of chosen boxes.
    """
    boxes, scores, number, iou, least, sigma = operands
    infinity = -float("inf")
    if not isinstance(b.size(scores, 0), int):  # none may be there, of which ARG_MAX fails: one that is never chosen
        boxes, scores = b.pad(boxes, [(0, 1), (0, 0)]), b.pad(scores, [(0, 1)], infinity)
    boxes = apart(b, boxes)
    count = b.size(scores, 0)
    places = b.range(count)
    size = length if length is not None else number
    room = maximum(size, 1)  # DYNAMIC_UPDATE_SLICE fails without any
    is_soft = sigma > 0.0
    scale = -0.5 / sigma

    def turn(index: Tensor, values: Sequence[Tensor]) -> Sequence[Tensor]:
        chosen, of_chosen, valid, current = values
        first = b.op("ArgMax", [current, b.constant(0, "int32")], [], "int32")
        score = b.gather(current, first)
        is_chosen = score > least
        overlap = overlaps(b, boxes, b.gather(boxes, first))
        decay = exp(overlap * overlap * scale)
        stays = [not_equal(places, first)]
        if hard:
            decay = select(is_soft, decay, 1.0)
            stays.append(select(is_soft, b.constant(True, "bool"), overlap <= iou))
        left = current * decay
        stays.append(left > least)
        return [
            write_row(b, chosen, select(is_chosen, first, 0), index),
            write_row(b, of_chosen, select(is_chosen, score, 0.0), index),
            valid + b.cast(is_chosen, "int32"),
            functools.reduce(lambda kept, condition: select(condition, kept, infinity), stays, left),
        ]

    start = [
        b.fill([room], 0, "int32"),
        b.fill([room], 0, "float32"),
        b.constant(0, "int32"),
        select(scores > least, scores, infinity),
    ]
    turns = min(length, count) if length is not None and isinstance(count, int) else minimum(size, count)
    chosen, of_chosen, valid, _ = count_to(b, turns, start, turn)
    if room is not size:
        chosen, of_chosen = b.slice(chosen, 0, 0, size), b.slice(of_chosen, 0, 0, size)
    return [chosen, of_chosen, valid]
