"""Reads types, attributes and constants of MLIR in the form that the rules of ops take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from litefuse.ir.attributes import attribute_value
from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Dim, Shape
from litefuse.ir.ops.facts import FLOATS, INTEGERS, Dims, Values, array_of
from litefuse.ir.ops.numbers import MAX_NUMBERS, Numbers, followed_values
from litefuse.ir.ops.values import MAX_ELEMENTS
from litefuse.ir.types import shape_of

__all__ = ["Attributes", "Declared", "Elements", "constant_elements", "declared_by", "unknown_elements"]

# The elements of a computed vector that may be a shape are tracked separately up to this number.
_MAX_OPEN_ELEMENTS = 16


class Attributes(Mapping[str, Any]):
    """An op's attributes as Python values, read on demand."""

    def __init__(self, op: ir.OpView) -> None:
        self._op = op
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            attributes = self._op.attributes
            if name not in attributes:
                raise KeyError(name)
            self._read[name] = attribute_value(attributes[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._op.attributes)

    def __len__(self) -> int:
        return len(self._op.attributes)


class Declared(NamedTuple):
    """The declared type of a value.

    Attributes:
        dtype: The element type as MLIR spells it.
        shape: The shape, with None for dynamic dimensions; None for an unknown rank.
    """

    dtype: str
    shape: Shape | None


class Elements(NamedTuple):
    """The known elements of a small tensor.

    Attributes:
        values: Of integers, and of a floating point scalar that is an integer.
        numbers: Of floating point numbers.
    """

    values: Values | None = None
    numbers: Numbers | None = None


def declared_by(kind: ir.Type) -> Declared:
    """Returns the dtype and shape that a type declares."""
    try:
        shaped = ir.ShapedType(kind)
    except ValueError:
        return Declared(str(kind), None)
    return Declared(str(shaped.element_type), shape_of(shaped))


def constant_elements(op: ir.OpView | ir.Operation, declared: Declared) -> Elements:
    """Returns the elements of a constant, if it is small and of numbers."""
    dtype = declared.dtype
    if declared.shape is None or dtype not in {*INTEGERS, *FLOATS}:
        return Elements()
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr):
        return Elements()
    sizes: list[int] = attribute.type.shape if attribute.type.rank else []
    count = np.prod(sizes, dtype=np.int64)
    if count > (MAX_ELEMENTS if dtype in INTEGERS else MAX_NUMBERS):
        return Elements()
    array = np.array(attribute).reshape(sizes)
    return Elements(followed_values(array, dtype), array if dtype in FLOATS else None)


def unknown_elements(shape: Dims, symbol: Callable[[int], Dim]) -> Values | None:
    """Returns symbols for the elements of an integer scalar or short vector; None for any other tensor.

    Args:
        shape: The tensor's shape.
        symbol: Makes the symbol of the element at an index.
    """
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) < len(shape) or len(shape) > 1 or sum(sizes) > _MAX_OPEN_ELEMENTS:
        return None
    return array_of([symbol(index) for index in range(sizes[0] if sizes else 1)], sizes)
