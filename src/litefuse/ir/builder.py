"""Builder of TensorFlow ops with inferred result types; the model computes unknown dimensions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.ir.constants import string_elements
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.ops.dims import Shape
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import MixedSize, Tensor, binary, compare, constant, emit, select, unary
from litefuse.ir.types import TensorType, element_type_of, ranked_tensor_type
from litefuse.support.options.limits import check_constant

__all__ = ["Builder", "MixedSize"]

# The highest rank of CONCATENATION in XNNPACK: the fault `concatenation-of-seven-dimensions`.
_MAX_JOINED_RANK = 6


class Builder:
    """Emits ``tf`` ops at the current insertion point and location.

    Values broadcast as in TensorFlow. A Python number as the other operand of a value becomes a constant of its dtype.
    Formulas of values that have names are better written with operators: ``litefuse.ir.tensors``.
    """

    op = staticmethod(emit)
    constant = staticmethod(constant)
    unary = staticmethod(unary)
    binary = staticmethod(binary)
    compare = staticmethod(compare)
    select = staticmethod(select)

    def ops(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[tuple[Sequence[int | None] | None, str]],
        **attributes: Any,
    ) -> list[Tensor]:
        """Emits an op with any number of results of the given shapes and dtypes.

        Raises:
            NotDecomposed: A shape is None, for an unknown rank.
        """
        if any(shape is None for shape, _ in results):
            raise NotDecomposed("a result is of unknown rank")
        kinds = [ranked_tensor_type(TensorType(dtype, tuple(shape or ()))) for shape, dtype in results]
        return [Tensor(result) for result in create_op(name, kinds, operands, attributes).results]

    def options(self, op: TensorFlowOp) -> dict[str, Any]:
        """Returns an op's attributes except dtypes, which the types of operands and results imply.

        Raises:
            NotDecomposed: The op has segment sizes of operands or results.
        """
        if any(key.endswith("SegmentSizes") for key in op.attributes):
            raise NotDecomposed("it has several groups of operands or results")
        return {key: value for key, value in op.attributes.items() if not isinstance(value, ir.TypeAttr)}

    def recast(
        self, op: TensorFlowOp, dtype: str, other: str, between: Callable[[Tensor], Tensor] | None = None
    ) -> list[Tensor]:
        """Emits the op with operands of one dtype cast to another, and its results cast back.

        Args:
            op: The op.
            dtype: The dtype.
            other: The other dtype.
            between: Applied to the results of the other dtype before they are cast back.
        """
        operands = list(op.operands)
        for place, (value, known) in enumerate(zip(op.operands, op.constants, strict=True)):
            if self.dtype(value) == dtype:
                operands[place] = self.cast(value, other) if known is None else self.constant(known, other)
        kinds = [(result.shape, other if result.dtype == dtype else result.dtype) for result in op.results]
        results = self.ops(op.name, operands, kinds, **self.options(op))
        return [
            self.cast(between(value) if between and result.dtype == dtype else value, result.dtype)
            for value, result in zip(results, op.results, strict=True)
        ]

    # Values and dimensions.

    def shape(self, value: ir.Value) -> Shape:
        """Returns a value's shape, with None for dynamic dimensions.

        Raises:
            NotDecomposed: Its rank is unknown.
        """
        return Tensor(value).shape

    def dtype(self, value: ir.Value) -> str:
        return Tensor(value).dtype

    def strings(self, values: npt.NDArray[Any]) -> Tensor:
        """Emits a constant of strings, given as an object array of bytes."""
        kind = ranked_tensor_type(TensorType("string", values.shape))
        attributes = {"value": string_elements(values)}
        return Tensor(ir.Operation.create("tf.Const", results=[kind], attributes=attributes).result)

    def size(self, value: ir.Value, axis: int) -> MixedSize:
        return self.sizes(value)[axis]

    def sizes(self, value: ir.Value) -> list[MixedSize]:
        shape = self.shape(value)
        if None not in shape:
            return list(cast("tuple[int, ...]", shape))
        return self.sizes_in(self.op("Shape", [value], [len(shape)], "int32"), shape)

    def sizes_in(self, vector: ir.Value, shape: Sequence[int | None]) -> list[MixedSize]:
        """Returns the sizes in a vector of integers; those of ``shape`` if they are known there."""
        return [
            self.cast(self.element(vector, axis), "int32") if size is None else size for axis, size in enumerate(shape)
        ]

    def numbers(self, op: TensorFlowOp, operand: int, count: int) -> list[MixedSize]:
        """Returns the integers in an operand, a vector or matrix of ``count`` elements."""
        known = op.constants[operand]
        if known is not None:
            return [int(number) for number in known.reshape(-1)]
        vector = op.operands[operand]
        if len(self.shape(vector)) != 1:
            vector = self.reshape(vector, [count])
        return self.sizes_in(vector, [None] * count)

    def element(self, vector: ir.Value, index: int) -> Tensor:
        """Returns one element of a vector, as a scalar."""
        ends = [self.constant([number], "int32") for number in (index, index + 1, 1)]
        masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}
        return self.op("StridedSlice", [vector, *ends], [], self.dtype(vector), **masks)

    def known(self, dims: Sequence[MixedSize]) -> list[int | None]:
        """Returns the shape with these sizes, with None for those that the model computes."""
        return [dim if isinstance(dim, int) else None for dim in dims]

    def vector(self, dims: Sequence[MixedSize]) -> Tensor:
        """Returns sizes as an int32 vector."""
        if all(isinstance(dim, int) for dim in dims):
            return self.constant(np.array(dims, np.int32), "int32")
        return self.stack([self.scalar(dim) for dim in dims], 0)

    def scalar(self, dim: MixedSize) -> Tensor:
        """Returns a size as an int32 scalar."""
        return self.constant(dim, "int32") if isinstance(dim, int) else dim

    def dims(self, name: str, a: MixedSize, b: MixedSize) -> MixedSize:
        """Combines sizes by ``AddV2``, ``Sub``, ``Mul``, ``FloorDiv``, ``FloorMod``, ``Minimum`` or ``Maximum``."""
        if isinstance(a, int) and isinstance(b, int):
            return _DIMS[name](a, b)
        return self.binary(name, self.scalar(a), self.scalar(b))

    def product(self, dims: Sequence[MixedSize]) -> MixedSize:
        """Returns the product of sizes."""
        result: MixedSize = math.prod(dim for dim in dims if isinstance(dim, int))
        for dim in dims:
            if not isinstance(dim, int):
                result = dim if isinstance(result, int) and result == 1 else self.dims("Mul", result, dim)
        return result

    # Elementwise.

    def broadcast_both(self, a: ir.Value, b: ir.Value) -> list[Tensor]:
        """Returns two values of real numbers, each broadcast to their common shape."""
        # Selects with a false condition, because the engine folds sums with zeros, and products with them turn an
        # infinity into NaN.
        nowhere = (abs(Tensor(a)) < 0.0) | (abs(Tensor(b)) < 0.0)
        return [select(nowhere, 0.0, value) for value in (a, b)]

    def cast(self, value: ir.Value, dtype: str) -> Tensor:
        """Emits ``Cast``; returns the value itself if it has the dtype."""
        if self.dtype(value) == dtype:
            return Tensor(value)
        return self.op("Cast", [value], self.shape(value), dtype, Truncate=False)

    def bitcast(self, value: ir.Value, dtype: str) -> Tensor:
        """Emits ``Bitcast`` to a dtype of the same width; returns the value itself if it has the dtype."""
        if self.dtype(value) == dtype:
            return Tensor(value)
        return self.op("Bitcast", [value], self.shape(value), dtype)

    # Shapes.

    def reshape(self, value: ir.Value, dims: Sequence[MixedSize]) -> Tensor:
        """Emits ``Reshape``; returns the value itself if it is known to have the shape."""
        shape = self.known(dims)
        if 0 not in shape and shape.count(None) < 2:  # one dynamic dimension follows from the others
            if shape == list(self.shape(value)):
                return Tensor(value)
            dims = [-1 if size is None else size for size in shape]
        return self.op("Reshape", [value, self.vector(dims)], shape, self.dtype(value))

    def reshape_to(self, value: ir.Value, shape: ir.Value) -> Tensor:
        """Emits ``Reshape`` to a shape of which not even the rank is known."""
        kind = ir.UnrankedTensorType.get(element_type_of(self.dtype(value)))
        return Tensor(ir.Operation.create("tf.Reshape", results=[kind], operands=[value, shape]).result)

    def expand(self, value: ir.Value, axis: int) -> Tensor:
        """Emits ``ExpandDims``: inserts a dimension of size 1."""
        shape = list(self.shape(value))
        shape.insert(axis, 1)
        return self.op("ExpandDims", [value, self.constant(axis, "int32")], shape, self.dtype(value))

    def transpose(self, value: ir.Value, permutation: Sequence[int]) -> Tensor:
        """Emits ``Transpose``; returns the value itself if the permutation is the identity."""
        if list(permutation) == sorted(permutation):
            return Tensor(value)
        shape = self.shape(value)
        operands = [value, self.constant(np.array(permutation, np.int32), "int32")]
        return self.op("Transpose", operands, [shape[axis] for axis in permutation], self.dtype(value))

    def reverse(self, value: ir.Value, axes: Sequence[int]) -> Tensor:
        """Emits ``ReverseV2`` along some nonnegative dimensions."""
        runs: list[list[int]] = []  # of adjacent dimensions: the fault `reversal-of-dimensions-apart`
        for axis in sorted(axes):
            if runs and axis == runs[-1][-1] + 1:
                runs[-1].append(axis)
            else:
                runs.append([axis])
        for run in runs:
            operands = [value, self.constant(np.array(run, np.int32), "int32")]
            value = self.op("ReverseV2", operands, self.shape(value), self.dtype(value))
        return Tensor(value)

    def stack(self, values: Sequence[ir.Value], axis: int) -> Tensor:
        """Emits ``Pack``: stacks values of one shape along a new dimension."""
        shape = list(self.shape(values[0]))
        shape.insert(axis, len(values))
        return self.op("Pack", values, shape, self.dtype(values[0]), axis=axis)

    def concat(self, values: Sequence[ir.Value], axis: int) -> Tensor:
        """Emits ``ConcatV2`` without empty values, for the fault ``concatenation-of-an-empty-slice``."""
        values = [value for value in values if self.shape(value)[axis] != 0] or values[:1]
        if len(values) == 1:
            return Tensor(values[0])
        if len(self.shape(values[0])) > _MAX_JOINED_RANK:
            sizes = self.sizes(values[0])
            outer, inner = self.product(sizes[:axis]), self.product(sizes[axis + 1 :])
            joined = self.concat([self.reshape(value, [outer, self.size(value, axis), inner]) for value in values], 1)
            return self.reshape(joined, [*sizes[:axis], self.size(joined, 1), *sizes[axis + 1 :]])
        shapes = [self.shape(value) for value in values]
        shape = [next((size for size in sizes if size is not None), None) for sizes in zip(*shapes, strict=True)]
        along = [sizes[axis] for sizes in shapes]
        shape[axis] = None if None in along else sum(cast("list[int]", along))
        return self.op("ConcatV2", [*values, self.constant(axis, "int32")], shape, self.dtype(values[0]))

    def slice(self, value: ir.Value, axis: int, begin: MixedSize, end: MixedSize | None, stride: int = 1) -> Tensor:
        """Slices one dimension from ``begin`` to ``end``, excluded (None: to the last), in steps of ``stride``."""
        return self.slices(value, {axis: (begin, end, stride)})

    def slices(self, value: ir.Value, axes: dict[int, tuple[MixedSize, MixedSize | None, int]]) -> Tensor:
        """Slices several dimensions at once, like ``slice``. Begins and ends are not negative."""
        shape = list(self.shape(value))
        begins: list[MixedSize] = [0] * len(shape)
        ends: list[MixedSize] = [0] * len(shape)
        strides = [1] * len(shape)
        masked = (1 << len(shape)) - 1
        for axis, (begin, end, stride) in axes.items():
            begins[axis], strides[axis] = begin, stride
            size = shape[axis]
            if end is not None:
                ends[axis] = end
                masked &= ~(1 << axis)
            stop = size if end is None else end
            shape[axis] = None
            if isinstance(begin, int) and isinstance(stop, int):
                stop = stop if size is None else min(stop, size)
                if size is not None or stride == 1:
                    shape[axis] = len(range(begin, stop, stride))
        masks = {"begin_mask": 0, "end_mask": masked, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
        operands = [value, self.vector(begins), self.vector(ends), self.constant(strides, "int32")]
        return self.op("StridedSlice", operands, shape, self.dtype(value), **masks)

    def pad(
        self, value: ir.Value, paddings: Sequence[tuple[MixedSize, MixedSize]], fill: float | ir.Value = 0
    ) -> Tensor:
        """Emits ``PadV2``: adds ``(before, after)`` elements ``fill``, a number or scalar, in each dimension."""
        if all(isinstance(n, int) and n == 0 for pair in paddings for n in pair):
            return Tensor(value)
        shape = [
            size + before + after if isinstance(before, int) and isinstance(after, int) and size is not None else None
            for size, (before, after) in zip(self.shape(value), paddings, strict=True)
        ]
        if all(isinstance(n, int) for pair in paddings for n in pair):
            amounts = self.constant(np.array(paddings, np.int32), "int32")
        else:
            amounts = self.reshape(self.vector([n for pair in paddings for n in pair]), [len(shape), 2])
        filler = fill if isinstance(fill, ir.Value) else self.constant(fill, self.dtype(value))
        return self.op("PadV2", [value, amounts, filler], shape, self.dtype(value))

    def broadcast(self, value: ir.Value, dims: Sequence[MixedSize]) -> Tensor:
        """Emits ``BroadcastTo``; returns the value itself if it is known to have these sizes."""
        shape = self.known(dims)
        if None not in shape and list(self.shape(value)) == shape:
            return Tensor(value)
        return self.op("BroadcastTo", [value, self.vector(dims)], shape, self.dtype(value))

    def fill(self, dims: Sequence[MixedSize], value: float, dtype: str) -> Tensor:
        """Emits ``Fill``; a constant if all sizes are known."""
        if all(isinstance(dim, int) for dim in dims):
            sizes = cast("list[int]", list(dims))
            check_constant(8 * math.prod(sizes), 0, "a constant in place of an op")
            return self.constant(np.full(sizes, value), dtype)
        operands = [self.vector(dims), self.constant(value, dtype)]
        return self.op("Fill", operands, self.known(dims), dtype)

    def range(self, count: MixedSize) -> Tensor:
        """Returns the int32 numbers from 0 to ``count - 1``."""
        if isinstance(count, int):
            check_constant(4 * count, 0, "a range in place of an op")
            return self.constant(np.arange(count, dtype=np.int32), "int32")
        return self.op("Range", [self.scalar(0), count, self.scalar(1)], [None], "int32")

    # Others.

    def gather(self, value: ir.Value, indices: ir.Value, axis: int = 0) -> Tensor:
        """Emits ``GatherV2``: gathers slices along ``axis`` at the indices."""
        shape = self.shape(value)
        result = [*shape[:axis], *self.shape(indices), *shape[axis + 1 :]]
        return self.op(
            "GatherV2", [value, indices, self.constant(axis, "int32")], result, self.dtype(value), batch_dims=0
        )

    def reduce(self, name: str, value: ir.Value, axis: int, *, keep_dims: bool = False) -> Tensor:
        """Emits a reduction, such as ``Sum``, along one dimension."""
        shape = list(self.shape(value))
        shape[axis : axis + 1] = [1] if keep_dims else []
        operands = [value, self.constant([axis], "int32")]
        return self.op(name, operands, shape, self.dtype(value), keep_dims=keep_dims)

    def cumsum(self, value: ir.Value, axis: int, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
        """Emits ``Cumsum`` along a dimension, which excludes the element itself if ``exclusive``."""
        operands = [value, self.constant(axis, "int32")]
        options = {"exclusive": exclusive, "reverse": reverse}
        return self.op("Cumsum", operands, self.shape(value), self.dtype(value), **options)

    def places(self, conditions: ir.Value) -> Tensor:
        """Returns the int32 positions at which a vector of conditions is true."""
        positions = self.cast(self.op("Where", [conditions], [None, 1], "int64"), "int32")
        return self.reshape(positions, [self.size(positions, 0)])


_DIMS: dict[str, Callable[[int, int], int]] = {
    "AddV2": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod,
    "Minimum": min,
    "Maximum": max,
}
