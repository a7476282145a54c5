"""The functions of a module as lists of nodes, read once: every access through the bindings takes microseconds.

Types, attributes and constants are read in the form that the rules of ops take.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import callees, functions, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Dim, Shape, unknown
from litefuse.ir.ops.facts import FLOATS, INTEGERS, Dims, Tensor, Values, array_of
from litefuse.ir.ops.numbers import MAX_NUMBERS, Numbers, followed_values
from litefuse.ir.ops.values import MAX_ELEMENTS
from litefuse.ir.types import ranked_type, shape_of

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
    """Returns symbols for the elements of an integer scalar or short vector; None for any other tensor."""
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) < len(shape) or len(shape) > 1 or sum(sizes) > _MAX_OPEN_ELEMENTS:
        return None
    return array_of([symbol(index) for index in range(sizes[0] if sizes else 1)], sizes)


class Node(NamedTuple):
    """An op. Values are numbers that index ``ModuleGraph.values``; the name is without the dialect ``tf``."""

    op: ir.OpView
    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    attributes: Mapping[str, Any]
    callees: tuple[str, ...]


class Function(NamedTuple):
    """A function; ``nodes`` are its ops but the last, in order."""

    op: func.FuncOp
    symbol: str
    arguments: tuple[int, ...]
    nodes: tuple[Node, ...]
    returned: tuple[int, ...]


@dataclass
class ModuleGraph:
    """The functions of a module.

    Attributes:
        functions: Those with a body, by symbol.
        values: Every value.
        declared: The type of each value, in the same order.
        constants: The elements of the small integer constants, and of scalars that are integers.
        numbers: The elements of the small constants of floating point numbers.
    """

    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    values: list[ir.Value] = field(default_factory=list[ir.Value])
    declared: list[Declared] = field(default_factory=list[Declared])
    constants: dict[int, Values] = field(default_factory=dict[int, Values])
    numbers: dict[int, Numbers] = field(default_factory=dict[int, Numbers])
    _token: object = field(default_factory=object)
    _types: dict[ir.Type, Declared] = field(default_factory=dict[ir.Type, Declared])
    _ranked: dict[Hashable, ir.Type] = field(default_factory=dict[Hashable, ir.Type])
    _numbers: dict[ir.Value, int] = field(default_factory=dict[ir.Value, int])

    @classmethod
    def of(cls, module: ir.Module) -> ModuleGraph:
        """Reads a module."""
        graph = cls()
        for symbol, function in functions(module).items():
            if not function.is_external:
                graph.functions[symbol] = graph._read(symbol, function)
        return graph

    def type_of(self, dtype: str, sizes: Sequence[int | None]) -> ir.Type:
        """Returns the tensor type of an element type and a shape."""
        key = (dtype, tuple(sizes))
        if key not in self._ranked:
            self._ranked[key] = ranked_type(sizes, ir.Type.parse(dtype))
        return self._ranked[key]

    def append(self, value: ir.Value, dtype: str, sizes: Shape | None) -> int:
        """Adds a value that was added to the module, and returns its number."""
        self.values.append(value)
        self.declared.append(Declared(dtype, sizes))
        return len(self.values) - 1

    def size_symbol(self, value: int, axis: int) -> Dim:
        """Returns the symbol of an unknown size; the same dimension always gives an equal formula."""
        return unknown((self._token, value, axis, "size"), is_size=True)

    def element_symbols(self, value: int, shape: Dims) -> Values | None:
        """Returns symbols for the elements of an integer scalar or short vector of unknown value."""
        return unknown_elements(shape, lambda index: unknown((self._token, value, index, "element"), is_size=False))

    def tensor(self, value: int) -> Tensor:
        """Returns what is known of a value from its type and, if it is a constant, its elements."""
        declared = self.declared[value]
        shape = None
        if declared.shape is not None:
            shape = tuple(
                self.size_symbol(value, axis) if size is None else size for axis, size in enumerate(declared.shape)
            )
        values = self.constants.get(value)
        if values is None and shape is not None and declared.dtype in INTEGERS:
            values = self.element_symbols(value, shape)
        return Tensor(declared.dtype, shape, values, self.numbers.get(value))

    def _read(self, symbol: str, function: func.FuncOp) -> Function:
        arguments = tuple(self._add(argument) for argument in function.entry_block.arguments)
        *body, terminator = operations(function)
        nodes = tuple(map(self._node, body))
        return Function(
            function, symbol, arguments, nodes, tuple(self._numbers[value] for value in terminator.operands)
        )

    def _node(self, op: ir.OpView) -> Node:
        operands = tuple(self._numbers[value] for value in op.operands)
        results = tuple(map(self._add, op.results))
        name = op.name
        if name in {"tf.Const", "tfl.pseudo_const"}:
            self._read_constant(op, results[0])
        return Node(op, name.removeprefix("tf."), operands, results, Attributes(op), tuple(callees(op)))

    def _add(self, value: ir.Value) -> int:
        number = self._numbers[value] = len(self.values)
        self.values.append(value)
        self.declared.append(self._declared(value.type))
        return number

    def _declared(self, kind: ir.Type) -> Declared:
        declared = self._types.get(kind)
        if declared is None:
            declared = self._types[kind] = declared_by(kind)
        return declared

    def _read_constant(self, op: ir.OpView, result: int) -> None:
        elements = constant_elements(op, self.declared[result])
        if elements.numbers is not None:
            self.numbers[result] = elements.numbers
        if elements.values is not None:
            self.constants[result] = elements.values
