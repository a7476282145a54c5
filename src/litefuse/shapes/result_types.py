"""Infers types of results that the engine leaves unranked."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from litefuse.ir.call_graph import functions, nested_operations
from litefuse.ir.constants import elements_of_constant
from litefuse.ir.mlir import ir

__all__ = ["TypeResults"]

_Shape: TypeAlias = list[int]
_DYNAMIC = ir.ShapedType.get_dynamic_size()


class TypeResults:
    """Types the results of ops that the engine created without result shapes::

        %p = tfl.pad(%x : tensor<1x8x8x3xf32>,    -->  %p = tfl.pad(...) : tensor<1x10x10x3xf32>
                     [[0, 0], [1, 1], [1, 1], [0, 0]]) : tensor<*xf32>

    The engine pads for convolutions with explicit paddings, transposes for products, and quantizes for fake
    quantization. Fault ``unranked-padding``.
    """

    name: ClassVar[str] = "type-results"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if function.is_external:
                continue
            for op in nested_operations(function.entry_block):
                if op.name not in _RULES or _is_ranked(op.results[0]) or not _is_ranked(op.operands[0]):
                    continue
                # Values that a terminator or a call forwards are typed elsewhere too.
                if any(use.owner.name in _PASS_ON for use in op.results[0].uses):
                    continue
                shape = _RULES[op.name](op)
                if shape is not None:
                    kind = ir.ShapedType(op.results[0].type).element_type
                    op.results[0].set_type(ir.RankedTensorType.get(shape, kind))
                    modified = True
        return modified


_PASS_ON = frozenset(
    {
        *("func.return", "tfl.yield", "tfl.while", "tfl.if", "tf.If", "tf.While", "tf.Case"),
        *("tf.PartitionedCall", "tf.StatefulPartitionedCall", "func.call", "tfl.custom"),
    }
)


def _is_ranked(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType) and value.type.has_rank


def _shape(value: ir.Value) -> _Shape:
    return list(ir.ShapedType(value.type).shape)


def _numbers(value: ir.Value) -> list[int] | None:
    elements = elements_of_constant(value, "arith.constant", "tfl.pseudo_const")
    return None if elements is None else np.array(elements).reshape(-1).tolist()


def _same(op: ir.OpView) -> _Shape:
    return _shape(op.operands[0])


def _padded(op: ir.OpView) -> _Shape | None:
    numbers, sizes = _numbers(op.operands[1]), _shape(op.operands[0])
    if numbers is None or len(numbers) != 2 * len(sizes):
        return None
    paddings = zip(numbers[::2], numbers[1::2], strict=True)
    return [_DYNAMIC if size == _DYNAMIC else size + sum(pair) for size, pair in zip(sizes, paddings, strict=True)]


def _transposed(op: ir.OpView) -> _Shape | None:
    order, sizes = _numbers(op.operands[1]), _shape(op.operands[0])
    return None if order is None or len(order) != len(sizes) else [sizes[axis] for axis in order]


_RULES: dict[str, Callable[[ir.OpView], _Shape | None]] = {
    "tfl.dequantize": _same,
    "tfl.mirror_pad": _padded,
    "tfl.pad": _padded,
    "tfl.padv2": _padded,
    "tfl.quantize": _same,
    "tfl.transpose": _transposed,
}
