"""Sizes as formulas of values that are available elsewhere: what an item's size in a loop is before the loop."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.call_graph import call_operands, callees, function_symbol, is_call, operations
from litefuse.ir.constants import without_copies
from litefuse.ir.handles import is_variant
from litefuse.ir.mlir import func, ir, producer
from litefuse.tensor_lists.list_groups import Web
from litefuse.tensor_lists.list_ops import NONE

__all__ = [
    "Arithmetic",
    "Broadcast",
    "Circular",
    "Number",
    "NumberRule",
    "Rule",
    "Size",
    "SizeOf",
    "Sizes",
    "Unknown",
    "arithmetic",
    "broadcast",
    "emit",
    "values_of",
]


@dataclass(frozen=True)
class SizeOf:
    """The size of one dimension of a value; of a tensor list, dimension 0 is its length and the others its items'."""

    value: ir.Value
    axis: int


@dataclass(frozen=True)
class Number:
    """An integer that the model computes: a scalar (index None) or an element of a vector."""

    value: ir.Value
    index: int | None


@dataclass(frozen=True)
class Arithmetic:
    """``AddV2``, ``Sub``, ``Mul`` or ``FloorDiv`` of two sizes."""

    name: str
    a: Size
    b: Size


@dataclass(frozen=True)
class Broadcast:
    """The size that different sizes are broadcast to, in whatever order: all of them are equal, or 1."""

    sizes: frozenset[Size]
    ordered: tuple[Size, ...] = field(compare=False)


Size: TypeAlias = "int | SizeOf | Number | Arithmetic | Broadcast"
Rule: TypeAlias = "Callable[[Sizes, ir.OpView, int, int], Size | None]"
NumberRule: TypeAlias = "Callable[[Sizes, ir.OpView, int | None], Size | None]"


class Unknown(Exception):  # noqa: N818  no error: another formula is tried
    """A size cannot be computed where it is needed; the text says why."""


class Circular(Unknown):
    """A size depends on itself alone."""


# A model of thousands of ops must not exhaust the stack: what is further away is not looked at.
_MAX_DEPTH = 100


@dataclass
class Sizes:
    """Finds formulas for sizes.

    Attributes:
        by_symbol: The module's functions, each with at most one caller.
        rules: How the size of a dimension (op, result, axis) follows from an op's operands.
        numbers: How an element (op, index) of an op's integer result does.
        webs: What is known of each list.
        first_turn: Computes a value inside a function before the op that calls it; raises Unknown if it cannot.
    """

    by_symbol: Mapping[str, func.FuncOp]
    rules: Mapping[str, Rule]
    numbers: Mapping[str, NumberRule]
    webs: Mapping[ir.Value, Web]
    first_turn: Callable[[ir.Value, ir.OpView], ir.Value]
    callers: dict[str, ir.OpView] = field(default_factory=dict[str, ir.OpView])
    _known: dict[SizeOf, Size] = field(default_factory=dict[SizeOf, Size])
    _assumed: dict[SizeOf, bool] = field(default_factory=dict[SizeOf, bool])
    _visited: set[SizeOf] = field(default_factory=set[SizeOf])
    _depth: int = 0

    def __post_init__(self) -> None:
        for function in self.by_symbol.values():
            for op in operations(function):
                for symbol in callees(op):
                    self.callers[symbol] = op

    def size(self, value: ir.Value, axis: int) -> Size:
        """The size of a dimension, by values of the same function that are as early as possible.

        Raises:
            Unknown: It is the size of a list, and cannot be told.
        """
        kind = ir.ShapedType(value.type)
        if not is_variant(value) and kind.has_rank and not kind.is_dynamic_dim(axis):
            return kind.shape[axis]
        if axis and value in self.webs:
            item = self.webs[value].item
            known = None if item is None else item[axis - 1]
            if known is not None:
                return known
        key = SizeOf(value, axis)
        if key in self._known:
            return self._known[key]
        owner = value.owner
        if isinstance(owner, ir.Block):
            return key
        if self._depth > _MAX_DEPTH:
            if is_variant(value):
                raise Unknown("too many ops decide it")
            return key
        rule = _call_size if is_call(owner) else self.rules.get(owner.name)
        self._depth += 1
        try:
            found = None if rule is None else rule(self, owner, ir.OpResult(value).result_number, axis)
        finally:
            self._depth -= 1
        self._known[key] = key if found is None else found
        return self._known[key]

    def number(self, value: ir.Value, index: int | None) -> Size:
        """An integer scalar, or an element of an integer vector."""
        owner = value.owner
        rule = None if isinstance(owner, ir.Block) or self._depth > _MAX_DEPTH else self.numbers.get(owner.name)
        if rule is None or isinstance(owner, ir.Block):
            return Number(value, index)
        self._depth += 1
        try:
            found = rule(self, owner, index)
        finally:
            self._depth -= 1
        return Number(value, index) if found is None else found

    def before(self, size: Size, call: ir.OpView) -> Size:
        """A size inside a function, by values around the op that calls it, which is its caller.

        Raises:
            Unknown: It changes from one turn of a loop to the next, or depends on what the function computes.
        """
        match size:
            case int():
                return size
            case Arithmetic(name, a, b):
                return arithmetic(name, self.before(a, call), self.before(b, call))
            case Broadcast(_, sizes):
                return broadcast([self.before(each, call) for each in sizes])
            case SizeOf(value, axis) if isinstance(value.owner, ir.Block):
                position = ir.BlockArgument(value).arg_number
                if call.name == "tf.While" and not self.stays(call, position, axis):
                    raise Unknown("it changes from one turn of the loop to the next")
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
                        agreed = {self.before(each, call) for each in branches}
                        if len(agreed) == 1:
                            return agreed.pop()
                computed = self.first_turn(value, call)
                return self.size(computed, axis)
            case Number(value, _):
                raise Unknown("it depends on a number that the function computes")

    @contextmanager
    def visit(self, value: ir.Value, axis: int) -> Generator[None]:
        """While this size is looked for, it is circular to ask for it.

        Raises:
            Circular: It is being looked for.
        """
        key = SizeOf(value, axis)
        if key in self._visited:
            raise Circular("it depends on itself")
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
        key = SizeOf(argument, axis)
        if key in self._assumed:
            return self._assumed[key]
        # Proven by induction: what is to be shown of one turn may assume it of the turn before.
        self._assumed[key] = True
        try:
            after = self.size(list(body.entry_block.operations)[-1].operands[position], axis)
            if after == key:
                return True
            operand = self.size(call_operands(loop)[position], axis)
            later = self.before(after, loop)
            stays = later == operand or (isinstance(later, Broadcast) and operand in later.sizes)
        except Unknown:
            stays = False
        if not stays:
            # What was concluded from the assumption may be wrong.
            self._assumed.clear()
            self._known.clear()
            self._assumed[key] = False
        return stays

    def _is_invariant(self, loop: ir.OpView, position: int) -> bool:
        body = self.by_symbol[callees(loop)[1]]
        return (
            without_copies(list(body.entry_block.operations)[-1].operands[position])
            == body.entry_block.arguments[position]
        )


def _call_size(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    """The size of a call's result: of a loop, that of the variable; of a branch, what both sides agree on."""
    if op.name == "tf.While":
        stays = sizes.stays(op, result, axis)
        return sizes.size(call_operands(op)[result], axis) if stays else None
    try:
        found = _branch_sizes(sizes, op, result, axis)
    except Unknown:
        return None
    return found.pop() if len(found) == 1 else None


def _branch_sizes(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> set[Size]:
    """The size of a call's result by each of the functions that it may run.

    Raises:
        Unknown: It depends on what one of them computes.
    """
    found: set[Size] = set()
    for symbol in callees(op):
        returned = list(sizes.by_symbol[symbol].entry_block.operations)[-1].operands[result]
        if producer(returned, NONE) is None:  # which nobody looks at
            found.add(sizes.before(sizes.size(returned, axis), op))
    return found


def arithmetic(name: str, a: Size, b: Size) -> Size:
    """``AddV2``, ``Sub``, ``Mul`` or ``FloorDiv`` of two sizes, computed where they are numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return {"AddV2": a + b, "Sub": a - b, "Mul": a * b, "FloorDiv": a // b if b else 0}[name]
    if (name in {"Mul", "FloorDiv"} and b == 1) or (name in {"AddV2", "Sub"} and b == 0):
        return a
    if (name == "Mul" and a == 1) or (name == "AddV2" and a == 0):
        return b
    if name == "FloorDiv" and isinstance(a, Arithmetic) and a.name == "Mul" and isinstance(b, int) and b in (a.a, a.b):
        return a.a if a.b == b else a.b  # as where dimensions are split and joined again
    return Arithmetic(name, a, b)


def broadcast(sizes: list[Size]) -> Size:
    """What sizes of values that are broadcast to each other become."""
    flat: dict[Size, None] = {}
    for size in sizes:
        flat |= dict.fromkeys(size.ordered if isinstance(size, Broadcast) else [size])
    flat.pop(1, None)
    known = [size for size in flat if isinstance(size, int)]
    if known:
        return known[0]
    if len(flat) < 2:
        return next(iter(flat), 1)
    return Broadcast(frozenset(flat), tuple(flat))


def values_of(size: Size) -> set[ir.Value]:
    """The values that a formula is made of."""
    match size:
        case int():
            return set()
        case SizeOf(value, _) | Number(value, _):
            return {value}
        case Arithmetic(_, a, b):
            return values_of(a) | values_of(b)
        case Broadcast(_, sizes):
            return {value for each in sizes for value in values_of(each)}


def emit(size: Size, b: Builder) -> MixedSize:
    """Emits the ops that compute a formula: a number, or an int32 scalar."""
    match size:
        case int():
            return size
        case SizeOf(value, axis):
            return b.size(value, axis)
        case Number(value, index):
            return b.cast(value if index is None else b.element(value, index), "int32")
        case Arithmetic(name, a, c):
            return b.dims(name, emit(a, b), emit(c, b))
        case Broadcast(_, sizes):
            first, *others = (emit(each, b) for each in sizes)
            for other in others:  # sizes of 1 are broadcast; 0 and 1 together do not occur
                first = b.dims("Maximum", first, other)
            return first
