# pyright: reportUnknownArgumentType=false
"""Kernels for what follows a detector, in numpy: of YOLO and of SSD, as a plug-in's author would write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec

Array = npt.NDArray[Any]

#: Sizes of boxes in pixels for each level, and the strides of levels.
ANCHORS = np.array([[[10, 13], [16, 30], [33, 23]], [[30, 61], [62, 45], [59, 119]]], np.float32)
STRIDES = (8.0, 16.0)
CLASSES = 4
#: Centers and sizes of boxes in parts of the image, and what their deltas are scaled with.
PRIORS = np.concatenate([np.linspace(0.1, 0.9, 48).reshape(24, 2), np.linspace(0.15, 0.5, 48).reshape(24, 2)[::-1]], 1)
VARIANCES = np.array([0.1, 0.1, 0.2, 0.2], np.float32)


def sigmoid(x: Array) -> Array:
    """Returns 1 / (1 + exp(-x))."""
    return np.asarray(1 / (1 + np.exp(-x)), np.float32)


def suppressed(boxes: Array, order: Array, most: int, iou: float) -> list[int]:
    """Returns the boxes [x1, y1, x2, y2] that stay, in an order, of those that overlap more than allowed the first."""
    kept: list[int] = []
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    for box in order:
        sides = np.minimum(boxes[box, 2:], boxes[kept, 2:]) - np.maximum(boxes[box, :2], boxes[kept, :2])
        common = np.prod(np.maximum(sides, 0), axis=1)
        if len(kept) < most and not (common / (areas[box] + areas[kept] - common) > np.float32(iou)).any():
            kept.append(int(box))
    return kept


class Yolo(CustomOp):
    """Of two levels, [height, width, 27] each: 20 boxes, their scores and classes, and how many there are."""

    def prepare(self, *_levels: TensorSpec, **_options: Any) -> tuple[TensorSpec, ...]:
        self.rows = [np.zeros([20, 4], np.float32), np.zeros([20], np.float32), np.zeros([20], np.int32)]
        return *(TensorSpec(row.shape, row.dtype.name) for row in self.rows), TensorSpec((), "int32")

    def invoke(self, inputs: Any, outputs: Any, **_options: Any) -> None:
        with np.errstate(all="ignore"):
            levels = [self.level(number, level) for number, level in enumerate(inputs)]
        boxes, scores, classes = (np.concatenate(values) for values in zip(*levels, strict=True))
        some = np.flatnonzero(scores > np.float32(0.25))
        boxes, scores, classes = boxes[some], scores[some], classes[some]
        kept = suppressed(boxes, np.argsort(-scores, kind="stable"), 20, 0.45)
        for row, values in zip(self.rows, (boxes, scores, classes), strict=True):
            row[:] = 0
            row[: len(kept)] = values[kept]
        for output, row in enumerate(self.rows):
            outputs[output] = row
        outputs[3] = np.int32(len(kept))

    def level(self, number: int, x: Array) -> tuple[Array, Array, Array]:
        """Returns all boxes of a level, their scores and their classes."""
        height, width = x.shape[:2]
        x = x.reshape(height, width, 3, 5 + CLASSES)
        grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).astype(np.float32)[:, :, None]
        centers = (sigmoid(x[..., :2]) * np.float32(2) - np.float32(0.5) + grid) * np.float32(STRIDES[number])
        sizes = np.exp(np.minimum(x[..., 2:4], np.float32(4.0))) * ANCHORS[number]
        scores = (sigmoid(x[..., 4:5]) * sigmoid(x[..., 5:])).reshape(-1, CLASSES)
        boxes = np.concatenate([centers - sizes / 2, centers + sizes / 2], -1).reshape(-1, 4)
        return boxes, scores.max(-1), scores.argmax(-1)


class Ssd(CustomOp):
    """Of deltas [24, 4] and logits [24, 4]: 15 boxes, their classes from 1 and scores, and how many there are."""

    def prepare(self, *_arguments: TensorSpec, **_options: Any) -> tuple[TensorSpec, ...]:
        self.rows = [np.zeros([15, 4], np.float32), np.zeros([15], np.int32), np.zeros([15], np.float32)]
        return *(TensorSpec(row.shape, row.dtype.name) for row in self.rows), TensorSpec((), "int32")

    def invoke(self, inputs: Any, outputs: Any, **_options: Any) -> None:
        deltas, logits = inputs
        priors = PRIORS.astype(np.float32)
        with np.errstate(all="ignore"):
            deltas = deltas * VARIANCES
            centers = deltas[:, :2] * priors[:, 2:] + priors[:, :2]
            sizes = np.exp(deltas[:, 2:]) * priors[:, 2:]
            boxes = np.clip(np.concatenate([centers - sizes / 2, centers + sizes / 2], 1), 0, 1)
            odds = np.exp(logits - logits.max(1, keepdims=True))
            scores = odds / odds.sum(1, keepdims=True)
        picked: list[tuple[int, int]] = []
        for kind in range(1, CLASSES):
            some = np.flatnonzero((scores[:, kind] > np.float32(0.3)) & (boxes > 0).any(1))
            order = some[np.argsort(-scores[some, kind], kind="stable")]
            picked += [(box, kind) for box in suppressed(boxes, order, 10, 0.6)]
        best = sorted(picked, key=lambda pair: -scores[pair])[:15]
        pairs: Array = np.array(best or [(0, 0)])
        places, kinds = pairs[:, 0], pairs[:, 1]
        for row, values in zip(self.rows, (boxes[places], kinds, scores[places, kinds]), strict=True):
            row[:] = 0
            row[: len(best)] = values[: len(best)]
        for output, row in enumerate(self.rows):
            outputs[output] = row
        outputs[3] = np.int32(len(best))
