"""Sizes as formulas of values that are available elsewhere: what an item's size in a loop is before the loop.

The symbols of a formula are named by ``SizeOf`` and ``Number``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.call_graph import call_operands, callees, function_symbol, is_call, operations, terminator_of
from litefuse.ir.constants import without_copies
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.ops.dims import Dim, Formula, broadcast_all, broadcast_members, symbol_in
from litefuse.ir.ops.facts import Values
from litefuse.ir.ops.substitution import operators, substituted, unknowns
from litefuse.ir.purity import is_repeatable
from litefuse.ir.types import is_variant
from litefuse.passes.tensor_lists.list_groups import Web
from litefuse.passes.tensor_lists.list_ops import COPYING, NONE
from litefuse.passes.tensor_lists.op_results import Number, OpResults, SizeOf

Rule: TypeAlias = "Callable[[Sizes, ir.OpView, int, int], Dim | None]"
ElementsRule: TypeAlias = "Callable[[Sizes, ir.OpView], Values | None]"
_READERS = frozenset({"tf.TensorListElementShape", "tf.TensorListGetItem", "tf.TensorListLength"})
_MAKER = "tf.TensorListFromTensor"


class Unknown(Exception):  # noqa: N818  no error: another formula is tried
    """A size cannot be computed where it is needed; the text says why."""


class _Circular(Unknown):
    """A size depends on itself alone."""


def _refuse(value: ir.Value, call: ir.OpView) -> ir.Value:
    del value, call
    raise Unknown("it is computed in a loop")


# A model of thousands of ops must not exhaust the stack: what is further away is not looked at.
_MAX_DEPTH = 100

# A size in whose formula one of these is goes by the name of its value, which is there already, where the formula takes
# ops to compute; it is looked at where the value is not there.
_CASES = frozenset({"maximum", "minimum", "mod"})


@dataclass
class Sizes:
    """Finds formulas for sizes, by the rules for the shapes of ops.

    Attributes:
        by_symbol: The module's functions, each with at most one caller.
        rules: How the size of a dimension (op, result, axis) follows for the ops on lists, of which no shape says it.
        elements: How the elements of an integer result do.
        webs: What is known of each list.
        first_turn: Computes a value inside a function before the op that calls it; raises Unknown if it cannot.
    """

    by_symbol: Mapping[str, func.FuncOp]
    rules: Mapping[str, Rule] = field(default_factory=dict[str, "Rule"])
    elements: Mapping[str, ElementsRule] = field(default_factory=dict[str, "ElementsRule"])
    webs: Mapping[ir.Value, Web] = field(default_factory=dict[ir.Value, Web])
    first_turn: Callable[[ir.Value, ir.OpView], ir.Value] = _refuse
    callers: dict[str, ir.OpView] = field(default_factory=dict[str, ir.OpView])
    _known: dict[tuple[ir.Value, int], Dim] = field(default_factory=dict[tuple[ir.Value, int], Dim])
    _definitions: dict[Hashable, Dim] = field(default_factory=dict[Hashable, Dim])
    _assumed: dict[tuple[ir.Value, int], bool] = field(default_factory=dict[tuple[ir.Value, int], bool])
    _visited: set[tuple[ir.Value, int]] = field(default_factory=set[tuple[ir.Value, int]])
    _results: OpResults = field(init=False)
    _depth: int = 0

    def __post_init__(self) -> None:
        for function in self.by_symbol.values():
            for op in operations(function):
                for symbol in callees(op):
                    self.callers[symbol] = op
        self._results = OpResults(self._list_elements)

    def size(self, value: ir.Value, axis: int) -> Dim:
        """The size of a dimension, by values of the same function that are as early as possible.

        Raises:
            Unknown: It is the size of a list, and cannot be told.
        """
        passed: list[tuple[ir.Value, int]] = []
        dim = self._known_size(value, axis)
        while dim is None:
            owner = value.owner
            if isinstance(owner, ir.Block):
                dim = self.symbol(value, axis)
                break
            if self._depth > _MAX_DEPTH:
                if self._is_variant(value):
                    raise Unknown("too many ops decide it")
                return self.symbol(value, axis)
            passed.append((value, axis))
            following = None if self._has_rule(owner) else self._as_operand(value, axis)
            if following is None:
                dim = self._computed(value, owner, axis)
                break
            value, axis = following
            dim = self._known_size(value, axis)
        for place in passed:
            self._known[place] = dim
        return dim

    def number(self, value: ir.Value, index: int | None) -> Dim:
        """An integer scalar, or an element of an integer vector."""
        symbol = self.number_symbol(value, index)
        elements = self._results.elements(value)
        if elements is None or elements.ndim > 1 or (elements.ndim and (index or 0) >= len(elements)):
            return symbol
        element: Dim = elements[index or 0] if elements.ndim else elements.item()
        return self._named(symbol, self._resolved(element))

    def symbol(self, value: ir.Value, axis: int) -> Formula:
        """The size of a dimension, as a number of which nothing is known."""
        return self._results.size_symbol(value, axis)

    def number_symbol(self, value: ir.Value, index: int | None) -> Formula:
        """An integer scalar, or an element of an integer vector, as a number of which nothing is known."""
        return self._results.number_symbol(value, index)

    def expanded(self, size: Dim) -> Dim:
        """A formula in which no size goes by the name of a value whose size has a formula itself."""
        if not self._definitions:
            return size
        defined = {name: self.expanded(self._definitions[name]) for name in unknowns(size) if name in self._definitions}
        return substituted(size, defined) if defined else size

    def before(self, size: Dim, call: ir.OpView) -> Dim:
        """A size inside a function, by values around the op that calls it, which is its caller.

        Raises:
            Unknown: It changes from one turn of a loop to the next, or depends on what the function computes.
        """
        return substituted(size, {name: self._before(name, call) for name in unknowns(size)})

    def _before(self, name: Hashable, call: ir.OpView) -> Dim:
        if name in self._definitions:
            with suppress(Unknown):
                return self.before(self._definitions[name], call)
        match name:
            case SizeOf(value, axis) if isinstance(value.owner, ir.Block):
                position = ir.BlockArgument(value).arg_number
                if call.name == "tf.While" and not self.stays(call, position, axis):
                    raise Unknown("it changes from one iteration of the loop to the next")
                return self.size(call_operands(call)[position], axis)
            case Number(value, index) if isinstance(value.owner, ir.Block):
                position = ir.BlockArgument(value).arg_number
                if call.name == "tf.While" and not self._is_invariant(call, position):
                    raise Unknown("it depends on a number that changes in the loop")
                return self.number(call_operands(call)[position], index)
            case SizeOf(value, axis):
                owner = value.owner
                if not isinstance(owner, ir.Block) and is_call(owner) and owner.name != "tf.While":
                    with suppress(Unknown):
                        branches = _branch_sizes(self, owner, ir.OpResult(value).result_number, axis)
                        agreed = {self.before(branch, call) for branch in branches}
                        if len(agreed) == 1:
                            return agreed.pop()
                # What is said of the copy holds in the first turn alone: its size stays a name, by which that is seen.
                return self.symbol(self.first_turn(value, call), axis)
            case Number(value, index):
                return self.number_symbol(self.first_turn(value, call), index)
            case _:
                raise TypeError(name)

    @contextmanager
    def visit(self, value: ir.Value, axis: int) -> Generator[None]:
        """While this size is looked for, it is circular to ask for it.

        Raises:
            Circular: It is being looked for.
        """
        key = (value, axis)
        if key in self._visited:
            raise _Circular("it depends on itself")
        self._visited.add(key)
        try:
            yield
        finally:
            self._visited.remove(key)

    def caller(self, function: func.FuncOp) -> ir.OpView | None:
        """The op that calls a function, if any does."""
        return self.callers.get(function_symbol(function))

    def stays(self, loop: ir.OpView, position: int, axis: int) -> bool:
        """Whether a loop variable keeps its size; one that grows to a size that it is broadcast to counts as well."""
        body = self.by_symbol[callees(loop)[1]]
        argument = body.entry_block.arguments[position]
        key = (argument, axis)
        if key in self._assumed:
            return self._assumed[key]
        # Proven by induction: what is to be shown of one turn may assume it of the turn before.
        self._assumed[key] = True
        try:
            after = self.size(terminator_of(body.entry_block).operands[position], axis)
            if after == self.symbol(argument, axis):
                return True
            operand = self.expanded(self.size(call_operands(loop)[position], axis))
            later = self.expanded(self.before(after, loop))
            stays = later == operand or operand in broadcast_members(later)
        except Unknown:
            stays = False
        if not stays:
            # What was concluded from the assumption may be wrong.
            self._assumed.clear()
            self._known.clear()
            self._definitions.clear()
            self._assumed[key] = False
        return stays

    def _is_invariant(self, loop: ir.OpView, position: int) -> bool:
        block = self.by_symbol[callees(loop)[1]].entry_block
        return without_copies(terminator_of(block).operands[position]) == block.arguments[position]

    def _is_variant(self, value: ir.Value) -> bool:
        return self._results.declared(value).dtype.startswith("!tf_type.variant")

    def _has_rule(self, op: ir.OpView) -> bool:
        return is_call(op) or op.name in self.rules

    def _known_size(self, value: ir.Value, axis: int) -> Dim | None:
        """The size if types say it, or it was asked for before."""
        shape = None if self._is_variant(value) else self._results.declared(value).shape
        size = None if shape is None else shape[axis]
        if size is None and axis and value in self.webs:
            item = self.webs[value].item
            size = None if item is None else item[axis - 1]
        return self._known.get((value, axis)) if size is None else size

    def _as_operand(self, value: ir.Value, axis: int) -> tuple[ir.Value, int] | None:
        """The dimension of an operand whose size a dimension of a result has, if it has that of one alone."""
        owner = value.owner
        if not isinstance(owner, ir.Block) and owner.name in COPYING and self._is_variant(value):
            return owner.operands[0], axis
        formula = self._results.size(value, axis)
        symbol = None if formula is None else symbol_in(formula)
        name = None if symbol is None else symbol.name
        return (name.value, name.axis) if isinstance(name, SizeOf) else None

    def _computed(self, value: ir.Value, op: ir.OpView, axis: int) -> Dim:
        """The size of an op's result, by the rule for the op."""
        rule = _call_size if is_call(op) else self.rules.get(op.name)
        self._depth += 1
        try:
            dim = None if rule is None else rule(self, op, ir.OpResult(value).result_number, axis)
            if dim is None and (formula := self._results.size(value, axis)) is not None:
                dim = self._resolved(formula)
        finally:
            self._depth -= 1
        symbol = self.symbol(value, axis)
        return symbol if dim is None else self._named(symbol, dim)

    def _resolved(self, formula: Dim) -> Dim:
        """A formula of sizes of any values by such that are as early as possible; raises ``Circular`` without any."""
        sizes: dict[Hashable, Dim] = {}
        circular: set[Hashable] = set()
        for name in unknowns(formula):
            if isinstance(name, SizeOf) and name not in sizes:
                try:
                    sizes[name] = self.size(name.value, name.axis)
                except _Circular:
                    circular.add(name)
        resolved = substituted(formula, sizes)
        if not circular:
            return resolved
        left = [member for member in broadcast_members(resolved) if circular.isdisjoint(unknowns(member))]
        if not left:
            raise _Circular("it depends on itself")
        return broadcast_all(*left)

    def _named(self, symbol: Formula, formula: Dim) -> Dim:
        """A formula, or the name of the value of which it is the size, for one that takes more to compute than that."""
        if operators(formula).isdisjoint(_CASES):
            return formula
        (name,) = unknowns(symbol)
        self._definitions[name] = formula
        return symbol

    def _list_elements(self, op: ir.OpView) -> Values | None:
        rule = self.elements.get(op.name)
        return None if rule is None else rule(self, op)


def _call_size(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Dim | None:
    """The size of a call's result: of a loop, that of the variable; of a branch, what both sides agree on."""
    if op.name == "tf.While":
        stays = sizes.stays(op, result, axis)
        return sizes.size(call_operands(op)[result], axis) if stays else None
    try:
        branches = _branch_sizes(sizes, op, result, axis)
    except Unknown:
        return None
    return branches.pop() if len(branches) == 1 else None


def _branch_sizes(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> set[Dim]:
    """The size of a call's result by each of the functions that it may run; raises ``Unknown`` if values decide it."""
    dims: set[Dim] = set()
    for symbol in callees(op):
        returned = terminator_of(sizes.by_symbol[symbol].entry_block).operands[result]
        if producer(returned, NONE) is None:  # which nobody looks at
            dims.add(sizes.before(sizes.size(returned, axis), op))
    return dims


def values_of(size: Dim) -> set[ir.Value]:
    """The values that a formula is made of."""
    return {name.value for name in unknowns(size) if isinstance(name, (SizeOf, Number))}


class FirstTurn:
    """Copies what computes a value inside a function to the place of the op that calls it.

    The size of the value in the first turn of a loop is then taken for that of all; what relies on it has to make an
    item of another size an error when the model runs.
    """

    def __init__(self, webs: dict[ir.Value, Web]) -> None:
        self._webs = webs
        self._copies: dict[ir.Value, ir.Value] = {}

    def __call__(self, value: ir.Value, call: ir.OpView) -> ir.Value:
        """The copy of a value.

        Raises:
            Unknown: It is computed by ops that cannot be copied.
        """
        needed: list[ir.OpView] = []
        seen: set[ir.Value] = set()
        waiting = [value]
        while waiting:
            current = waiting.pop()
            if isinstance(current.owner, ir.Block) or current in self._copies or current in seen:
                continue
            op = current.owner.opview
            if is_call(op) or not is_repeatable(op.name):
                raise Unknown(f"it depends on the result of {op.name}")
            if any(map(is_variant, (*op.operands, *op.results))) and op.name not in {*_READERS, _MAKER}:
                raise Unknown(f"it depends on the result of {op.name}")
            seen.update(op.results)
            needed.append(op)
            waiting += op.operands
        body = needed[0].operation.block if needed else None
        for op in list(body.operations) if body is not None else ():
            if op.operation not in [wanted.operation for wanted in needed]:
                continue
            copy = op.operation.clone(ip=ir.InsertionPoint(call))
            for position, operand in enumerate(op.operands):
                copy.operands[position] = self._outside(operand, call)
            if op.name == _MAKER:
                web = self._webs[copy.results[0]] = self._webs[op.results[0]]
                web.values.append(copy.results[0])
                web.ops.append(copy.opview)
            elif any(map(is_variant, copy.operands)):
                self._webs[copy.operands[0]].ops.append(copy.opview)
            self._copies.update(zip(op.results, copy.results, strict=True))
        return self._outside(value, call)

    def is_copy(self, value: ir.Value) -> bool:
        """Whether a value is one of the copies."""
        return value in self._copies.values()

    def _outside(self, value: ir.Value, call: ir.OpView) -> ir.Value:
        if isinstance(value.owner, ir.Block):
            return call_operands(call)[ir.BlockArgument(value).arg_number]
        return self._copies[value]
