"""Multiplications by zero, which the engine folds wrongly when the result's shape is open."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from litefuse.engine.constants import constant_behind, is_zero
from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions, operations

__all__ = ["KeepZeroFactors"]

_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
# The operands of each op that the engine turns into a factor.
_FACTORS = {"tf.Mul": (0, 1), "tf.FusedBatchNorm": (1,), "tf.FusedBatchNormV2": (1,), "tf.FusedBatchNormV3": (1,)}


class KeepZeroFactors:
    """Keeps from the engine that all elements of a factor are zero.

    The engine replaces ``x * 0`` by a zero constant of the result's type, which is no constant when a size of ``x`` is
    not known: the model would fail or compute nonsense. It looks for one value repeated, so the last element of a float
    factor becomes -0.0, which multiplies the same, also into other constant factors. Factors of one element, and of
    integers, are hidden while the engine runs (``litefuse.engine.hidden_constants``).
    """

    name: ClassVar[str] = "keep-zero-factors"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            for op in operations(function):
                for factor in _FACTORS.get(op.name, ()):
                    if is_zero(op.operands[factor]):
                        modified |= _keep(op, factor)
        return modified


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
