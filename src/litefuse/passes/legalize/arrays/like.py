"""``ShapeN``, ``OnesLike`` and ``ZerosLike``, and ops that return their operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.arithmetic.complex_numbers import complex_of
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor


@decomposition("GuaranteeConst", "Print")
def alias(op: TensorFlowOp, b: Builder) -> Tensor:
    """The operand; ``Print`` does not print.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Print, GuaranteeConst.
    """
    return op.operands[0]


@decomposition("OnesLike", "ZerosLike")
# Fault `unsigned-ones`; for others of these dtypes, the engine emits an op that the runtime refuses, crashes at, or
# computes wrongly.
@before_engine("OnesLike", "ZerosLike", dtypes=("complex64", "uint8", "uint16", "uint32", "uint64"))
def like(op: TensorFlowOp, b: Builder) -> Tensor:
    """Fills the operand's shape with one number, or with empty strings."""
    (value,) = op.operands
    number = 1 if op.name == "OnesLike" else 0
    dtype = value.dtype
    if dtype.startswith(("int", "uint")):
        return b.cast(b.fill(b.sizes(value), number, "int32"), dtype)
    if dtype == "string":  # zeros only
        empty = b.strings(np.array(b"", np.object_))
        return b.op("Fill", [b.vector(b.sizes(value)), empty], op.shape(0), dtype)
    if dtype == "complex64":
        return complex_of(b, *(b.fill(b.sizes(value), part, "float32") for part in (number, 0)))
    return b.fill(b.sizes(value), number, dtype)


@decomposition("ShapeN")
def shape_n(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """The shape of each operand."""
    return [
        b.op("Shape", [value], [len(op.shape(index))], op.results[index].dtype)
        for index, value in enumerate(op.operands)
    ]
