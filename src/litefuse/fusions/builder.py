"""Builds the ops of a composite's replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.engine.mlir import ir
from litefuse.fusions.options import encode_options

__all__ = ["Builder"]


class Builder:
    """Emits LiteRT (``tfl``) ops into the function that replaces a composite's body, with inferred result types."""

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result_types: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> list[ir.Value]:
        """Any op by its full name, such as ``tfl.embedding_lookup``, with the result types given."""
        op = ir.Operation.create(
            name, results=result_types, operands=operands, attributes=dict(attributes) if attributes else None
        )
        return list(op.results)

    def custom(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result_types: Sequence[ir.Type],
        options: Mapping[str, Any] | bytes,
    ) -> list[ir.Value]:
        """A custom op.

        Args:
            name: The name that its kernel is registered under.
            operands: Its inputs.
            result_types: The types of its outputs.
            options: A mapping becomes a flexbuffer map (see ``encode_options``), bytes are taken as they are.

        Raises:
            FusionError: An option that a flexbuffer cannot hold.
        """
        data = options if isinstance(options, bytes) else encode_options(options)
        return self.op("tfl.custom", operands, result_types, custom_op_attributes(name, data))

    def constant(self, value: npt.NDArray[Any]) -> ir.Value:
        """A constant tensor of the array's shape and dtype."""
        attribute = ir.DenseElementsAttr.get(value)
        return self.op("tfl.pseudo_const", [], [attribute.type], {"value": attribute})[0]

    def non_max_suppression(
        self,
        boxes: ir.Value,
        scores: ir.Value,
        max_output_size: ir.Value,
        iou_threshold: ir.Value,
        score_threshold: ir.Value,
        *,
        size: int | None = None,
    ) -> tuple[ir.Value, ir.Value]:
        """NON_MAX_SUPPRESSION_V4: the boxes with the best scores, of those that overlap too much the best one.

        Args:
            boxes: float32 ``[n, 4]``, the two corners ``(y, x, y, x)`` of each in any order.
            scores: float32 ``[n]``.
            max_output_size: int32 scalar, how many at most.
            iou_threshold: float32 scalar; a box whose intersection over union with a chosen one is this or more goes.
            score_threshold: float32 scalar; a box whose score is this or less goes.
            size: The value of ``max_output_size``, if it is known.

        Returns:
            int32 ``[max_output_size]``, the chosen boxes' positions by falling score, then zeros; and their number, an
            int32 scalar.
        """
        int32 = ir.IntegerType.get_signless(32)
        dynamic = ir.ShapedType.get_dynamic_size()
        results = [
            ir.RankedTensorType.get([dynamic if size is None else size], int32),
            ir.RankedTensorType.get([], int32),
        ]
        operands = [boxes, scores, max_output_size, iou_threshold, score_threshold]
        indices, count = self.op("tfl.non_max_suppression_v4", operands, results)
        return indices, count

    def expand_dims(self, value: ir.Value, axis: int) -> ir.Value:
        """EXPAND_DIMS: the value of a ranked type with a dimension of size 1 more, at ``axis`` (not negative)."""
        kind = ir.ShapedType(value.type)
        shape = list(kind.shape)
        shape.insert(axis, 1)
        result = ir.RankedTensorType.get(shape, kind.element_type)
        return self.op("tfl.expand_dims", [value, self.constant(np.array(axis, np.int32))], [result])[0]

    def embedding_lookup(self, ids: ir.Value, table: ir.Value) -> ir.Value:
        """EMBEDDING_LOOKUP: rows of ``table`` ``[vocabulary, ...]`` at ``ids`` ``[n]`` int32; result ``[n, ...]``."""
        table_type, ids_type = ir.ShapedType(table.type), ir.ShapedType(ids.type)
        result = ir.RankedTensorType.get([*ids_type.shape, *table_type.shape[1:]], table_type.element_type)
        return self.op("tfl.embedding_lookup", [ids, table], [result])[0]


def custom_op_attributes(name: str, options: bytes) -> dict[str, ir.Attribute]:
    """The attributes of a ``tfl.custom`` op."""
    return {
        "custom_code": ir.StringAttr.get(name),
        "custom_option": ir.Attribute.parse(f'#tfl<const_bytes : "0x{options.hex().upper()}">'),
    }
