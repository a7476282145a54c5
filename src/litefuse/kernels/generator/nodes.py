"""The tensors that a body computes, each a function from an index to an element.

A tensor is not computed as a whole: the emitter asks the outputs for an element, and these ask their operands, so that
intermediate tensors need no memory. Only elements that take a loop, or that are expensive and used by several loops,
are kept in an array (``Emitter``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from litefuse.kernels.generator.indices import Index
from litefuse.kernels.generator.sizes import Size, Sizes

Position: TypeAlias = "tuple[Index, ...]"


class IndexArithmetic(Protocol):
    """Computes with indices where they are used: ``Loops``."""

    sizes: Sizes

    def divided(self, index: Index, size: Size) -> tuple[Index, Index]:
        """Returns the quotient and the rest of an index that is not negative."""
        ...


#: The types of elements in C++, by the names of LiteRT's types.
CPP_TYPES = {
    "FLOAT32": "float",
    "FLOAT64": "double",
    "FLOAT16": "litefuse::Float16",
    "BFLOAT16": "litefuse::BFloat16",
    "BOOL": "bool",
    "COMPLEX64": "std::complex<float>",
    **{f"INT{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}


@dataclass(eq=False)
class Node:
    """A tensor.

    Attributes:
        dtype: The name of its type in LiteRT.
        shape: Its sizes.
        label: The op, for names in C++.
    """

    dtype: str
    shape: tuple[Size, ...]
    label: str = field(default="value", kw_only=True)
    number: int = field(default=-1, kw_only=True)

    @property
    def cpp_type(self) -> str:
        return CPP_TYPES[self.dtype]

    @property
    def operands(self) -> tuple[Node, ...]:
        return ()

    def is_array(self) -> bool:
        """Whether its elements take a loop, so that several of them are computed together."""
        return False


@dataclass(eq=False)
class Stored(Node):
    """An input, or a constant array: ``name`` in C++."""

    name: str = ""


@dataclass(eq=False)
class Literal(Node):
    """The same number everywhere, as C++."""

    text: str = "0"


@dataclass(eq=False)
class Computed(Node):
    """An elementwise op of operands that are broadcast.

    Attributes:
        args: The operands.
        text: Returns the C++ expression from those of the operands.
        is_costly: Whether it takes much more time than a load, so that it is not computed more often than needed.
    """

    args: tuple[Node, ...] = ()
    text: Callable[[Sequence[str]], str] = lambda texts: texts[0]
    is_costly: bool = False

    @property
    def operands(self) -> tuple[Node, ...]:
        return self.args


@dataclass(eq=False)
class Moved(Node):
    """Elements of another tensor, at a position that follows from that of the result.

    Attributes:
        source: The other tensor.
        place: Returns the position.
        order: The axes of the other tensor in the order of the result's, where it is transposed.
    """

    source: Node = field(kw_only=True)
    place: Callable[[IndexArithmetic, Position], Position] = field(kw_only=True)
    order: tuple[int, ...] = ()

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.source,)


@dataclass(eq=False)
class Picked(Node):
    """Elements of a tensor at places that integers choose.

    Attributes:
        source: The tensor.
        indices: The integers.
        place: Returns, for a position in the result, those of the integers, and the position that they choose.
    """

    source: Node = field(kw_only=True)
    indices: Node = field(kw_only=True)
    place: Callable[[Position], tuple[Sequence[Position], Callable[[Sequence[Index]], Position]]] = field(kw_only=True)

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.source, self.indices)


@dataclass(eq=False)
class Joined(Node):
    """Tensors one behind the other along an axis."""

    axis: int = 0
    parts: tuple[Node, ...] = ()

    @property
    def operands(self) -> tuple[Node, ...]:
        return self.parts


@dataclass(eq=False)
class Counted(Node):
    """``first + step * i`` along the one axis."""

    first: str = "0"
    step: str = "1"


@dataclass(eq=False)
class Collected(Node):
    """A tensor that takes a loop over elements of another, so that it is an array."""

    source: Node = field(kw_only=True)

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.source,)

    def is_array(self) -> bool:
        return True


@dataclass(eq=False)
class Reduction(Collected):
    """A tensor without the axes that are summed up, or what ``kind`` says: sum, product, max, min, any, all."""

    axes: frozenset[int] = field(kw_only=True)
    kind: str = field(kw_only=True)


@dataclass(eq=False)
class ArgumentReduction(Collected):
    """The index of the first greatest or least element along an axis, which the result lacks."""

    axis: int = field(kw_only=True)
    sign: str = field(kw_only=True)


@dataclass(eq=False)
class Scattered(Collected):
    """Slices of a tensor, combined by ``kind`` where integers say; those of negative integers are left out."""

    indices: Node = field(kw_only=True)
    kind: str = field(kw_only=True)

    @property
    def operands(self) -> tuple[Node, ...]:
        return (self.source, self.indices)


@dataclass(eq=False)
class OfRows(Collected):
    """Rows along the last axis that a function of ``litefuse/rows.h`` makes of those of another tensor.

    Attributes:
        function: Its name.
        work: The type in C++ and the number of the elements that it works with.
    """

    function: str = field(kw_only=True)
    work: tuple[str, Size] = field(kw_only=True)


@dataclass(eq=False)
class Running(Collected):
    """Sums of all elements up to each along an axis."""

    axis: int = field(kw_only=True)
    exclusive: bool = False
    reverse: bool = False
