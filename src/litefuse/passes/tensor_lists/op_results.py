"""Sizes and small integers of op results as formulas of those of the operands, and the ops that compute a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import (
    Dim,
    Formula,
    Operation,
    Symbol,
    as_size,
    broadcast_members,
    is_size,
    symbol_in,
    unknown,
)
from litefuse.ir.ops.facts import (
    FLOATS,
    INTEGERS,
    Op,
    PartialDims,
    PartialTensor,
    ShapeError,
    Tensor,
    Values,
    elements,
    meet,
)
from litefuse.ir.ops.results import results_of
from litefuse.ir.ops.rules import RULES
from litefuse.ir.ops.substitution import unknowns
from litefuse.ir.ops.values import MAX_ELEMENTS
from litefuse.ir.shapes.graph import Attributes, Declared, Elements, constant_elements, declared_by, unknown_elements

_OPS = {
    "floordiv": "FloorDiv",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "mod": "FloorMod",
    "product": "Mul",
}


@dataclass(frozen=True)
class SizeOf:
    """The name of a size: of a dimension of a value.

    Attributes:
        value: The value.
        axis: The dimension. Of a tensor list, 0 is its length, and the others are those of its items.
        scope: What the name is used in: outside it, another value may be where this one was.
    """

    value: ir.Value
    axis: int
    scope: object


@dataclass(frozen=True)
class Number:
    """The name of an integer that the model computes.

    Attributes:
        value: The value: a scalar or a vector.
        index: Which element of a vector; None for a scalar.
        scope: What the name is used in: outside it, another value may be where this one was.
    """

    value: ir.Value
    index: int | None
    scope: object


# A model of thousands of ops must not exhaust the stack: longer chains of ops are not followed.
_MAX_DEPTH = 50

# The ops that take negative numbers, and mean something else by them. Reshape and Slice take -1 for the rest, but as a
# constant: a number that is computed is a size.
_SIGNED = frozenset({"SplitV", "StridedSlice"})


class OpResults:
    """Results of the rules of ops, in terms of the operands.

    Sizes are followed from an op's results to its operands; integers as far back as there are rules.
    """

    def __init__(self, list_elements: Callable[[ir.OpView], Values | None]) -> None:
        """Begins with nothing.

        Args:
            list_elements: The elements of an integer that a list op gives; None for other ops, and if they are unknown.
        """
        self._list_elements = list_elements
        self._scope = object()
        self._declared: dict[ir.Type, Declared] = {}
        self._results: dict[ir.Value, list[PartialTensor | None]] = {}
        self._elements: dict[ir.Value, Elements] = {}
        self._depth = 0

    def size_symbol(self, value: ir.Value, axis: int) -> Formula:
        """Returns a symbol for the size of a dimension."""
        return unknown(SizeOf(value, axis, self._scope), is_size=True)

    def number_symbol(self, value: ir.Value, index: int | None) -> Formula:
        """Returns a symbol for an integer scalar, or an element of an integer vector."""
        return unknown(Number(value, index, self._scope), is_size=False)

    def declared(self, value: ir.Value) -> Declared:
        kind = value.type
        declared = self._declared.get(kind)
        if declared is None:
            declared = self._declared[kind] = declared_by(kind)
        return declared

    def size(self, value: ir.Value, axis: int) -> Dim | None:
        """Returns the size of a dimension of an op's result; None if the op's rule does not state it."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            return None
        tensor = self._results_of(owner)[ir.OpResult(value).result_number]
        shape = None if tensor is None else tensor.shape
        size = None if shape is None or axis >= len(shape) else shape[axis]
        # Of an operand of unknown rank, a rule gives sizes that have no name.
        named = size is not None and all(isinstance(name, (SizeOf, Number)) for name in unknowns(size))
        return size if named else None

    def elements(self, value: ir.Value) -> Values | None:
        """Returns the elements of a small integer tensor; None for any other value."""
        return self._followed(value).values

    def _results_of(self, op: ir.OpView) -> list[PartialTensor | None]:
        key = op.results[0]
        results = self._results.get(key)
        if results is None:
            results = self._results[key] = self._by_rules(op)
        return results

    def _by_rules(self, op: ir.OpView) -> list[PartialTensor | None]:
        name = op.name.removeprefix("tf.")
        if name not in RULES:
            return [None] * len(op.results)
        operands = [self._tensor(value) for value in op.operands]
        results = [Tensor(self.declared(value).dtype, None) for value in op.results]
        question = Op(name, operands, results, Attributes(op))
        try:
            return _with_given_sizes(question, results_of(question))
        except ShapeError:  # what is wrong with the op, others say
            return [None] * len(op.results)

    def _tensor(self, value: ir.Value) -> Tensor:
        followed = self._followed(value)
        return Tensor(self.declared(value).dtype, self._declared_shape(value), followed.values, followed.numbers)

    def _declared_shape(self, value: ir.Value) -> tuple[Dim, ...] | None:
        shape = self.declared(value).shape
        if shape is None:
            return None
        return tuple(self.size_symbol(value, axis) if size is None else size for axis, size in enumerate(shape))

    def _followed(self, value: ir.Value) -> Elements:
        followed = self._elements.get(value)
        if followed is None:
            declared = self.declared(value)
            if not _may_be_small(declared):
                return Elements()
            followed = self._by_producer(value, declared)
            if followed is None:
                return self._unknown_elements(value, declared.shape)
            self._elements[value] = followed
        return followed

    def _by_producer(self, value: ir.Value, declared: Declared) -> Elements | None:
        """Returns what is known of a value's elements; None if the chain of ops to it is too long."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            return self._unknown_elements(value, declared.shape)
        if owner.name == "tf.Const":
            return constant_elements(owner, declared)
        values = self._list_elements(owner)
        if values is not None:
            return Elements(values)
        if self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            tensor = self._results_of(owner)[ir.OpResult(value).result_number]
        finally:
            self._depth -= 1
        if tensor is not None and (tensor.values is not None or tensor.numbers is not None):
            return Elements(tensor.values, tensor.numbers)
        return self._unknown_elements(value, declared.shape if tensor is None else tensor.shape)

    def _unknown_elements(self, value: ir.Value, shape: PartialDims) -> Elements:
        sizes = None if shape is None else [size for size in shape if size is not None]
        if sizes is None or shape is None or len(sizes) < len(shape) or self.declared(value).dtype not in INTEGERS:
            return Elements()
        return Elements(
            unknown_elements(tuple(sizes), lambda index: self.number_symbol(value, index if sizes else None))
        )


def _may_be_small(declared: Declared) -> bool:
    """Whether shapes may be made of a tensor: of integers, or a scalar on the way to an integer."""
    shape = declared.shape
    if declared.dtype not in INTEGERS:
        return declared.dtype in FLOATS and shape == ()
    if shape is None or len(shape) < 2:
        return True
    sizes = [size for size in shape if size is not None]
    return len(sizes) == len(shape) and prod(sizes) <= MAX_ELEMENTS


def _with_given_sizes(op: Op, results: list[PartialTensor | None]) -> list[PartialTensor | None]:
    """Adds what follows for an op's results if its integer operands are sizes, as they must be."""
    shapes = [None if result is None else result.shape for result in results]
    if op.name in _SIGNED or not any(shape is None or None in shape for shape in shapes):
        return results
    operands = list(map(_of_sizes, op.operands))
    if all(a is b for a, b in zip(operands, op.operands, strict=True)):
        return results
    return [
        result if other is None else _with_shape(result, other.shape)
        for result, other in zip(results, results_of(op._replace(operands=operands)), strict=True)
    ]


def _of_sizes(tensor: Tensor) -> Tensor:
    if tensor.values is None or all(map(is_size, elements(tensor.values))):
        return tensor
    sizes: Values = np.asarray(np.frompyfunc(as_size, 1, 1)(tensor.values), object)
    return tensor._replace(values=sizes)


def _with_shape(tensor: PartialTensor | None, shape: PartialDims) -> PartialTensor:
    return PartialTensor(shape, None) if tensor is None else tensor._replace(shape=meet(tensor.shape, shape))


def emit(size: Dim, b: Builder) -> MixedSize:
    """Emits the ops that compute a formula: a number, or an int32 scalar."""
    size = _as_one_quotient(size)
    if isinstance(size, int):
        return size
    number = dict(size.terms).get((), 0)
    total: MixedSize | None = None
    for symbols, factor in size.terms:
        if symbols and factor > 0:
            term = _product(symbols, factor, b)
            total = term if total is None else total + term
    if total is None:
        total, number = number, 0
    for symbols, factor in size.terms:
        if symbols and factor < 0:
            total = total - _product(symbols, -factor, b)
    return total + number if number else total


def _as_one_quotient(size: Dim) -> Dim:
    """``(a + n b) // b`` for ``a // b + n``, which takes an op more."""
    number = 0 if isinstance(size, int) else dict(size.terms).get((), 0)
    match symbol_in(size - number):
        case Symbol(name=Operation("floordiv", (a, int() as b))) if number:
            return (a + number * b) // b
        case _:
            return size


def _product(symbols: Iterable[Symbol], factor: int, b: Builder) -> MixedSize:
    return b.product([factor, *(_symbol(symbol, b) for symbol in symbols)])


def _symbol(symbol: Symbol, b: Builder) -> MixedSize:
    match symbol.name:
        case SizeOf(value, axis):
            return b.size(value, axis)
        case Number(value, index):
            return b.cast(value if index is None else b.element(value, index), "int32")
        case Operation(operator, operands):
            if operator == "broadcast":  # sizes of 1 are broadcast; 0 and 1 together do not occur
                operands, operator = broadcast_members(unknown(symbol.name, is_size=symbol.is_size)), "maximum"
            return reduce(lambda a, c: b.dims(_OPS[operator], a, c), [emit(operand, b) for operand in operands])
        case _:
            raise TypeError(symbol.name)
