"""``NonMaxSuppression`` without padding, and with boxes whose four coordinates only the op's definition implies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["NonMaxSuppression"]


@decomposition(
    *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5"),
)
# Fault `padded-suppression`.
@before_engine("NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5")
class NonMaxSuppression(Decomposition):
    """Takes the valid part of the results of NON_MAX_SUPPRESSION_V4 and _V5, which the engine does not.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression,
    non_max_suppression_with_scores.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return not op.attributes.get("pad_to_max_output_size", False)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        _, columns = op.shape(0, 2)
        op.shape(1, 1)
        op.require(0, "float32")
        boxes, scores, number, *others = op.operands
        pads = op.attributes.get("pad_to_max_output_size", False)
        if pads and columns is not None:
            raise NotDecomposed("LiteRT's op for it takes boxes of four numbers")
        if columns is None:  # LiteRT's op requires that the 4 is known
            boxes = b.reshape(boxes, [b.size(boxes, 0), 4])
        if not others:
            others = [b.constant(float(op.attributes.get("iou_threshold", 0.5)), "float32")]
        if len(others) == 1:
            others = [*others, b.constant(-3.4e38, "float32")]
        known = op.constants[2]
        length = None if known is None else int(known)
        version = "V5" if op.name == "NonMaxSuppressionV5" else "V4"
        kinds = ["int32", "float32"] if version == "V5" else ["int32"]
        *padded, valid = b.ops(
            f"NonMaxSuppression{version}",
            [boxes, scores, number, *others],
            [*(((length,), kind) for kind in kinds), ((), "int32")],
            pad_to_max_output_size=True,
        )
        found = padded if pads else [b.slice(each, 0, 0, valid) for each in padded]
        return [*found, valid][: len(op.results)]
