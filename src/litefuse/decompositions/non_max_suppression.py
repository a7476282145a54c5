"""``NonMaxSuppression`` in its older forms: LiteRT's op pads its result, and says how much of it is valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["NonMaxSuppression"]


class NonMaxSuppression(Decomposition):
    """The valid part of NON_MAX_SUPPRESSION_V4.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression.
    """

    names = ("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        op.shape(0, 2)
        op.shape(1, 1)
        op.require(0, "float32")
        boxes, scores, number = op.operands[:3]
        if op.name == "NonMaxSuppressionV4" and op.attributes.get("pad_to_max_output_size", False):
            raise NotDecomposed("LiteRT has it")
        threshold = float(op.attributes.get("iou_threshold", 0.5))
        iou = op.operands[3] if len(op.operands) > 3 else b.constant(threshold, "float32")
        least = op.operands[4] if len(op.operands) > 4 else b.constant(-3.4e38, "float32")
        known = op.constants[2]
        length = None if known is None else int(known)
        chosen, valid = b.ops(
            "NonMaxSuppressionV4",
            [boxes, scores, number, iou, least],
            [((length,), "int32"), ((), "int32")],
            pad_to_max_output_size=True,
        )
        chosen = b.slice(chosen, 0, 0, valid)
        return [chosen, valid] if op.name == "NonMaxSuppressionV4" else [chosen]
