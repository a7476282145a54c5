"""Non-maximum suppression of one image's boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType

__all__ = ["NonMaxSuppression"]

# name, dtype and rank of the op's arguments
_ARGUMENTS = (
    ("boxes", "float32", 2),
    ("scores", "float32", 1),
    ("max_output_size", "int32", 0),
    ("iou_threshold", "float32", 0),
    ("score_threshold", "float32", 0),
)


@fusion("non_max_suppression_padded_v2")
class NonMaxSuppression(Fusion):
    """``tf.image.non_max_suppression_padded`` of one image's boxes becomes the builtin NON_MAX_SUPPRESSION_V4.

    The interface is that of the function that TensorFlow itself annotates:
    ``f(boxes [n, 4], scores [n], max_output_size, iou_threshold, score_threshold, sorted_input,
    canonicalized_coordinates, tile_size) -> (indices [1, max_output_size], count [])``. The last three control how to
    compute it and state properties of the inputs. The op does not need them, and its result is the same.
    Definition: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression_padded.
    """

    def verify(self, composite: Composite) -> str | None:
        kinds = composite.arg_types
        if len(kinds) < len(_ARGUMENTS):
            return (
                f"it has {len(kinds)} arguments, not {', '.join(name for name, _, _ in _ARGUMENTS)} "
                "and any that follow these"
            )
        if len(composite.result_types) != 2:
            return f"it has {len(composite.result_types)} results, not 2 (indices, count)"
        for (name, dtype, rank), kind in zip(_ARGUMENTS, kinds, strict=False):
            if kind.dtype != dtype or kind.rank != rank:
                return f"{name} is {kind}; NON_MAX_SUPPRESSION_V4 takes {dtype} of rank {rank}{_batches(name, kind)}"
        boxes, scores = kinds[:2]
        assert boxes.shape is not None
        assert scores.shape is not None
        if boxes.shape[1] not in {4, None}:
            return f"boxes is {boxes}; a box has 4 coordinates"
        if None not in (boxes.shape[0], scores.shape[0]) and boxes.shape[0] != scores.shape[0]:
            return f"boxes is {boxes} and scores {scores}: one box has one score"
        return _result_problem(*composite.result_tensor_types)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        boxes, scores, max_output_size, iou_threshold, score_threshold = composite.args[: len(_ARGUMENTS)]
        shape = composite.result_tensor_types[0].shape
        assert shape is not None
        indices, count = b.non_max_suppression(
            boxes, scores, max_output_size, iou_threshold, score_threshold, size=shape[-1]
        )
        # TensorFlow's function keeps a batch dimension in the indices of a single image.
        return (b.expand_dims(indices, 0) if len(shape) == 2 else indices), count

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        boxes, scores = composite.arg_types[:2]
        shape = composite.result_tensor_types[0].shape
        assert boxes.shape is not None
        assert scores.shape is not None
        assert shape is not None
        n = boxes.shape[0] or scores.shape[0] or 4 * size
        # Boxes of positive area at positive coordinates, the lower corner first, by descending score: the arguments
        # sorted_input and canonicalized_coordinates may state this, and only then is TensorFlow's function defined.
        corner, extent = random.uniform(0, 1, (n, 2)), random.uniform(0.5, 1, (n, 2))
        values: list[npt.NDArray[Any]] = [
            np.concatenate([corner, corner + extent], axis=1).astype(np.float32),
            np.sort(random.uniform(0, 1, n).astype(np.float32))[::-1].copy(),
            np.array(shape[-1] if shape[-1] is not None else max(1, n // 2), np.int32),
            np.array(random.uniform(0.1, 0.6), np.float32),
            np.array(random.uniform(0.1, 0.4), np.float32),
        ]
        for kind in composite.arg_types[len(_ARGUMENTS) :]:
            if kind.rank != 0 or kind.dtype not in {"bool", "int32"}:
                return None
            values.append(np.array(random.integers(2), np.bool_) if kind.dtype == "bool" else np.array(4, np.int32))
        return values


def _batches(name: str, kind: TensorType) -> str:
    batched = (name == "boxes" and kind.rank == 3) or (name == "scores" and kind.rank == 2)
    return ", one image: call the composite for each image of a batch" if batched else ""


def _result_problem(indices: TensorType, count: TensorType) -> str | None:
    if indices.dtype != "int32" or indices.rank not in {1, 2}:
        return f"result 0 is {indices}; the indices are int32 of rank 1, or 2 with a batch of one"
    assert indices.shape is not None
    if indices.rank == 2 and indices.shape[0] not in {1, None}:
        return f"result 0 is {indices}: a batch of {indices.shape[0]}, not of one"
    if count.dtype != "int32" or count.rank != 0:
        return f"result 1 is {count}; the count is an int32 scalar"
    return None
