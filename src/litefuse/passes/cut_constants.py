"""Parts of constants as constants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.engine.constants import elements_of_constant
from litefuse.engine.mlir import ir
from litefuse.fusions.annotation import attribute_value
from litefuse.passes.call_graph import attributes_of, functions, nested_operations
from litefuse.shapes.facts import Op, Tensor, Undecided, array_of
from litefuse.shapes.values import VALUES
from litefuse.weights import Weight, Weights, takes_placeholder

__all__ = ["CutConstants"]

_Array = npt.NDArray[Any]

# The ops that take a tensor apart, and which operand it is.
_CUTTING: Mapping[str, int] = {"tf.Slice": 0, "tf.Split": 1, "tf.SplitV": 0, "tf.StridedSlice": 0, "tf.Unpack": 0}
# What may come before.
_REARRANGING = frozenset({"tf.ExpandDims", "tf.Identity", "tf.Reshape", "tf.Squeeze", "tf.Transpose"})
_DTYPES = frozenset({"f16", "f32", "f64", "i8", "i32", "i64"})
# Parts that overlap may take more than what they are parts of: as much as TensorFlow's own folding makes, in bytes
# (tensorflow/core/grappler/optimizers/constant_folding.cc).
_LARGEST = 10 << 20


@dataclass(frozen=True)
class CutConstants:
    """Takes constants apart once, and not in each call, or in each step of a loop::

        %0:2 = tf.Split(%axis, %w)              %w0 = tfl.external_const() {offset = 7}
        %1 = tf.Conv2D(%x, %0#0)          -->   %1 = tf.Conv2D(%x, %w0)

    Filters of convolutions are XNNPACK's only where they are constants, and the engine folds no such op. A part of a
    weight that stays mapped is a view of the same bytes. The gates of Keras's ConvLSTM and the biases of its GRU are
    such parts. (In a loop, such copies are also what XNNPACK at times leaves out in the first call with a larger
    batch.)

    Attributes:
        weights: The weights of the conversion.
    """

    name: ClassVar[str] = "cut-constants"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        modified = False
        while self._cut(module):  # parts may be taken apart again
            modified = True
        return modified

    def _cut(self, module: ir.Module) -> bool:
        modified = False
        for constant, ops in _taken_apart(module).items():
            attribute = constant.attributes["value"]
            array = self._elements(attribute)
            if array is None:
                continue
            found = [(op, parts) for op in ops if (parts := _parts(op, array)) is not None]
            if sum(part.nbytes for _, parts in found for part in parts) > max(array.nbytes, _LARGEST):
                continue
            for op, parts in found:
                for result, part in zip(op.results, parts, strict=True):
                    if any(True for _ in result.uses):
                        self._place(op, result, part, mapped=not isinstance(attribute, ir.DenseElementsAttr))
                op.erase()
                modified = True
            if found and not any(True for _ in constant.result.uses):
                constant.erase()
        return modified

    def _elements(self, attribute: ir.Attribute) -> _Array | None:
        if isinstance(attribute, ir.DenseElementsAttr):
            if str(attribute.type.element_type) not in _DTYPES:
                return None
            return np.array(attribute, copy=False).reshape(attribute.type.shape)
        number = self.weights.find(attribute)
        return None if number is None else self.weights[number].source

    def _place(self, op: ir.Operation, result: ir.Value, part: _Array, *, mapped: bool) -> None:
        """Puts a part in the place of a result."""
        with ir.InsertionPoint(op), op.location:
            if mapped and takes_placeholder(result):
                value = self.weights.emit(self.weights.number_of(Weight(part)))
            else:
                elements = ir.DenseElementsAttr.get(np.ascontiguousarray(part), type=result.type)
                value = ir.Operation.create("tf.Const", [result.type], [], {"value": elements}).result
        result.replace_all_uses_with(value)


def _taken_apart(module: ir.Module) -> dict[ir.Operation, list[ir.Operation]]:
    """The constants that are taken apart, and the ops that do it, or are on the way to such."""
    found: dict[ir.Operation, list[ir.Operation]] = defaultdict(list)
    for function in functions(module).values():
        if function.is_external:
            continue
        for op in nested_operations(function.entry_block):
            position = _CUTTING.get(op.name)
            if position is None:
                continue
            reader, owner = op.operation, op.operands[position].owner
            while not isinstance(owner, ir.Block) and owner.name in _REARRANGING:
                reader, owner = owner, owner.operands[0].owner
            if not isinstance(owner, ir.Block) and owner.name == "tf.Const" and reader not in found[owner]:
                found[owner].append(reader)
    return found


def _parts(op: ir.Operation, array: _Array) -> Sequence[_Array] | None:
    """What an op takes out of a constant, views of it; None where that depends on the call."""
    if not all(isinstance(each.type, ir.RankedTensorType) and each.type.has_static_shape for each in op.results):
        return None
    operands: list[Tensor] = []
    for position, value in enumerate(op.operands):
        if position == _CUTTING.get(op.name, 0):
            operands.append(Tensor("", array.shape, array))
            continue
        elements = elements_of_constant(value, "tf.Const")
        if elements is None:
            return None
        shape = tuple(elements.type.shape)
        operands.append(Tensor("i32", shape, array_of(np.array(elements).reshape(-1).tolist(), shape)))
    attributes = {name: attribute_value(each) for name, each in attributes_of(op).items()}
    name = op.name.removeprefix("tf.")
    try:
        found = VALUES[name](Op(name, operands, [Tensor("", None)] * len(op.results), attributes))
    except (Undecided, LookupError, TypeError, ValueError):  # as numpy says it; the engine says what is wrong
        return None
    parts = found if isinstance(found, list) else [found]
    shapes = [tuple(ir.ShapedType(each.type).shape) for each in op.results]
    return parts if [each.shape for each in parts] == shapes and all(each.size for each in parts) else None
