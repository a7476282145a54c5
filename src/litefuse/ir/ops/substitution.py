"""Symbols and operations of formulas, and substitution of symbols."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from litefuse.ir.ops.dims import Dim, Operation, as_size, broadcast_all, maximum, minimum, product, unknown


def unknowns(dim: Dim) -> Iterator[Hashable]:
    """The names of the numbers that a formula is computed of; one that occurs several times comes as often."""
    for name in _names(dim):
        if not isinstance(name, Operation):
            yield name


def operators(dim: Dim) -> set[str]:
    """Returns the operations in a formula that are not polynomials."""
    return {name.operator for name in _names(dim) if isinstance(name, Operation)}


def substituted(dim: Dim, numbers: Mapping[Any, Dim]) -> Dim:
    """A formula with other numbers in the place of some of its own, simplified by what is known of these."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, factor in dim.terms:
        term: Dim = factor
        for symbol in monomial:
            name = symbol.name
            if isinstance(name, Operation):
                term = term * _computed(name, numbers)
            else:
                number = numbers.get(name)
                term = term * (unknown(name, is_size=symbol.is_size) if number is None else number)
        total = total + term
    return as_size(total) if dim.is_size else total


def _names(dim: Dim) -> Iterator[Hashable]:
    if isinstance(dim, int):
        return
    for monomial, _ in dim.terms:
        for symbol in monomial:
            yield symbol.name
            if isinstance(symbol.name, Operation):
                for operand in symbol.name.operands:
                    yield from _names(operand)


def _computed(operation: Operation, numbers: Mapping[Any, Dim]) -> Dim:
    return _COMPUTE[operation.operator](*(substituted(operand, numbers) for operand in operation.operands))


def _floor_div(a: Dim, b: Dim) -> Dim:
    return a // b if b != 0 else 0  # by 0 for what has no elements


def _mod(a: Dim, b: Dim) -> Dim:
    return a % b if b != 0 else 0


_COMPUTE: Mapping[str, Callable[..., Dim]] = {
    "broadcast": broadcast_all,
    "floordiv": _floor_div,
    "maximum": maximum,
    "minimum": minimum,
    "mod": _mod,
    "product": lambda *factors: product(factors),
}
