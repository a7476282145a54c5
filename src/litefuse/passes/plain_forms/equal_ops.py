"""Ops that a target lacks, as others that give the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from litefuse.ir.constants import pseudo_constant
from litefuse.ir.litert_ops import arithmetic, concatenation, integers
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import visit_ops
from litefuse.passes.plain_forms.quantizable_ops import QUANTIZABLE_OPS
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized
from litefuse.passes.plain_forms.updated_items import updated

__all__ = ["EQUAL_OPS", "EmitEqualOps"]


class EmitEqualOps:
    """Emits other ops in the place of those that a target lacks::

        %y = tfl.select(%c, %a, %b)       -->  %y = tfl.select_v2(%c, %a, %b)                  of floats
        %y = tfl.select_v2(%c, %a, %b)    -->  %y = tfl.add(%b, tfl.mul(tfl.sub(%a, %b), %c))  of int32
        %y = tfl.reduce_any(%x, %axes)    -->  %y = tfl.logical_not(tfl.reduce_all(tfl.logical_not(%x), %axes))
        %y = tfl.tile(%x, [1, 3])         -->  %y = tfl.concatenation(%x, %x, %x) {axis = 1}
        %y = tfl.relu_n1_to_1(%x)         -->  %y = tfl.maximum(tfl.minimum(%x, 1), -1)
        %y = tfl.dynamic_update_slice(%x, %item, [%i, 0])
                                          -->  %y = tfl.select_v2(tfl.equal([[0], [1], [2]], %i), %item, %x)

    and in the place of those that are not quantized::

        %y = tfl.leaky_relu(%x) {alpha = 0.1}   -->  %y = tfl.maximum(%x, tfl.mul(%x, 0.1))
        %y = tfl.prelu(%x, %alpha)              -->  %y = tfl.maximum(%x, tfl.mul(%x, %alpha))
        %y = tfl.neg(%x)                        -->  %y = tfl.mul(%x, -1.0)
        %z = tfl.minimum(%x, %y)                -->  the same of -max(-x, -y)
        %y = tfl.reduce_max(%image, [1, 2])     -->  %y = tfl.reshape(tfl.max_pool_2d(%image))

    Args:
        avoided: The ops that the target lacks, by LiteRT's names.
    """

    name: ClassVar[str] = "emit-equal-ops"

    def __init__(self, avoided: Collection[str]) -> None:
        self._rewritings = {name: rewrite for name, (lacking, rewrite) in EQUAL_OPS.items() if lacking in avoided}

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, self._rewritings)


def _select(op: ir.OpView) -> ir.Value | None:
    condition, one, other = op.operands
    kind, chosen = ir.ShapedType(condition.type), ir.ShapedType(op.results[0].type)
    if not kind.has_rank or not kind.has_static_shape or not chosen.has_rank:
        return None
    if kind.rank == 1 < chosen.rank:  # of the first dimension, where that of SELECT_V2 is of the last one
        condition = reshaped(condition, [kind.shape[0], *[1] * (chosen.rank - 1)])
    if _is_int32(op):
        return _chosen_int32(op, condition)
    return create_value("tfl.select_v2", op.results[0].type, [condition, one, other])


def _select_v2(op: ir.OpView) -> ir.Value | None:
    return _chosen_int32(op, op.operands[0]) if _is_int32(op) else None


def _is_int32(op: ir.OpView) -> bool:
    return ir.ShapedType(op.results[0].type).element_type == ir.IntegerType.get_signless(32)


def _chosen_int32(op: ir.OpView, condition: ir.Value) -> ir.Value:
    _, one, other = op.operands
    kind = ir.ShapedType(op.results[0].type)
    shape = ir.RankedTensorType(condition.type).shape
    taken = create_value("tfl.cast", resized(kind, shape), [condition])
    # Of the shape of the result, to which both are broadcast: the difference alone may be smaller.
    nothing = pseudo_constant(ir.DenseElementsAttr.get(np.zeros(list(kind.shape), np.int32)))
    whole = arithmetic("tfl.add", other, nothing, kind) if other.type != kind else other
    difference = arithmetic("tfl.sub", one, whole, kind)
    return arithmetic("tfl.add", whole, arithmetic("tfl.mul", difference, taken, kind), kind)


def _reduce_all(op: ir.OpView) -> ir.Value:
    value, axes = op.operands
    keep = {"keep_dims": op.attributes["keep_dims"]}
    kind = op.results[0].type
    inverse = create_value("tfl.logical_not", value.type, [value])
    none = create_value("tfl.reduce_all", kind, [inverse, axes], keep)
    return create_value("tfl.logical_not", kind, [none])


def _tile(op: ir.OpView) -> ir.Value | None:
    value, multiples = op.operands
    counts = integers(multiples)
    if (
        counts is None
        or not is_fixed(value, op.results[0])
        or str(ir.ShapedType(value.type).element_type) not in _TILED
    ):
        return None
    for axis, count in enumerate(counts):
        value = _repeated(value, axis, count)
    return value


def _repeated(value: ir.Value, axis: int, count: int) -> ir.Value:
    """Emits a value so many times along an axis, in steps: CONCATENATION takes ten operands in tflite-micro."""
    if count == 1:
        return value
    whole, rest = divmod(count, _REPEATED)
    parts = [value] * count if whole == 0 else [_repeated(value, axis, whole)] * _REPEATED
    parts += [_repeated(value, axis, rest)] if whole and rest else []
    shape = [*ir.RankedTensorType(value.type).shape]
    shape[axis] *= count
    return concatenation(parts, resized(value.type, shape), axis)


def _limited(op: ir.OpView) -> ir.Value:
    value = op.operands[0]
    for name, limit in (("tfl.minimum", 1.0), ("tfl.maximum", -1.0)):
        bound = pseudo_constant(ir.DenseElementsAttr.get(np.array(limit, np.float32)))
        value = create_value(name, op.results[0].type, [value, bound])
    return value


_REPEATED = 8
_TILED = frozenset({"f32", "i1", "i32", "i64"})


#: By the names of ops in MLIR, what LiteRT calls the op that a target lacks, and how it is written as others.
EQUAL_OPS: Mapping[str, tuple[str, Callable[[ir.OpView], ir.Value | None]]] = MappingProxyType(
    {
        "tfl.select": ("SELECT", _select),
        "tfl.select_v2": ("SELECT", _select_v2),  # tflite-micro has it for floats, int8 and int16
        "tfl.reduce_any": ("REDUCE_ANY", _reduce_all),
        "tfl.tile": ("TILE", _tile),
        "tfl.relu_n1_to_1": ("RELU_N1_TO_1", _limited),
        "tfl.dynamic_update_slice": ("DYNAMIC_UPDATE_SLICE", updated),
        **QUANTIZABLE_OPS,
    }
)
