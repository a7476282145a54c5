"""Ops that move strings: LiteRT's ops only move numbers, and the engine crashes at those on constant strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.constants import stored, strings_of_constant, without_copies
from litefuse.ir.mlir import producer
from litefuse.ir.ops import facts
from litefuse.ir.ops.values import VALUES
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

# The index of the operand that is moved, if not 0.
_OPERANDS = {"Fill": 1, "Split": 1}


@decomposition(
    *("BroadcastTo", "Fill", "GatherV2", "ReverseSequence", "ReverseV2", "Slice", "Split", "SplitV"),
    *("StridedSlice", "Tile", "Transpose", "Unpack"),
    order=-1,
)
# The engine crashes when it folds constant strings (fault `reshaped-constant-strings`), also in rewritings that are
# lowered on their own after it.
@before_engine("BroadcastTo", "GatherV2", "ReverseSequence", "Slice", dtypes=("string",), order=-1)
class MovedStrings(Decomposition):
    """The op on the numbers 0, 1, 2 ... in the operand's shape, and a gather of the strings at these positions.

    GATHER_ND supports strings. The engine crashes at ops that move constant strings, except vectors.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        constant = strings_of_constant(op.operands[0])
        return op.name == "Slice" or (constant is not None and constant.ndim != 1)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        operand = _OPERANDS.get(op.name, 0)
        shape = op.shape(operand)
        if op.types[operand].dtype != "string":
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[operand].dtype} in this form")
        strings = op.operands[operand]
        sizes = b.sizes(strings)
        count = b.product(sizes)
        operands = list(op.operands)
        operands[operand] = b.reshape(b.range(count), sizes)
        attributes = b.options(op)
        places = b.ops(op.name, operands, [(result.shape, "int32") for result in op.results], **attributes)
        constant = strings_of_constant(strings)
        if constant is not None:
            flat = b.strings(constant.reshape(-1))
        else:
            flat = b.reshape(strings, [count]) if len(shape) != 1 else strings
        return [b.op("GatherNd", [flat, b.expand(place, len(place.shape))], place.shape, "string") for place in places]


# Fault `reshaped-constant-strings`.
@before_engine(
    *("BroadcastTo", "ConcatV2", "ExpandDims", "GatherV2", "Pack", "Reshape", "Slice", "SplitV", "Squeeze"),
    *("StridedSlice", "Transpose", "Unpack"),
    dtypes=("string",),
    order=-2,
)
@before_engine("Split", dtypes=("string",), operand=1, order=-2)
class ConstantStrings(Decomposition):
    """Moves constant strings during conversion, by the rules for integers, which apply to any elements."""

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return all(producer(without_copies(value), "tf.Const") is not None for value in op.operands)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        known = [_known(op, operand) for operand in range(len(op.operands))]
        operands = [
            facts.Tensor(kind.dtype, each.shape, facts.array_of(each.reshape(-1).tolist(), each.shape))
            for kind, each in zip(op.types, known, strict=True)
        ]
        results = [facts.Tensor(result.dtype, None) for result in op.results]
        try:
            moved = VALUES[op.name](facts.Op(op.name, operands, results, op.attributes))
        except (IndexError, facts.Undecided, ValueError) as error:
            raise NotDecomposed(str(error)) from error
        return [b.strings(each) for each in (moved if isinstance(moved, list) else [moved])]


def _known(op: TensorFlowOp, operand: int) -> npt.NDArray[Any]:
    if op.types[operand].dtype != "string":
        elements = stored(without_copies(op.operands[operand]))
        if elements is None:
            return op.constant(operand)
        return np.array(elements).reshape(elements.type.shape)
    strings = strings_of_constant(op.operands[operand])
    if strings is None:
        raise NotDecomposed(f"operand {operand} is not a constant of strings")
    return strings


@decomposition("TensorScatterUpdate", order=-1)
# The numbers' own rewriting comes before the engine.
@before_engine("TensorScatterUpdate", dtypes=("string",), order=-1)
def scattered_strings(op: TensorFlowOp, b: Builder) -> Tensor:
    """The op on the numbers of the strings, and a gather of all strings, joined, at these.

    LiteRT does not join strings: the pack's kernel of ConcatV2 does.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update.
    """
    if op.types[0].dtype != "string":
        raise NotDecomposed(f"it is of {op.types[0].dtype}")
    tensor, indices, updates = op.operands
    old, new = b.sizes(tensor), b.sizes(updates)
    count, number = b.product(old), b.product(new)
    numbers = b.range(count + number)
    operands = [b.reshape(b.slice(numbers, 0, 0, count), old), indices]
    operands.append(b.reshape(b.slice(numbers, 0, count, None), new))
    places = b.op(op.name, operands, tensor.shape, "int32")
    strings = b.concat([_flat(b, tensor, count), _flat(b, updates, number)], 0)
    return b.gather(strings, places)


def _flat(b: Builder, strings: Tensor, count: int | Tensor) -> Tensor:
    """Emits the strings as a vector; constants as one, for the fault ``reshaped-constant-strings``."""
    known = strings_of_constant(strings)
    return b.reshape(strings, [count]) if known is None else b.strings(known.reshape(-1))
