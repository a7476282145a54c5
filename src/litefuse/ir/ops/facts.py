"""Facts about tensors and ops that rules infer results from, and how facts about one shape are merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from litefuse.ir.ops.dims import Dim, Formula, Shape, broadcast_dims, is_size, unknown

INTEGERS = {f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)} | {"i1": np.dtype(np.bool_)}
"""The element types whose values are evaluated, by their MLIR names, with numpy's dtypes."""

FLOATS = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
"""The floating point types whose small constants are evaluated."""

Dims: TypeAlias = "tuple[Dim, ...]"
"""The size of each dimension."""

PartialDims: TypeAlias = "tuple[Dim | None, ...] | None"
"""A shape with None for an unknown dimension; None for an unknown rank."""

Values: TypeAlias = "npt.NDArray[Any]"
"""A tensor's elements: an array of Python objects that are ``Dim``; booleans are integers."""


class Undecided(Exception):  # noqa: N818  not an error: the declared shape stays
    """A rule cannot infer a shape from the known facts."""


class ShapeError(Exception):
    """The shapes of an op's operands contradict each other; the message says how."""


MALFORMED = (ArithmeticError, LookupError, TypeError, ValueError)
"""Raised by a rule, or by numpy in it, for operands and attributes that no op accepts."""


class Tensor(NamedTuple):
    """The facts about a tensor.

    Attributes:
        dtype: MLIR's name of the element type, such as ``i32``.
        shape: The shape; None for an unknown rank.
        values: The elements of a small integer or boolean tensor, if any is known; also of a floating point scalar with
            an integer value.
        numbers: The elements of a small floating point tensor, if all are known.
    """

    dtype: str
    shape: Dims | None
    values: Values | None = None
    numbers: npt.NDArray[Any] | None = None


class PartialTensor(NamedTuple):
    """The facts that a rule inferred.

    Attributes:
        shape: The shape.
        values: The elements, if any is known.
        numbers: The elements of a floating point tensor, if all are known.
    """

    shape: PartialDims
    values: Values | None
    numbers: npt.NDArray[Any] | None = None


def known(shape: PartialDims) -> Shape | None:
    """Returns the static sizes of a shape, None for the others."""
    return None if shape is None else tuple(None if isinstance(dim, Formula) else dim for dim in shape)


def text(shape: PartialDims) -> str:
    """Formats a shape for messages, such as ``[?,28,28]``."""
    if shape is None:
        return "of unknown rank"
    return f"[{','.join(str(dim) if isinstance(dim, int) else '?' for dim in shape)}]"


def elements(values: Values) -> list[Dim]:
    """Returns a tensor's elements as a flat list."""
    return values.reshape(-1).tolist()


_REQUIRED: Any = object()


class Op(NamedTuple):
    """An op, as its rule sees it.

    Attributes:
        name: Its name without the dialect, such as ``Conv2D``.
        operands: The facts about its operands.
        results: The declared facts about its results.
        attributes: Its attributes as Python values: int, float, bool, str, lists of these.
    """

    name: str
    operands: Sequence[Tensor]
    results: Sequence[Tensor]
    attributes: Mapping[str, Any]

    def attribute(self, name: str, default: Any = _REQUIRED) -> Any:
        """Returns an attribute's value.

        Raises:
            Undecided: It is missing, and has no default.
        """
        value = self.attributes.get(name, default)
        if value is _REQUIRED:
            raise Undecided(f"the attribute {name} is missing")
        return value

    def shape(self, index: int) -> Dims:
        """Returns the shape of an operand.

        Raises:
            Undecided: Its rank is unknown.
        """
        shape = self.operands[index].shape
        if shape is None:
            raise Undecided(f"the rank of operand {index} is not known")
        return shape

    def ranked(self, index: int, *ranks: int) -> Dims:
        """Returns the shape of an operand that must have one of these ranks; a single rank also holds if it is unknown.

        Raises:
            Undecided: Its rank is unknown.
            ShapeError: It has another rank.
        """
        if self.operands[index].shape is None and len(ranks) == 1:
            return tuple(unknown(object(), is_size=True) for _ in range(ranks[0]))
        shape = self.shape(index)
        if len(shape) not in ranks:
            wanted = " or ".join(map(str, ranks))
            raise ShapeError(f"operand {index} of shape {text(shape)} must have rank {wanted}")
        return shape

    def values(self, index: int) -> Values:
        """Returns the elements of an operand.

        Raises:
            Undecided: None of them is known.
        """
        values = self.operands[index].values
        if values is None:
            raise Undecided(f"the elements of operand {index} are not known")
        return values

    def vector(self, index: int) -> list[Dim]:
        """Returns the elements of an operand as a flat list.

        Raises:
            Undecided: None of them is known.
        """
        return elements(self.values(index))

    def numbers(self, index: int) -> list[int]:
        """Returns the elements of an operand as integers.

        Raises:
            Undecided: Not all of them are known.
        """
        integers = [element for element in self.vector(index) if isinstance(element, int)]
        if len(integers) != self.values(index).size:
            raise Undecided(f"not all elements of operand {index} are known")
        return integers

    def scalar(self, index: int) -> Dim:
        """Returns the only element of an operand.

        Raises:
            Undecided: It has no known elements.
        """
        vector = self.vector(index)
        if len(vector) != 1:
            raise ShapeError(f"operand {index} must have one element, not {len(vector)}")
        return vector[0]

    def number(self, index: int) -> int:
        """Returns the only element of an operand as an integer.

        Raises:
            Undecided: It is not known.
        """
        element = self.scalar(index)
        if isinstance(element, Formula):
            raise Undecided(f"operand {index} is not known")
        return int(element)

    def size(self, index: int) -> Dim | None:
        """Returns the only element of an operand as a size; None if it is not known, or may be negative."""
        try:
            return size_or_none(self.scalar(index))
        except Undecided:
            return None

    def axis(self, index: int, rank: int) -> int:
        """Returns the axis that an operand specifies, counted from the front.

        Raises:
            Undecided: It is not known.
            ShapeError: No such axis.
        """
        return normal_axis(self.number(index), rank)


def size_or_none(dim: Dim | None) -> Dim | None:
    """Returns a number that is a size; None for one that is not known, or may be negative."""
    return dim if dim is not None and is_size(dim) else None


def normal_axis(axis: int, rank: int) -> int:
    """Normalizes an axis, to be counted from the front.

    Raises:
        ShapeError: A tensor of this rank has no such axis.
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank if rank else 0


Answer: TypeAlias = "PartialDims | list[PartialDims]"
"""A rule's answer: the shape of the only result, or a list with the shape of each."""

Rule: TypeAlias = "Callable[[Op], Answer]"


def array_of(elements: Sequence[Any], shape: Sequence[int]) -> Values:
    """Returns elements as an object array."""
    array: Values = np.empty(len(elements), object)
    for index, element in enumerate(elements):
        array[index] = element
    return array.reshape(tuple(shape))


SizeT = TypeVar("SizeT", bound="Dim | None")


def meet_dims(a: Dim | None, b: Dim | None) -> Dim | None:
    """Merges two facts about one size; a number is preferred to a formula, else the first wins.

    Raises:
        ShapeError: They contradict each other.
    """
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Formula):
        return a if isinstance(b, Formula) else b
    if isinstance(b, int) and a != b:
        raise ShapeError(f"a size is both {a} and {b}")
    return a


def meet(a: PartialDims, b: PartialDims) -> PartialDims:
    """Merges two facts about one shape.

    Raises:
        ShapeError: They contradict each other.
    """
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise ShapeError(f"the shapes {text(a)} and {text(b)} differ in rank")
    try:
        return tuple(map(meet_dims, a, b))
    except ShapeError:
        raise ShapeError(f"the shapes {text(a)} and {text(b)} contradict each other") from None


def broadcast_shapes(shapes: Sequence[tuple[SizeT, ...]]) -> tuple[SizeT, ...]:
    """Returns the broadcast shape; None for an unknown dimension.

    Raises:
        ShapeError: They cannot be broadcast to each other.
    """
    result: list[Dim | None] = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) > len(result):
            result[:0] = shape[: len(shape) - len(result)]
        for back in range(1, len(shape) + 1):
            size, other = result[-back], shape[-back]
            if size is None or other is None:
                size = other if size is None else size
                # An unknown dimension is this size or 1, which gives the same; next to 1 it may be any size.
                result[-back] = size if isinstance(size, int) and size != 1 else None
                continue
            result[-back] = broadcast_dims(size, other)
            if result[-back] is None:
                raise ShapeError(f"the shapes {' and '.join(map(text, shapes))} cannot be broadcast to each other")
    return cast("tuple[SizeT, ...]", tuple(result))
