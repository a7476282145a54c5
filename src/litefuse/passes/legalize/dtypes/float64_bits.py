"""Ops on float64 that its bits decide: LiteRT does not compute in float64, but in int64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, select
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

_SIGN = int(np.iinfo(np.int64).min)
_INFINITE = 0x7FF << 52


@decomposition("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual", order=2)
def float64_comparisons(op: TensorFlowOp, b: Builder) -> Tensor:
    """Compares the bits, as numbers in the same order; nothing is equal to NaN, smaller or greater."""
    _require_float64(op)
    keys = [_key(b, operand) for operand in op.operands]
    name = "Equal" if op.name == "NotEqual" else op.name
    found = b.compare(name, *keys)
    for key in keys:
        is_number = abs(key) <= _INFINITE
        found = found & is_number
    return ~found if op.name == "NotEqual" else found


@decomposition("Abs", "IsFinite", "IsInf", "IsNan", "Neg", order=2)
def float64_signs(op: TensorFlowOp, b: Builder) -> Tensor:
    """Changes the first bit, which is the sign, or looks at the exponent."""
    _require_float64(op)
    bits = b.bitcast(op.operands[0], "int64")
    negative = bits < 0
    flipped = bits - _SIGN  # modulo 2^64
    if op.name == "Neg":
        return b.bitcast(flipped, "float64")
    size = select(negative, flipped, bits)
    if op.name == "Abs":
        return b.bitcast(size, "float64")
    return b.compare({"IsFinite": "Less", "IsInf": "Equal", "IsNan": "Greater"}[op.name], size, _INFINITE)


def _require_float64(op: TensorFlowOp) -> None:
    if op.types[0].dtype != "float64":
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")


def _key(b: Builder, value: Tensor) -> Tensor:
    """Emits integers in the order of the numbers, the same one for both zeros."""
    bits = b.bitcast(value, "int64")
    return select(bits < 0, b.constant(_SIGN, "int64") - bits, bits)
