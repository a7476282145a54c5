"""Infers types of results that the engine leaves unranked."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import attributes_of
from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import ShapeError, Undecided
from litefuse.ir.passes import visit_ops
from litefuse.ir.shapes.op_shapes import result_shapes
from litefuse.ir.types import ranked_type

__all__ = ["FORWARDING", "TypeResults"]

_OPS = frozenset({"tfl.dequantize", "tfl.mirror_pad", "tfl.pad", "tfl.padv2", "tfl.quantize", "tfl.transpose"})


class TypeResults:
    """Types the results of ops that the engine created without result shapes::

        %p = tfl.pad(%x : tensor<1x8x8x3xf32>,    -->  %p = tfl.pad(...) : tensor<1x10x10x3xf32>
                     [[0, 0], [1, 1], [1, 1], [0, 0]]) : tensor<*xf32>

    The engine pads for convolutions with explicit paddings, transposes for products, and quantizes for fake
    quantization. Fault ``unranked-padding``.
    """

    name: ClassVar[str] = "type-results"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, dict.fromkeys(_OPS, _type_result))


def _type_result(op: ir.OpView) -> bool:
    if _is_ranked(op.results[0]) or not _is_ranked(op.operands[0]):
        return False
    # Values that a terminator or a call forwards are typed elsewhere too.
    if any(use.owner.name in FORWARDING for use in op.results[0].uses):
        return False
    element = ir.ShapedType(op.results[0].type).element_type
    attributes = {key: attribute_value(value) for key, value in attributes_of(op).items()}
    with suppress(ShapeError, Undecided):  # the runtime refuses what contradicts itself
        (shape,) = result_shapes(op.name, list(op.operands), [element], attributes)
        if shape is not None:
            op.results[0].set_type(ranked_type(shape, element))
            return True
    return False


#: The ops that hand values on, under types of their own.
FORWARDING = frozenset(
    {
        *("func.return", "tfl.yield", "tfl.while", "tfl.if", "tf.If", "tf.While", "tf.Case"),
        *("tf.PartitionedCall", "tf.StatefulPartitionedCall", "func.call", "tfl.custom"),
    }
)


def _is_ranked(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType) and value.type.has_rank
