"""Values of a program during translation: emitted on demand, with what is known of them before."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of

Elements: TypeAlias = "npt.NDArray[np.object_]"
"""The elements of a small tensor of integers or conditions: numbers, or sizes that the model knows (``MixedSize``)."""

MOST_ELEMENTS = 64
"""Tensors of integers with at most this many elements are tracked element by element."""


@dataclass(frozen=True)
class Spread:
    """Says that a value is a broadcast of another one.

    Attributes:
        small: The value that is repeated; it broadcasts, as in TensorFlow, to the whole.
        dims: The sizes of the whole.
    """

    small: Value
    dims: tuple[MixedSize, ...]


@dataclass(frozen=True)
class Reduction:
    """Says that a value is a reduction.

    Attributes:
        name: TensorFlow's op, such as ``Sum``.
        operand: The reduced value.
        axes: The reduced dimensions.
        keep_dims: Whether these stay, with size 1.
    """

    name: str
    operand: ir.Value
    axes: tuple[int, ...]
    keep_dims: bool = False

    def emit(self, b: Builder) -> ir.Value:
        shape = list(b.shape(self.operand))
        for axis in sorted(self.axes, reverse=True):
            shape[axis : axis + 1] = [1] if self.keep_dims else []
        operands = [self.operand, b.constant(np.array(self.axes, np.int32), "int32")]
        return b.op(self.name, operands, shape, b.dtype(self.operand), keep_dims=self.keep_dims)

    def count(self, b: Builder) -> int | None:
        """Returns how many elements each result is reduced from; None if a size is dynamic."""
        sizes = [b.shape(self.operand)[axis] for axis in self.axes]
        return None if None in sizes else math.prod(cast("list[int]", sizes))

    def kept(self) -> Reduction:
        """Returns the reduction with ``keep_dims``."""
        return replace(self, keep_dims=True)


@dataclass(frozen=True)
class Pool:
    """Says that a value is the sum of each window of an image.

    Attributes:
        operand: The image, a value of the program.
        windows: A description of the windows; equal for equal ones.
        average: Emits the mean of each window instead, over its elements inside of the image.
        count: How many elements each window has, if all lie in the image.
    """

    operand: ir.Value
    windows: object
    average: Callable[[], ir.Value]
    count: int | None


@dataclass(frozen=True)
class List:
    """Says that a value is a list of items, of which a loop reads or writes one in each iteration."""

    handle: ir.Value
    index: ir.Value


class Value:
    """One value of the program.

    Attributes:
        elements: Its elements, if it is small and of integers or conditions.
        spread: The broadcast that it is, if it is one.
        reduction: The reduction that it is, if it is one.
        constant: Its attribute, if it is a constant scalar.
        pool: The pooling that it is, if it is one.
        listed: The list that replaces it, in a loop over its items.
        expanded: The value without its first dimension, which is of size 1, if that is known.
    """

    def __init__(
        self,
        emitted: ir.Value | Callable[[], ir.Value],
        *,
        elements: Elements | None = None,
        spread: Spread | None = None,
        reduction: Reduction | None = None,
        constant: ir.DenseElementsAttr | None = None,
        pool: Pool | None = None,
        listed: List | None = None,
        expanded: Value | None = None,
    ) -> None:
        self._emitted = emitted
        self.elements = elements
        self.spread = spread
        self.reduction = reduction
        self.constant = constant
        self.pool = pool
        self.listed = listed
        self.expanded = expanded

    def emit(self) -> Tensor:
        """Emits the value as TensorFlow ops, once, at the insertion point of the first call."""
        if not isinstance(self._emitted, Tensor):
            self._emitted = Tensor(self._emitted if isinstance(self._emitted, ir.Value) else self._emitted())
        return self._emitted


def constant_value(attribute: ir.Attribute) -> Value:
    """Returns a constant by its attribute."""
    kind = ir.RankedTensorType(attribute.type)

    def emit() -> ir.Value:
        return create_value("tf.Const", kind, [], {"value": attribute})

    return Value(emit, constant=attribute if isinstance(attribute, ir.DenseElementsAttr) and not kind.rank else None)


def dims_of(elements: Elements) -> list[MixedSize]:
    """Returns the elements as a flat list."""
    return cast("list[MixedSize]", elements.reshape(-1).tolist())


def elements_of(dims: Iterable[MixedSize], shape: Sequence[int]) -> Elements:
    """Returns elements in a shape."""
    elements = np.empty(tuple(shape), np.object_)
    for i, dim in enumerate(dims):
        elements.flat[i] = dim
    return elements


def known_numbers(elements: Elements | None) -> npt.NDArray[np.int64] | None:
    """Returns the elements as numbers; None if one of them is unknown."""
    if elements is None or not all(isinstance(dim, int) for dim in dims_of(elements)):
        return None
    return np.array(elements.tolist(), np.int64).reshape(elements.shape)


def elements_value(b: Builder, elements: Elements, dtype: str) -> Value:
    """Returns a value by its elements."""
    numbers = known_numbers(elements)

    def emit() -> ir.Value:
        if numbers is not None:
            return b.constant(numbers, dtype)
        dims = dims_of(elements)
        if not elements.shape:
            return b.cast(b.scalar(dims[0]), dtype)
        vector = b.cast(b.vector(dims), dtype)
        return vector if elements.ndim == 1 else b.reshape(vector, elements.shape)

    repeated = None
    if numbers is not None and numbers.size and numbers.ndim and (numbers == numbers.flat[0]).all():
        first = numbers.reshape(-1).tolist()[0]
        repeated = Spread(Value(lambda: b.constant(first, dtype)), numbers.shape)
    return Value(emit, elements=elements, spread=repeated)


def spread(b: Builder, small: Value, dims: Sequence[MixedSize]) -> Value:
    """Returns a value that broadcasts another one."""
    constant = small.constant

    def emit() -> ir.Value:
        if constant is None or not all(isinstance(dim, int) for dim in dims):
            return b.broadcast(small.emit(), dims)
        kind = ir.RankedTensorType.get(cast("list[int]", list(dims)), ir.ShapedType(constant.type).element_type)
        attribute = ir.DenseElementsAttr.get_splat(kind, constant.get_splat_value())
        return create_value("tf.Const", kind, [], {"value": attribute})

    return Value(emit, spread=Spread(small, tuple(dims)))


def constant_numbers(value: ir.Value) -> npt.NDArray[Any] | None:
    """Returns the value of a constant of the program; None for any other value, and for dtypes that numpy lacks."""
    attribute = _constant_attribute(value)
    if attribute is None:
        return None
    if attribute.is_splat:
        number = number_of(attribute.get_splat_value())
        return None if number is None else np.broadcast_to(np.array(number), ir.ShapedType(attribute.type).shape)
    try:
        return np.array(attribute)
    except (TypeError, ValueError):  # of bfloat16, for example
        return None


def repeated_number(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are, through broadcasts and conversions; None if none."""
    converted: list[str] = []
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _REPEATING:
        if value.owner.operation.name == "stablehlo.convert":
            converted.append(tensor_type_of(value).dtype)
        value = value.owner.operands[0]
    attribute = _constant_attribute(value)
    if attribute is None or not attribute.is_splat:
        return None
    number = number_of(attribute.get_splat_value())
    # Conversions that would round the number are left to the model.
    return number if all(dtype in {"float32", "float64"} for dtype in converted) else None


def number_of(attribute: ir.Attribute) -> float | None:
    """Returns a number, or 0 or 1 for a condition; None for any other attribute, such as a complex number."""
    if isinstance(attribute, ir.BoolAttr):
        return int(attribute.value)
    return attribute.value if isinstance(attribute, (ir.IntegerAttr, ir.FloatAttr)) else None


def operands_of(value: ir.Value, name: str) -> list[ir.Value]:
    """Returns the operands of a value's defining op; none if it has no op, or another than StableHLO's of this name."""
    owner = value.owner
    return [] if isinstance(owner, ir.Block) or owner.operation.name != f"stablehlo.{name}" else list(owner.operands)


def _constant_attribute(value: ir.Value) -> ir.DenseElementsAttr | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.constant":
        return None
    if isinstance(ir.ShapedType(value.type).element_type, ir.ComplexType):
        return None  # the bindings cannot read them
    attribute = owner.attributes["value"]
    return attribute if isinstance(attribute, ir.DenseElementsAttr) else None


_REPEATING = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.dynamic_broadcast_in_dim"})
