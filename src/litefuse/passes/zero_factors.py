"""Multiplications by zero, which the engine folds wrongly when the result's shape is open."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions, operations

__all__ = ["KeepZeroFactors"]

_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_RESHAPING = frozenset({"tf.Reshape", "tf.ExpandDims", "tf.Squeeze", "tf.Identity", "tf.Cast"})
# The operand of each op that the engine turns into a factor, and the one that it multiplies.
_FACTORS = {
    "tf.Mul": ((0, 1), (1, 0)),
    "tf.FusedBatchNorm": ((1, 0),),
    "tf.FusedBatchNormV2": ((1, 0),),
    "tf.FusedBatchNormV3": ((1, 0),),
}


class KeepZeroFactors:
    """Hides from the engine that a factor is zero everywhere.

    The engine replaces ``x * 0`` by a zero constant of the result's type, which is no constant when a size of ``x`` is
    not known: the model would fail or compute nonsense. It looks for one value repeated, so the last element of a float
    factor becomes -0.0, which multiplies the same, also into other constant factors. A factor of one element, or of
    integers, becomes zeros of the shape of ``x`` that the runtime makes (for an infinite or undefined ``x``, the
    product is 0 and not NaN then).
    """

    name: ClassVar[str] = "keep-zero-factors"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            for op in operations(function):
                for factor, multiplied in _FACTORS.get(op.name, ()):
                    if _is_zero(op.operands[factor]):
                        modified |= _keep(op, factor, multiplied)
                        break
        return modified


def _is_static(kind: ir.ShapedType) -> bool:
    return kind.has_rank and kind.has_static_shape


def _constant(value: ir.Value) -> tuple[ir.OpView, ir.OpOperand | None] | None:
    """The constant behind a value, and the operand of an op on the way that it is, when there is one."""
    reader: ir.OpOperand | None = None
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return None
        if owner.name == "tf.Const":
            return owner, reader
        if owner.name not in _RESHAPING:
            return None
        value = owner.operands[0]
        reader = next(use for use in value.uses if use.owner == owner and use.operand_number == 0)


def _is_zero(value: ir.Value) -> bool:
    found = _constant(value)
    attribute = found[0].attributes["value"] if found is not None else None
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return False
    element = attribute.get_splat_value()
    return isinstance(element, (ir.FloatAttr, ir.IntegerAttr)) and element.value == 0


def _keep(op: ir.OpView, factor: int, multiplied: int) -> bool:
    found = _constant(op.operands[factor])
    assert found is not None
    zero, reader = found
    kind = ir.ShapedType(zero.results[0].type)
    dtype = _FLOATS.get(str(kind.element_type))
    if dtype is not None and np.prod(kind.shape) > 1:
        zeros = np.zeros(kind.shape, dtype)
        zeros.reshape(-1)[-1] = -0.0
        value = ir.DenseElementsAttr.get(zeros)
        constant = ir.Operation.create(
            "tf.Const",
            results=[value.type],
            attributes={"value": value},
            loc=zero.location,
            ip=ir.InsertionPoint(zero),
        )
        user, position = (op, factor) if reader is None else (reader.owner, reader.operand_number)
        user.operands[position] = constant.result
        return True
    factor_type = ir.ShapedType(op.operands[factor].type)
    multiplied_type = ir.ShapedType(op.operands[multiplied].type)
    if op.name == "tf.Mul" and not _is_static(multiplied_type) and _broadcasts_into(factor_type, multiplied_type):
        zeros_like = ir.Operation.create(
            "tf.ZerosLike",
            results=[op.results[0].type],
            operands=[op.operands[multiplied]],
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        op.results[0].replace_all_uses_with(zeros_like.result)
        op.operation.erase()
        return True
    return False


def _broadcasts_into(factor: ir.ShapedType, multiplied: ir.ShapedType) -> bool:
    """Whether the product has the shape of what is multiplied."""
    if factor.has_rank and all(size == 1 for size in factor.shape) and (factor.rank == 0 or multiplied.has_rank):
        return factor.rank == 0 or factor.rank <= multiplied.rank
    if not multiplied.has_rank or not factor.has_rank or factor.rank > multiplied.rank:
        return False
    offset = multiplied.rank - factor.rank
    return all(
        size == 1 or (not multiplied.is_dynamic_dim(offset + axis) and multiplied.shape[offset + axis] == size)
        for axis, size in enumerate(factor.shape)
    )
