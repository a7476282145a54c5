"""Replaces parts of constants by constants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_values
from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import DENSE_CONSTANTS, PLACEHOLDER, pseudo_constant, stored, tensor_constant
from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import Op, Tensor, Undecided, array_of
from litefuse.ir.ops.values import VALUES
from litefuse.ir.purity import is_used
from litefuse.passes.weights import Weight, Weights, takes_placeholder, takes_stub
from litefuse.passes.weights.fold_constants import LARGEST_FOLDED

_Array = npt.NDArray[Any]

# The ops that take parts of a tensor, and the position of that operand.
_CUTTING: Mapping[str, int] = {
    "Gather": 0,
    "GatherV2": 0,
    "Slice": 0,
    "Split": 1,
    "SplitV": 0,
    "StridedSlice": 0,
    "Unpack": 0,
}
_GATHERING = frozenset({"Gather", "GatherV2"})
# The ops that may come before and after: the engine does not fold a reshape of a constant.
_REARRANGING = frozenset({"ExpandDims", "Identity", "Reshape", "Squeeze", "Transpose"})
_LITERT = {
    "tfl.expand_dims": "ExpandDims",
    "tfl.gather": "Gather",
    "tfl.reshape": "Reshape",
    "tfl.slice": "Slice",
    "tfl.split": "Split",
    "tfl.split_v": "SplitV",
    "tfl.squeeze": "Squeeze",
    "tfl.strided_slice": "StridedSlice",
    "tfl.transpose": "Transpose",
    "tfl.unpack": "Unpack",
}
_NAMES: Mapping[str, str] = {f"tf.{name}": name for name in (*_CUTTING, *_REARRANGING)} | _LITERT
_CUT = DENSE_CONSTANTS | {PLACEHOLDER}  # their elements are numbers, not in steps of a scale
_DTYPES = frozenset({"f16", "f32", "f64", "i8", "i32", "i64"})
# Rows may be gathered more than once: such a part may take more bytes than the whole up to this limit. Other parts
# that overlap may up to that of folding.
_LARGEST_GATHERED = 1 << 20


class CutConstants(NamedTuple):
    """Slices constants once, instead of in each call, or in each step of a loop::

        %0:2 = tf.Split(%axis, %w)              %w0 = tfl.external_const() {offset = 7}
        %1 = tf.Conv2D(%x, %0#0)          -->   %1 = tf.Conv2D(%x, %w0)

    It runs before the engine, and again after it for values that are constants only then: those that a loop forwards
    unchanged, and the positions of rows that are computed of constants.

    XNNPACK only runs convolutions whose filters are constants, and the engine does not fold these ops. A part of a
    weight that stays mapped is a view of the same bytes. The gates of Keras's ConvLSTM and the biases of its GRU are
    such parts, and the embeddings of positions in a model of fixed length. (In a loop, such copies are also subject to
    the fault ``left-out-copies``.)
    """

    name = "cut-constants"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        modified = False
        parts: set[ir.Operation] = set()
        while self._cut(module, parts):  # parts may be cut again
            modified = True
        return modified

    def _cut(self, module: ir.Module, cut: set[ir.Operation]) -> bool:
        """Cuts constants, and adds the parts to ``cut``; returns whether there were any."""
        modified = False
        for constant, ops in _taken_apart(module, cut).items():
            array, mapped = self._elements(constant)
            if array is None:
                continue
            cuts = [(op, parts) for op in ops if (parts := _parts(op, array)) is not None]
            if sum(part.nbytes for _, parts in cuts for part in parts) > max(array.nbytes, LARGEST_FOLDED):
                continue
            for op, parts in cuts:
                for result, part in zip(op.results, parts, strict=True):
                    if any(True for _ in result.uses):
                        cut.add(self._place(op, result, part, mapped=mapped))
                op.erase()
                modified = True
            if cuts and not is_used(constant):
                cut.discard(constant)
                constant.erase()
        return modified

    def _elements(self, constant: ir.Operation) -> tuple[_Array | None, bool]:
        """Returns a constant's elements, if they can be cut, and whether they are of a weight that stays mapped."""
        number = self.weights.number(constant.result)
        if number is None:
            try:
                attribute = constant.attributes["value"]
            except TypeError:  # complex elements, which the bindings do not support
                return None, False
            if isinstance(attribute, ir.DenseElementsAttr):
                known = str(attribute.type.element_type) in _DTYPES
                return np.array(attribute, copy=False).reshape(attribute.type.shape) if known else None, False
            number = self.weights.find(attribute)
        weight = None if number is None else self.weights[number]
        return None if weight is None or weight.factors else weight.source, True

    def _place(self, op: ir.Operation, result: ir.Value, part: _Array, *, mapped: bool) -> ir.Operation:
        """Replaces a result by a part, and returns the part's defining op."""
        with ir.InsertionPoint(op), op.location:
            lowered = op.name in _LITERT
            if mapped and (takes_stub(result) if lowered else takes_placeholder(result)):
                value = self.weights.emit(self.weights.number_of(Weight(part)))
            else:
                elements = ir.DenseElementsAttr.get(np.ascontiguousarray(part), type=result.type)
                value = pseudo_constant(elements) if lowered else tensor_constant(elements)
        result.replace_all_uses_with(value)
        owner = value.owner
        assert not isinstance(owner, ir.Block)
        return owner.operation


def _taken_apart(module: ir.Module, cut: Collection[ir.Operation]) -> dict[ir.Operation, list[ir.Operation]]:
    """Returns the constants to cut, with the ops that cut them, lead to such ops, or rearrange a part."""
    readers: dict[ir.Operation, list[ir.Operation]] = defaultdict(list)
    for op in all_operations(module):
        name = _NAMES.get(op.name)
        if name is None:
            continue
        position = _CUTTING.get(name)
        owner: Any = op.operands[position or 0].owner
        if position is None:
            if owner in cut:
                readers[owner].append(op.operation)
            continue
        reader = op.operation
        while not isinstance(owner, ir.Block) and _NAMES.get(owner.name) in _REARRANGING:
            reader, owner = owner, owner.operands[0].owner
        if not isinstance(owner, ir.Block) and owner.name in _CUT and reader not in readers[owner]:
            readers[owner].append(reader)
    return readers


def _parts(op: ir.Operation, array: _Array) -> Sequence[_Array] | None:
    """Returns the parts of a constant that an op takes, as views; None if that is dynamic."""
    kinds = [result.type for result in op.results]
    if not all(isinstance(kind, ir.RankedTensorType) and kind.has_static_shape for kind in kinds):
        return None
    name = _NAMES[op.name]
    if name in _GATHERING:
        rows = _gathered(op, array)
        return None if rows is None else [rows]
    operands: list[Tensor] = []
    for position, value in enumerate(op.operands):
        if position == _CUTTING.get(name, 0):
            operands.append(Tensor("", array.shape, array))
            continue
        elements = stored(value)
        if elements is None:
            return None
        shape = tuple(elements.type.shape)
        operands.append(Tensor("i32", shape, array_of(np.array(elements).reshape(-1).tolist(), shape)))
    try:
        values = VALUES[name](Op(name, operands, [Tensor("", None)] * len(op.results), attribute_values(op)))
    except (Undecided, LookupError, TypeError, ValueError):  # raised by numpy; the engine reports what is wrong
        return None
    parts = values if isinstance(values, list) else [values]
    shapes = [tuple(ir.ShapedType(kind).shape) for kind in kinds]
    return parts if [part.shape for part in parts] == shapes and all(part.size for part in parts) else None


def _gathered(op: ir.Operation, array: _Array) -> _Array | None:
    """Returns what an op gathers at constant places, a view if they follow each other; None if that is dynamic."""
    stated, *axes = [stored(value) for value in list(op.operands)[1:]]
    attributes = attribute_values(op)
    if stated is None or attributes.get("batch_dims", 0) != 0:
        return None
    places = np.array(stated).reshape(stated.type.shape)
    axis: int = attributes.get("axis", 0)  # LiteRT's; TensorFlow's is an operand
    for elements in axes:
        if elements is None:
            return None
        (axis,) = np.array(elements).reshape(-1).tolist()
    if not array.ndim or not -array.ndim <= axis < array.ndim:
        return None
    axis %= array.ndim
    if not places.size or places.min() < 0 or places.max() >= array.shape[axis]:
        return None
    shape = (*array.shape[:axis], *places.shape, *array.shape[axis + 1 :])
    if tuple(ir.ShapedType(op.result.type).shape) != shape:
        return None
    first: int = places.reshape(-1).tolist()[0]
    if np.array_equal(places.reshape(-1), np.arange(first, first + places.size)):
        return array[(slice(None),) * axis + (slice(first, first + places.size),)].reshape(shape)
    size = array.nbytes // array.shape[axis] * places.size
    return None if size > max(array.nbytes, _LARGEST_GATHERED) else np.take(array, places, axis)
