"""Captures of regions: the values from outside that the regions of loops and branches use."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.translation import Translation
from litefuse.passes.stablehlo.values import (
    Elements,
    Value,
    constant_value,
    dims_of,
    elements_of,
    elements_value,
    spread,
)

__all__ = ["Captures"]


class Captures:
    """The values from outside that regions use: passed as arguments, except for known ones, such as numbers.

    Sizes are passed one by one, so that equal ones are one value in the regions as well.
    """

    def __init__(
        self,
        t: Translation,
        regions: Sequence[ir.Region],
        loop_variables: Sequence[ir.Value] = (),
        hoisted: Collection[ir.Operation] = (),
    ) -> None:
        self._t = t
        self._followed: list[ir.Value] = []
        self._constants: list[ir.OpView] = []
        self._numbers: dict[ir.Value, ir.DenseElementsAttr] = {}
        self._passed: list[ir.Value] = []
        self._variables = loop_variables
        for value in _used_from_outside(regions, hoisted):
            if t.elements(value) is not None:
                self._followed.append(value)
            elif not isinstance(value.owner, ir.Block) and value.owner.name == "stablehlo.constant":
                self._constants.append(value.owner)
            elif (number := _repeated(t.lazy(value)).constant) is not None:
                self._numbers[value] = number
            else:
                self._passed.append(value)
        dims: list[MixedSize | None] = []
        for value in self._followed:
            dims += dims_of(_elements(t, value))
        for value in (*loop_variables, *self._numbers, *self._passed):
            dims += t.known_dims(value)
            repeated = t.lazy(value).spread
            dims += [] if repeated is None else repeated.dims
        self._sizes = list(dict.fromkeys(dim for dim in dims if isinstance(dim, ir.Value)))

    def operands(self) -> list[ir.Value]:
        return [*map(self._small, self._passed), *self._sizes]

    def kinds(self) -> list[ir.Type]:
        return [value.type for value in self.operands()]

    def _small(self, value: ir.Value) -> ir.Value:
        """Emits the part of a value that is passed, before it is broadcast."""
        return _repeated(self._t.lazy(value)).emit()

    def bind(self, inner: Translation, given: Sequence[ir.Value], arguments: Sequence[ir.Value] = ()) -> None:
        """Binds the captures, and the sizes of the region's own arguments, which are those of the loop variables."""
        sizes = dict(zip(self._sizes, given[len(self._passed) :], strict=True))

        def within(dim: MixedSize | None) -> MixedSize | None:
            return sizes[dim] if isinstance(dim, ir.Value) else dim

        for value in self._followed:
            elements = _elements(self._t, value)
            there = [sizes[dim] if isinstance(dim, ir.Value) else dim for dim in dims_of(elements)]
            inner.bind(value, elements_value(inner.b, elements_of(there, elements.shape), self._t.dtype(value)))
        for constant in self._constants:
            inner.translate(constant)
        smalls = {value: constant_value(number) for value, number in self._numbers.items()}
        smalls |= {value: Value(argument) for value, argument in zip(self._passed, given, strict=False)}
        for value, small in smalls.items():
            repeated = self._t.lazy(value).spread
            if repeated is None:
                inner.bind(value, small)
            else:
                whole = [sizes[dim] if isinstance(dim, ir.Value) else dim for dim in repeated.dims]
                inner.bind(value, spread(inner.b, small, whole))
            inner.set_dims(value, [within(dim) for dim in self._t.known_dims(value)])
        for variable, argument in zip(self._variables, arguments, strict=False):
            inner.set_dims(argument, [within(dim) for dim in self._t.known_dims(variable)])


def _repeated(value: Value) -> Value:
    """Returns the value that a broadcast repeats; the value itself if it is not a broadcast."""
    return value if value.spread is None else value.spread.small


def _elements(t: Translation, value: ir.Value) -> Elements:
    elements = t.elements(value)
    assert elements is not None
    return elements


def _used_from_outside(regions: Sequence[ir.Region], hoisted: Collection[ir.Operation]) -> list[ir.Value]:
    """Returns the values that regions use but do not compute, each once; hoisted ops count as outside."""
    inside: set[ir.Value] = set()
    used: dict[ir.Value, None] = {}

    def look(block: ir.Block) -> None:
        inside.update(block.arguments)
        for op in block.operations:
            if op.operation in hoisted:
                continue
            used.update(dict.fromkeys(op.operands))
            inside.update(op.results)
            for region in op.regions:
                for each in region.blocks:
                    look(each)

    for region in regions:
        for block in region.blocks:
            look(block)
    return [value for value in used if value not in inside]
