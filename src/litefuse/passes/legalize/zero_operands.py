"""Sums with zeros and products with zero, which the engine folds wrongly if the result's shape is dynamic."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import constant_behind, is_zero, tensor_constant
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass, visit_ops

_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_ZEROS = {"f16": np.float16, "f32": np.float32, "i32": np.int32, "i64": np.int64}
# The operands of each op that the engine converts to a factor.
_FACTORS = {"tf.Mul": (0, 1), "tf.FusedBatchNorm": (1,), "tf.FusedBatchNormV2": (1,), "tf.FusedBatchNormV3": (1,)}


# The operands that may be zeros, for which the engine replaces the result by the other operand.
_TERMS = {"tf.Add": (0, 1), "tf.AddV2": (0, 1), "tf.Sub": (1,)}


@module_pass
def keep_zero_operands(module: ir.Module) -> bool:
    """Prevents the engine from recognizing operands whose elements are all zero.

    For the faults ``zero-factor`` and ``zero-scale``, the last element of a float factor becomes -0.0. The products are
    equal, also if it is folded into other constant factors, and the engine only matches splat constants. Factors of one
    element, and of integers, are hidden while the engine runs (``litefuse.ir.engine.hidden_constants``).

    For the fault ``zeros-of-another-shape``, the zeros of ``x + zeros_like(y)`` are filled with the shape of ``y``.
    """
    return visit_ops(module, dict.fromkeys({**_FACTORS, **_TERMS}, _keep_zeros), nested=False)


def _keep_zeros(op: ir.OpView) -> bool:
    kept = [_keep(op, factor) for factor in _FACTORS.get(op.name, ()) if is_zero(op.operands[factor])]
    return any([*kept, *(_fill(op, term) for term in _TERMS.get(op.name, ()))])


def _fill(op: ir.OpView, term: int) -> bool:
    """Replaces ``ZerosLike`` of a dynamic shape by ``Fill``; returns whether it did."""
    zeros = producer(op.operands[term], "tf.ZerosLike")
    if zeros is None:
        return False
    (like,), kind = zeros.operands, ir.ShapedType(zeros.results[0].type)
    dtype = _ZEROS.get(str(kind.element_type))
    if not isinstance(like.type, ir.RankedTensorType) or like.type.has_static_shape or dtype is None:
        return False
    if like == op.operands[1 - term]:
        return False
    vector = ir.RankedTensorType.get([like.type.rank], ir.IntegerType.get_signless(32))
    shape = create_value("tf.Shape", vector, [like])
    constant = tensor_constant(ir.DenseElementsAttr.get(np.zeros((), dtype)))
    op.operands[term] = create_value("tf.Fill", zeros.results[0].type, [shape, constant])
    return True


def _keep(op: ir.OpView, factor: int) -> bool:
    found = constant_behind(op.operands[factor])
    assert found is not None
    zero, reader = found
    kind = ir.ShapedType(zero.results[0].type)
    dtype = _FLOATS.get(str(kind.element_type))
    if dtype is None or np.prod(kind.shape) <= 1:
        return False
    zeros = np.zeros(kind.shape, dtype)
    zeros.reshape(-1)[-1] = -0.0
    user, position = (op, factor) if reader is None else (reader.owner, reader.operand_number)
    with ir.InsertionPoint(zero), zero.location:
        user.operands[position] = tensor_constant(ir.DenseElementsAttr.get(zeros))
    return True
