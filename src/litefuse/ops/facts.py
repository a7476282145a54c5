"""What is known of a tensor, and of an op when its rule is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.ops.dims import Dim, Formula, Shape, unknown

__all__ = [
    "FLOATS",
    "INTEGERS",
    "Answer",
    "Dims",
    "Op",
    "PartialDims",
    "PartialTensor",
    "Rule",
    "ShapeError",
    "Tensor",
    "Undecided",
    "Values",
    "array_of",
    "elements",
    "known",
    "normal_axis",
    "text",
]

INTEGERS = {f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)} | {"i1": np.dtype(np.bool_)}
"""The element types whose values are followed, as MLIR spells them, and numpy's."""

FLOATS = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
"""The element types of which small constants are followed."""

Dims: TypeAlias = "tuple[Dim, ...]"
"""The size of each dimension."""

PartialDims: TypeAlias = "tuple[Dim | None, ...] | None"
"""A shape with None for a size of which nothing can be told; None for a rank of which nothing can."""

Values: TypeAlias = "npt.NDArray[Any]"
"""A tensor's elements: an array of Python objects that are ``Dim``; booleans are numbers."""


class Undecided(Exception):  # noqa: N818  no error: the declared shape stands
    """A rule cannot tell a shape from what is known."""


class ShapeError(Exception):
    """The shapes of an op's operands contradict each other; the text says how."""


class Tensor(NamedTuple):
    """What is known of a tensor.

    Attributes:
        dtype: The element type as MLIR spells it, such as ``i32``.
        shape: The shape; None when the rank is not known.
        values: The elements of a small tensor of integers or booleans, if anything is known of them; of a scalar of
            floating point numbers too, where that is an integer.
        numbers: The elements of a small tensor of floating point numbers, where all are known.
    """

    dtype: str
    shape: Dims | None
    values: Values | None = None
    numbers: npt.NDArray[Any] | None = None


class PartialTensor(NamedTuple):
    """What a rule found.

    Attributes:
        shape: The shape.
        values: The elements, if anything is known of them.
        numbers: The elements of a tensor of floating point numbers, where all are known.
    """

    shape: PartialDims
    values: Values | None
    numbers: npt.NDArray[Any] | None = None


def known(shape: PartialDims) -> Shape | None:
    """The sizes of a shape that are numbers, None for the others."""
    return None if shape is None else tuple(None if isinstance(dim, Formula) else dim for dim in shape)


def text(shape: PartialDims) -> str:
    """A shape for messages, such as ``[?,28,28]``."""
    if shape is None:
        return "of unknown rank"
    return f"[{','.join(str(dim) if isinstance(dim, int) else '?' for dim in shape)}]"


def elements(values: Values) -> list[Dim]:
    """A tensor's elements, one after the other."""
    return values.reshape(-1).tolist()


_REQUIRED: Any = object()


class Op(NamedTuple):
    """An op as its rule sees it.

    Attributes:
        name: Its name without the dialect, such as ``Conv2D``.
        operands: What is known of its operands.
        results: What is declared of its results.
        attributes: Its attributes as Python values: int, float, bool, str, lists of them.
    """

    name: str
    operands: Sequence[Tensor]
    results: Sequence[Tensor]
    attributes: Mapping[str, Any]

    def attribute(self, name: str, default: Any = _REQUIRED) -> Any:
        """An attribute's value.

        Raises:
            Undecided: It is not there, and has no default.
        """
        value = self.attributes.get(name, default)
        if value is _REQUIRED:
            raise Undecided(f"the attribute {name} is missing")
        return value

    def shape(self, index: int) -> Dims:
        """The shape of an operand.

        Raises:
            Undecided: Its rank is not known.
        """
        shape = self.operands[index].shape
        if shape is None:
            raise Undecided(f"the rank of operand {index} is not known")
        return shape

    def ranked(self, index: int, *ranks: int) -> Dims:
        """The shape of an operand that must have one of these ranks; with one alone, it has that.

        Raises:
            Undecided: Its rank is not known.
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
        """The elements of an operand.

        Raises:
            Undecided: Nothing is known of them.
        """
        values = self.operands[index].values
        if values is None:
            raise Undecided(f"the elements of operand {index} are not known")
        return values

    def vector(self, index: int) -> list[Dim]:
        """The elements of an operand, one after the other.

        Raises:
            Undecided: Nothing is known of them.
        """
        return elements(self.values(index))

    def numbers(self, index: int) -> list[int]:
        """The elements of an operand that are all known.

        Raises:
            Undecided: They are not.
        """
        found = [element for element in self.vector(index) if isinstance(element, int)]
        if len(found) != self.values(index).size:
            raise Undecided(f"not all elements of operand {index} are known")
        return found

    def scalar(self, index: int) -> Dim:
        """The only element of an operand.

        Raises:
            Undecided: Nothing is known of it.
        """
        vector = self.vector(index)
        if len(vector) != 1:
            raise ShapeError(f"operand {index} must have one element, not {len(vector)}")
        return vector[0]

    def number(self, index: int) -> int:
        """The only element of an operand, which is known.

        Raises:
            Undecided: It is not.
        """
        element = self.scalar(index)
        if isinstance(element, Formula):
            raise Undecided(f"operand {index} is not known")
        return int(element)

    def axis(self, index: int, rank: int) -> int:
        """The axis that an operand names, counted from the front.

        Raises:
            Undecided: It is not known.
            ShapeError: There is no such axis.
        """
        return normal_axis(self.number(index), rank)


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front.

    Raises:
        ShapeError: A tensor of this rank has no such axis.
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"there is no axis {axis} in rank {rank}")
    return axis % rank if rank else 0


Answer: TypeAlias = "PartialDims | list[PartialDims]"
"""What a rule finds: the shape of the only result, or a list with the shape of each."""

Rule: TypeAlias = "Callable[[Op], Answer]"


def array_of(elements: Sequence[Any], shape: Sequence[int]) -> Values:
    """Elements as an array of objects."""
    array: Values = np.empty(len(elements), object)
    for index, element in enumerate(elements):
        array[index] = element
    return array.reshape(tuple(shape))
