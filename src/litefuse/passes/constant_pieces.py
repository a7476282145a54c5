"""Pieces of constants as constants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.engine.constants import elements_of_constant, pseudo_constant, tensor_constant, without_copies
from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions, nested_operations

__all__ = ["FoldConstantPieces"]

_CONSTANTS = ("arith.constant", "tf.Const", "tfl.pseudo_const")
_RESHAPING = frozenset({"tf.Reshape", "tf.Squeeze", "tfl.reshape"})
_SPLITTING = frozenset({"tf.Split", "tfl.split"})
_UNPACKING = frozenset({"tf.Unpack", "tfl.unpack"})
_FOLDED = _RESHAPING | _SPLITTING | _UNPACKING
_SLICING = frozenset({"tf.Slice", "tf.StridedSlice"})
_MASKS = ("begin", "ellipsis", "end", "new_axis", "shrink_axis")


class FoldConstantPieces:
    """Takes constants apart once, and not in each call, or in each step of a loop::

        %0:2 = tfl.split(%axis, %c : tensor<2x15xf32>)
        %1 = tfl.reshape(%0#0, [15])                    -->  %1 = dense<...> : tensor<15xf32>

    The engine folds neither, and before it fuses neither what follows: the biases of Keras's GRU are such pieces, and
    the filters of its ConvLSTM, which would be transposed in each step. So this runs before the engine, and behind it
    for what that makes. (In a loop, such copies are also what XNNPACK at times leaves out in the first call with a
    larger batch.)
    """

    name: ClassVar[str] = "fold-constant-pieces"

    def run(self, module: ir.Module) -> bool:
        bodies = [function.entry_block for function in functions(module).values() if not function.is_external]
        found = [op for body in bodies for op in nested_operations(body)]
        slices = [op for op in found if op.name in _SLICING]
        folded = [_fold(op) for op in found if op.name in _FOLDED]  # in order: a reshape comes after the split
        return _fold_slices(slices) or any(folded)


def _fold(op: ir.OpView) -> bool:
    constant = _elements(op.operands[1 if op.name in _SPLITTING else 0])
    if constant is None:
        return False
    count = len(op.results)
    if op.name in _RESHAPING:
        pieces = [constant]
    elif op.name in _UNPACKING:
        pieces = np.split(constant, count, ir.IntegerAttr(op.attributes["axis"]).value)
    else:
        axis = _elements(op.operands[0])
        if axis is None:
            return False
        pieces = np.split(constant, count, int(axis.reshape(-1)[0]))
    return _replace(op, pieces)


def _replace(op: ir.OpView, pieces: Sequence[npt.NDArray[Any]]) -> bool:
    kinds = [ir.RankedTensorType(result.type) for result in op.results]
    if not all(kind.has_static_shape for kind in kinds):
        return False
    emit = tensor_constant if op.name.startswith("tf.") else pseudo_constant
    with ir.InsertionPoint(op), op.location:
        for result, piece, kind in zip(op.results, pieces, kinds, strict=True):
            array = np.ascontiguousarray(piece).reshape(kind.shape)
            result.replace_all_uses_with(emit(ir.DenseElementsAttr.get(array, type=kind)))
    op.operation.erase()
    return True


def _fold_slices(ops: Sequence[ir.OpView]) -> bool:
    """Folds the slices of each constant that is only sliced, unless they overlap: the file would hold more."""
    of_constant: dict[ir.Attribute, list[ir.OpView]] = defaultdict(list)
    for op in ops:
        attribute = elements_of_constant(op.operands[0], *_CONSTANTS)
        if attribute is not None and str(attribute.type.element_type) == "f32":
            of_constant[attribute].append(op)
    modified = False
    for slices in of_constant.values():
        constant = _elements(slices[0].operands[0])
        sliced = {op.operands[0] for op in slices}
        used_otherwise = any(use.owner.name not in _SLICING for value in sliced for use in value.uses)
        places = [_place(op) for op in slices]
        if constant is None or used_otherwise or None in places:
            continue
        pieces = [constant[place] for place in places if place is not None]
        different = {repr(place): piece.size for place, piece in zip(places, pieces, strict=True)}
        if sum(different.values()) <= constant.size:
            for op, piece in zip(slices, pieces, strict=True):
                modified |= _replace(op, [piece])
    return modified


def _place(op: ir.OpView) -> tuple[int | slice, ...] | None:
    """What a slice takes, as an index of numpy; None where that is computed, or has new dimensions."""
    numbers = [_elements(operand) for operand in list(op.operands)[1:]]
    if any(each is None for each in numbers):
        return None
    vectors = [each.tolist() for each in numbers if each is not None]
    if op.name == "tf.Slice":
        return tuple(slice(first, None if size < 0 else first + size) for first, size in zip(*vectors, strict=True))
    masks = {name: ir.IntegerAttr(op.attributes[f"{name}_mask"]).value for name in _MASKS}
    if masks["ellipsis"] or masks["new_axis"]:
        return None
    place: list[int | slice] = []
    for axis, (first, end, step) in enumerate(zip(*vectors, strict=True)):
        without = {name: bool(mask >> axis & 1) for name, mask in masks.items()}
        if without["shrink_axis"]:
            place.append(first)
        else:
            place.append(slice(None if without["begin"] else first, None if without["end"] else end, step))
    return tuple(place)


def _elements(value: ir.Value) -> npt.NDArray[Any] | None:
    """The elements of a constant; None if it is none of float32, or, as an axis, of int32."""
    attribute = elements_of_constant(without_copies(value), *_CONSTANTS)
    if attribute is None or str(attribute.type.element_type) not in {"f32", "i32"}:
        return None
    return np.array(attribute).reshape(attribute.type.shape)
