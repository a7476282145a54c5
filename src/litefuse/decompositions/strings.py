"""Moving strings: LiteRT's ops move numbers, and the engine dies of moving constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.engine.constants import strings_of_constant

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ConstantStrings", "MovedStrings"]

_Strings: TypeAlias = "npt.NDArray[Any]"

# Where the operand that is moved stands.
_OPERANDS = {"Fill": 1, "Split": 1}


class MovedStrings(Decomposition):
    """The op of the numbers 0, 1, 2 ... in the operand's shape, and the strings at these numbers.

    GATHER_ND takes strings. The engine dies of moving constants, but of vectors.
    """

    names = (
        *("BroadcastTo", "Fill", "GatherV2", "ReverseV2", "Slice", "Split", "SplitV", "StridedSlice", "Tile"),
        *("Transpose", "Unpack"),
    )

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.name == "Slice" or (len(op.shape(0)) != 1 and strings_of_constant(op.operands[0]) is not None)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
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
        places = b.ops(op.name, operands, [(each.shape, "int32") for each in op.results], **attributes)
        constant = strings_of_constant(strings)
        if constant is not None:
            flat = b.strings(constant.reshape(-1))
        else:
            flat = b.reshape(strings, [count]) if len(shape) != 1 else strings
        return [
            b.op("GatherNd", [flat, b.expand(each, len(b.shape(each)))], b.shape(each), "string") for each in places
        ]


class ConstantStrings(Decomposition):
    """Strings that are constants, moved while the model is converted."""

    names = (
        *("BroadcastTo", "ExpandDims", "GatherV2", "Reshape", "Slice", "Split", "SplitV", "Squeeze", "StridedSlice"),
        *("Transpose", "Unpack"),
    )
    folds = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        operand = _OPERANDS.get(op.name, 0)
        strings = strings_of_constant(op.operands[operand])
        if strings is None:
            raise NotDecomposed(f"operand {operand} is no constant of strings")
        try:
            moved = _MOVES[op.name](strings, op)
        except (IndexError, ValueError) as error:
            raise NotDecomposed(str(error)) from error
        return [b.strings(each) for each in moved]


def _gather(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    if op.attributes.get("batch_dims", 0):
        raise NotDecomposed("it gathers batch by batch")
    return [np.take(strings, op.constant(1), int(op.constant(2)))]


def _slice(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    starts, sizes = op.constant(1).tolist(), op.constant(2).tolist()
    return [strings[tuple(slice(at, None if size < 0 else at + size) for at, size in zip(starts, sizes, strict=True))]]


def _split(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    return np.split(strings, len(op.results), int(op.constant(0)))


def _split_to_sizes(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    sizes, axis = op.constant(1), int(op.constant(2))
    sizes = np.where(sizes < 0, strings.shape[axis] - sizes[sizes >= 0].sum(), sizes)
    return np.split(strings, np.cumsum(sizes)[:-1].tolist(), axis)


def _squeeze(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    return [np.squeeze(strings, tuple(op.attributes.get("squeeze_dims", ())) or None)]


def _strided_slice(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    masks = {name: int(op.attributes.get(f"{name}_mask", 0)) for name in ("begin", "end", "ellipsis", "new_axis")}
    shrinks = int(op.attributes.get("shrink_axis_mask", 0))
    index: list[Any] = []
    for place, (begin, end, stride) in enumerate(zip(*(op.constant(k).tolist() for k in (1, 2, 3)), strict=True)):
        bit = 1 << place
        if masks["ellipsis"] & bit:
            index.append(...)
        elif masks["new_axis"] & bit:
            index.append(None)
        elif shrinks & bit:
            index.append(begin)
        else:
            index.append(slice(None if masks["begin"] & bit else begin, None if masks["end"] & bit else end, stride))
    return [np.asarray(strings[tuple(index)], np.object_)]


def _unpack(strings: _Strings, op: TensorFlowOp) -> list[_Strings]:
    return list(np.moveaxis(strings, op.attributes.get("axis", 0), 0))


_MOVES: Mapping[str, Callable[[_Strings, TensorFlowOp], Sequence[_Strings]]] = {
    "BroadcastTo": lambda strings, op: [np.broadcast_to(strings, op.constant(1))],
    "ExpandDims": lambda strings, op: [np.expand_dims(strings, int(op.constant(1).reshape(())))],
    "GatherV2": _gather,
    "Reshape": lambda strings, op: [strings.reshape(op.constant(1))],
    "Slice": _slice,
    "Split": _split,
    "SplitV": _split_to_sizes,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Transpose": lambda strings, op: [np.transpose(strings, op.constant(1).tolist())],
    "Unpack": _unpack,
}
