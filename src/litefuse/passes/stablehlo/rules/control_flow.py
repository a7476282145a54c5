"""Loops and branches: their regions become functions, which take the values from outside that they use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litefuse.ir.builder import MixedSize
from litefuse.ir.call_graph import create_loop, function_symbol, update_function_type
from litefuse.ir.mlir import func, ir
from litefuse.ir.tensors import Tensor
from litefuse.passes.stablehlo.rules.scans import Scan, find_scan
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import (
    Elements,
    List,
    Value,
    constant_value,
    dims_of,
    elements_of,
    elements_value,
    known_numbers,
    operands_of,
    spread,
)


class _Captures:
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
        sizes = dict(zip(self._sizes, map(Tensor, given[len(self._passed) :]), strict=True))

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
                for inner in region.blocks:
                    look(inner)

    for region in regions:
        for block in region.blocks:
            look(block)
    return [value for value in used if value not in inside]


@dataclass(frozen=True)
class _Loop:
    """A loop, and the translation of its variables.

    Attributes:
        t: The translation of the code around it.
        op: The loop.
        hoisted: The ops of its body that are hoisted out of it.
        captures: The values from outside that its regions use.
        scan: The variables that it reads and writes item by item; None if it does not count its iterations.
        invariant: The loop-invariant variables with known values, by position: the new loop does without them.
        changing: The positions of the others.
    """

    t: Translation
    op: Any
    hoisted: set[ir.Operation]
    captures: _Captures
    scan: Scan | None
    invariant: Mapping[int, Value]
    changing: Sequence[int]

    @classmethod
    def read(cls, t: Translation, op: Any) -> _Loop:
        """Reads a loop, and hoists the loop-invariant ops of its body."""
        *_, body = (region.blocks[0] for region in op.regions)
        *_, last = body.operations
        hoisted = _hoist(t, op, body)
        captures = _Captures(t, list(op.regions), list(op.operands), hoisted)
        scan = find_scan(t, op, hoisted)
        lists = frozenset[int]() if scan is None else scan.lists
        kept = [
            i
            for i, (argument, result) in enumerate(zip(body.arguments, last.operands, strict=True))
            if argument == result
        ]
        constants = {i: t.lazy(op.operands[i]) for i in kept if i not in lists}
        invariant = {i: value for i, value in constants.items() if known_numbers(value.elements) is not None}
        changing = [i for i in range(len(op.operands)) if i not in invariant]
        return cls(t, op, hoisted, captures, scan, invariant, changing)

    def start(self, position: int) -> tuple[ir.Value, ir.Type]:
        """Returns the initial value of a variable, or of the list that replaces it, and its type in every iteration."""
        operand = self.op.operands[position]
        if self.scan is None or position not in self.scan.lists:
            return self.t.value(operand), operand.type
        listed = self.scan.listed(self.t, position, operand)
        return listed, listed.type

    def function(self, name: str, block: ir.Block, kinds: Sequence[ir.Type], *, passing: bool) -> func.FuncOp:
        """Defines a region as a function of the new loop's variables and the captures.

        Args:
            name: Its name.
            block: The region's block.
            kinds: The types of the arguments.
            passing: Whether it returns the captures, after its results.
        """

        def emit(given: Sequence[ir.Value]) -> list[ir.Value]:
            inner = self.t.inner()
            variables, captured = given[: len(self.changing)], given[len(self.changing) :]
            self.captures.bind(inner, captured, block.arguments)
            arguments = self._arguments(inner, block, dict(zip(self.changing, variables, strict=True)))
            values = inner.block(block, arguments, without=self.hoisted)
            results: list[ir.Value] = [value.emit() for i, value in enumerate(values) if i not in self.invariant]
            return [*results, *captured] if passing else results

        return self.t.functions.define(f"while.{name}", list(kinds), emit)

    def _arguments(self, inner: Translation, block: ir.Block, variables: Mapping[int, ir.Value]) -> list[Result]:
        """Returns the translations of a region's arguments in its function."""
        arguments: list[Result] = []
        for i, argument in enumerate(block.arguments):
            if i in self.invariant:
                elements = self.invariant[i].elements
                assert elements is not None
                arguments.append(elements_value(inner.b, elements, self.t.dtype(argument)))
            elif self.scan is not None and i in self.scan.lists:
                arguments.append(Value(variables[i], listed=List(variables[i], variables[self.scan.counter])))
            else:
                arguments.append(variables[i])
        return arguments

    def result(self, position: int, outcome: ir.Value | None) -> Result:
        """Returns the value of a variable after the loop.

        Args:
            position: Its position.
            outcome: The result of the new loop for it; None if that has no such variable.
        """
        operand, scan = self.op.operands[position], self.scan
        if outcome is None or (scan is not None and position in scan.reads):
            return self.t.lazy(operand)
        if scan is not None and position in scan.writes:
            return scan.stacked(self.t, position, operand, outcome)
        return outcome


def _while(op: Any, t: Translation) -> list[Result]:
    loop = _Loop.read(t, op)
    starts = [loop.start(i) for i in loop.changing]
    operands = [value for value, _ in starts] + loop.captures.operands()
    kinds = [kind for _, kind in starts] + loop.captures.kinds()
    condition, body = (region.blocks[0] for region in op.regions)
    by_condition = loop.function("cond", condition, kinds, passing=False)
    by_body = loop.function("body", body, kinds, passing=True)
    unused = _unused(by_condition, by_body)
    for number in reversed(unused):
        del operands[number], kinds[number]
    symbols = function_symbol(by_condition), function_symbol(by_body)
    made = create_loop(*symbols, kinds, operands, is_stateless=True)
    left = [i for number, i in enumerate(loop.changing) if number not in unused]
    outcomes = dict(zip(left, made.results, strict=False))
    return [loop.result(i, outcomes.get(i)) for i in range(len(op.operands))]


def _hoist(t: Translation, op: Any, body: ir.Block) -> set[ir.Operation]:
    """Translates the loop-invariant ops of a loop's body before the loop; returns these ops."""
    *ops, last = body.operations
    same: set[ir.Value] = set()
    inside: set[ir.Value] = set(body.arguments)
    for argument, result, operand in zip(body.arguments, last.operands, op.operands, strict=True):
        if argument == result:
            same.add(argument)
            t.bind(argument, t.lazy(operand))
            t.set_dims(argument, t.known_dims(operand))
    hoisted: set[ir.Operation] = set()
    for inner in ops:
        inside.update(inner.results)
        if _is_pure(inner) and all(value in same or value not in inside for value in inner.operands):
            t.translate(inner)
            same.update(inner.results)
            if inner.operation.name != "stablehlo.constant":
                hoisted.add(inner.operation)
    return hoisted


def _is_pure(op: ir.OpView) -> bool:
    return not list(op.regions) and op.operation.name not in {"stablehlo.custom_call", "stablehlo.composite"}


def _unused(condition: func.FuncOp, body: func.FuncOp) -> list[int]:
    """Removes the arguments that are only forwarded; returns their positions."""
    *_, last = body.entry_block.operations
    unused = [
        i
        for i, argument in enumerate(body.arguments)
        if [(use.owner, use.operand_number) for use in argument.uses] == [(last, i)]
        and not list(condition.entry_block.arguments[i].uses)
    ]
    results = [value for i, value in enumerate(last.operands) if i not in unused]
    with ir.InsertionPoint(last), last.location:
        func.ReturnOp(results)
    last.operation.erase()
    for i in reversed(unused):
        for function in (condition, body):
            function.entry_block.erase_argument(i)
    for function in (condition, body):
        update_function_type(function)
    return unused


def _if(op: Any, t: Translation) -> list[Result]:
    """Translates a branch; the first region is for true."""
    return _branches(op, t, "If", list(op.regions))


def _case(op: Any, t: Translation) -> list[Result]:
    """Translates a case; an index outside of the branches selects the last one, as in TensorFlow."""
    regions, index = list(op.regions), op.operands[0]
    elements = t.elements(index)
    chosen = None if elements is None else elements.item()
    if isinstance(chosen, int):
        region = regions[chosen if 0 <= chosen < len(regions) else -1]
        return list(t.block(region.blocks[0], []))
    condition = _condition(t, index)
    if len(regions) == 2 and condition is not None:
        return _branches(op, t, "If", regions[::-1], condition)
    return _branches(op, t, "Case", regions)


def _condition(t: Translation, index: ir.Value) -> ir.Value | None:
    """Returns the condition that an index is converted from, as ``jax.lax.cond`` writes it."""
    return next((condition for condition in operands_of(index, "convert") if t.dtype(condition) == "bool"), None)


def _branches(
    op: Any, t: Translation, name: str, regions: list[ir.Region], condition: ir.Value | None = None
) -> list[Result]:
    captures = _Captures(t, regions)
    kinds = captures.kinds()

    def function(index: int, block: ir.Block) -> str:
        def emit(given: Sequence[ir.Value]) -> list[ir.Value]:
            inner = t.inner()
            captures.bind(inner, given)
            return [value.emit() for value in inner.block(block, [])]

        return function_symbol(t.functions.define(f"{name.lower()}.{index}", kinds, emit))

    symbols = [function(i, region.blocks[0]) for i, region in enumerate(regions)]
    references = [ir.FlatSymbolRefAttr.get(symbol) for symbol in symbols]
    attributes: dict[str, ir.Attribute] = {"is_stateless": ir.BoolAttr.get(value=True)}
    if name == "If":
        attributes |= dict(zip(("then_branch", "else_branch"), references, strict=True))
    else:
        attributes["branches"] = ir.ArrayAttr.get(references)
    operands = [t.value(op.operands[0] if condition is None else condition), *captures.operands()]
    results = [result.type for result in op.results]
    return list(ir.Operation.create(f"tf.{name}", results, operands, attributes).results)


RULES: Rules = {"stablehlo.case": _case, "stablehlo.if": _if, "stablehlo.while": _while}
