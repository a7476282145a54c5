"""Builds the ops of a composite's replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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

    def embedding_lookup(self, ids: ir.Value, table: ir.Value) -> ir.Value:
        """EMBEDDING_LOOKUP: rows of ``table`` ``[vocabulary, ...]`` at ``ids`` ``[n]`` int32; result ``[n, ...]``."""
        table_type, ids_type = ir.ShapedType(table.type), ir.ShapedType(ids.type)
        dynamic = ir.ShapedType.get_dynamic_size()
        shape = [
            dynamic if kind.is_dynamic_dim(axis) else kind.shape[axis]
            for kind, axis in ((ids_type, 0), *((table_type, axis) for axis in range(1, table_type.rank)))
        ]
        result = ir.RankedTensorType.get(shape, table_type.element_type)
        return self.op("tfl.embedding_lookup", [ids, table], [result])[0]


def custom_op_attributes(name: str, options: bytes) -> dict[str, ir.Attribute]:
    """The attributes of a ``tfl.custom`` op."""
    return {
        "custom_code": ir.StringAttr.get(name),
        "custom_option": ir.Attribute.parse(f'#tfl<const_bytes : "0x{options.hex().upper()}">'),
    }
