"""Optionals, in which a branch hands what it computed to its gradient, made what they hold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import call_operands, function_symbol, is_call, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.ops.dims import Dim, symbol_in
from litefuse.ir.ops.substitution import substituted, unknowns
from litefuse.ir.purity import replace_op
from litefuse.ir.types import TensorType, is_variant, ranked_tensor_type, tensor_type_of
from litefuse.passes.tensor_lists.list_groups import SameValues, Web, unsupported
from litefuse.passes.tensor_lists.list_ops import NONE, OPTIONALS, hold_tensors, is_list_op, list_of
from litefuse.passes.tensor_lists.list_sizes import function_of
from litefuse.passes.tensor_lists.op_results import Number, SizeOf, emit
from litefuse.passes.tensor_lists.sizes import Sizes, Unknown

_SOME, _GET = "tf.OptionalFromValue", "tf.OptionalGetValue"

_Kind: TypeAlias = "tuple[str, str | None, int | None]"
"""The kind of a value in an optional (tensor, list, optional), its element type, and its or its items' rank."""

_UNUSED: _Kind = ("variant", None, None)  # that nobody looks into, once it is taken out


@dataclass
class _OptionalGroup:
    """One optional at different moments, or all those that are items of one list.

    Attributes:
        values: The values.
        lists: Those of the lists that it is an item of, and of the lists that these are items of.
        kinds: What it holds at one time or another, and which ops put it there or take it out.
        nothings: The ops that make it of nothing.
        list_ops: The ops of the lists that it is an item of.
    """

    values: list[ir.Value] = field(default_factory=list[ir.Value])
    lists: list[ir.Value] = field(default_factory=list[ir.Value])
    kinds: dict[_Kind, list[ir.OpView]] = field(default_factory=dict[_Kind, "list[ir.OpView]"])
    nothings: list[ir.OpView] = field(default_factory=list[ir.OpView])
    list_ops: list[ir.OpView] = field(default_factory=list[ir.OpView])

    @property
    def kind(self) -> _Kind:
        """The kind of its values, if there is only one."""
        (kind,) = self.kinds
        return kind


def _find_optionals(by_symbol: Mapping[str, func.FuncOp]) -> list[_OptionalGroup]:
    """The optionals of a module, whose functions have one caller each, but for those inside others or their lists.

    Raises a ConversionError for one that holds several values at once, or a tensor of unknown rank.
    """
    same = SameValues(by_symbol)
    optional_ops, list_ops = _joined(by_symbol, same)
    if not optional_ops:
        return []
    items = same.join_items(list_ops)
    members = {same.leader(values[0]): values for values in same.groups()}
    ops_of_lists: dict[ir.Value, list[ir.OpView]] = {}
    for op in list_ops:
        ops_of_lists.setdefault(same.leader(list_of(op)), []).append(op)
    holders: dict[ir.Value, list[ir.Value]] = {}
    for holder, item in items.items():
        holders.setdefault(same.leader(item), []).append(holder)
    groups, inside = _groups(optional_ops, ops_of_lists, same)
    outermost: list[_OptionalGroup] = []
    for leader, group in groups.items():
        around = [leader]
        for value in around:  # grows: lists in lists
            around += holders.get(value, ())
        group.values = members[leader]
        group.lists = [value for member in around[1:] for value in members[member]]
        group.list_ops = [op for holder in holders.get(leader, ()) for op in ops_of_lists[holder]]
        _match(group)
        if group.kinds and not inside.intersection(around):
            outermost.append(group)
    return outermost


def _joined(by_symbol: Mapping[str, func.FuncOp], same: SameValues) -> tuple[list[ir.OpView], list[ir.OpView]]:
    """The ops of optionals and those of lists, after all values that they make or take were joined."""
    optional_ops: list[ir.OpView] = []
    list_ops: list[ir.OpView] = []
    for function in by_symbol.values():
        for op in operations(function):
            if op.name in OPTIONALS:
                optional_ops.append(op)
                same.leader(_optional(op))
            elif is_call(op):
                same.join_through(op)
            elif is_list_op(op):
                list_ops.append(op)
                same.join_in(op)
    return optional_ops, list_ops


def _groups(
    optional_ops: Sequence[ir.OpView], ops_of_lists: Mapping[ir.Value, Sequence[ir.OpView]], same: SameValues
) -> tuple[dict[ir.Value, _OptionalGroup], set[ir.Value]]:
    """The groups by their leaders, with what they hold; and the leaders of what any of them holds."""
    groups = {same.leader(_optional(op)): _OptionalGroup() for op in optional_ops}
    inside: set[ir.Value] = set()
    for op in optional_ops:
        group = groups[same.leader(_optional(op))]
        if op.name == NONE:
            group.nothings.append(op)
            continue
        if op.name == _SOME and len(op.operands) != 1:
            raise unsupported(op, "an optional holds several values")
        value = op.operands[0] if op.name == _SOME else op.results[0]
        content = same.leader(value)
        inside.add(content)
        if not is_variant(value):
            kind = _kind_of_tensor(value, op)
        elif content in groups:
            kind = ("optional", None, None)
        elif content in ops_of_lists:
            kind = _kind_of_list(ops_of_lists[content])
        else:
            kind = _UNUSED
        group.kinds.setdefault(kind, []).append(op)
    return groups, inside


def _optional(op: ir.OpView) -> ir.Value:
    return op.operands[0] if op.name == _GET else op.results[0]


def _kind_of_tensor(value: ir.Value, op: ir.OpView) -> _Kind:
    kind = tensor_type_of(value)
    if kind.shape is None:
        raise unsupported(op, "an optional holds a tensor of unknown rank")
    return "tensor", kind.dtype, len(kind.shape)


def _kind_of_list(ops: Sequence[ir.OpView]) -> _Kind:
    """Learns about a list from its ops."""
    web = Web([], list(ops))
    for op in ops:
        web.learn_from(op)
    return "list", None if web.element is None else str(web.element), None if web.item is None else len(web.item)


def _match(group: _OptionalGroup) -> None:
    """Finds for what is taken out of an optional what is put in, where less is known of it."""
    put = [kind for kind, ops in group.kinds.items() if any(op.name == _SOME for op in ops)]
    for kind in list(group.kinds):
        if not put or kind in put:
            continue
        ops = group.kinds.pop(kind)
        if kind == _UNUSED:
            same = [candidate for candidate in put if candidate[0] != "tensor"][:1]
        else:
            same = [candidate for candidate in put if all(a in (b, None) for a, b in zip(kind, candidate, strict=True))]
        if len(same) != 1:
            raise unsupported(ops[0], "it is not known what is taken out of an optional")
        group.kinds[same[0]] += ops


def _separate_kinds(by_symbol: Mapping[str, func.FuncOp], groups: Sequence[_OptionalGroup]) -> bool:
    """Hands on one optional for each kind of value that an optional may hold, all but one of them nothing::

        %o = tf.OptionalFromValue(%x)          %o = tf.OptionalFromValue(%x)
        return %o                         -->  %p = tf.OptionalNone()
                                               return %o, %p

    Lists of such optionals become several lists, too.

    Args:
        by_symbol: The module's functions, each with at most one caller; their types are left as they are.
        groups: The optionals.

    Returns:
        Whether there was anything to do.
    """
    counts: dict[ir.Value, int] = {}
    which: dict[ir.Value, int] = {}
    for group in groups:
        if len(group.kinds) > 1:
            counts |= dict.fromkeys([*group.values, *group.lists], len(group.kinds))
            for number, ops in enumerate(group.kinds.values()):
                which |= dict.fromkeys((op.results[0] for op in ops), number)
    if counts:
        _Separation(by_symbol, counts, which).run()
    return bool(counts)


class _Separation:
    def __init__(
        self, by_symbol: Mapping[str, func.FuncOp], counts: dict[ir.Value, int], which: Mapping[ir.Value, int]
    ) -> None:
        self._by_symbol = by_symbol
        self._counts = counts
        self._which = which
        self._parts: dict[ir.Value, list[ir.Value]] = {}

    def run(self) -> None:
        for function in self._by_symbol.values():
            if function.is_external:
                continue
            block = function.entry_block
            for argument in list(block.arguments):
                others = range(1, self._counts.get(argument, 1))
                if others:
                    added = [block.add_argument(argument.type, function.location) for _ in others]
                    self._parts[argument] = [argument, *added]
        for function in self._by_symbol.values():
            for op in operations(function):
                with ir.InsertionPoint(op), op.location:
                    self._separate(op)

    def _separate(self, op: ir.OpView) -> None:
        touched = any(value in self._counts for value in [*op.operands, *op.results])
        if not touched:
            return
        if op.name == _SOME:
            parts = [create_value(NONE, op.results[0].type) for _ in range(self._counts[op.results[0]] - 1)]
            parts.insert(self._which[op.results[0]], op.results[0])
            self._parts[op.results[0]] = parts
        elif op.name == _GET:
            op.operands[0] = self._parts[op.operands[0]][self._which[op.results[0]]]
        elif is_call(op) or op.name == "func.return":
            self._call(op)
        else:
            self._copy(op)

    def _call(self, op: ir.OpView) -> None:
        """Hands all parts over, the first in the place of the optional and the others behind everything else."""
        operands = [self._first(value) for value in op.operands]
        handed = list(op.operands) if op.name == "func.return" else call_operands(op)
        operands += [part for value in handed for part in self._parts.get(value, ())[1:]]
        separate = [result for result in op.results if result in self._counts]
        kinds = [result.type for result in op.results]
        kinds += [result.type for result in separate for _ in range(1, self._counts[result])]
        new = create_like(op, operands, kinds)
        others = iter(list(new.results)[len(op.results) :])
        for old, result in zip(op.results, new.results, strict=False):
            if old in self._counts:
                self._counts[result] = self._counts[old]
                self._parts[result] = [result, *(next(others) for _ in range(1, self._counts[old]))]
            old.replace_all_uses_with(result)
        op.operation.erase()

    def _copy(self, op: ir.OpView) -> None:
        """One op for each part: of lists of optionals, and of nothing."""
        count = max(self._counts.get(value, 1) for value in [*op.operands, *op.results])
        copies = [op, *(op.operation.clone(ip=ir.InsertionPoint(op)).opview for _ in range(1, count))]
        operands = list(op.operands)
        for number, copy in enumerate(copies):
            for position, value in enumerate(operands):
                if value in self._parts:
                    copy.operands[position] = self._parts[value][number]
        for position, result in enumerate(op.results):
            if result in self._counts:
                self._parts[result] = [copy.results[position] for copy in copies]

    def _first(self, value: ir.Value) -> ir.Value:
        return self._parts[value][0] if value in self._parts else value


def remove_optionals(by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Puts what optionals hold in their places::

        %o = tf.OptionalFromValue(%x)       %o = %x
        %o = tf.OptionalNone()         -->  %o = zeros
        %y = tf.OptionalGetValue(%o)        %y = %o

    The gradient of a branch looks only at what that branch computed, so what stands for nothing is never looked at. It
    has the size that the value would have if that can be told. Where the value is a list,
    ``tf.OptionalNone`` stays, for an empty one.

    Args:
        by_symbol: The module's functions, each with at most one caller.

    Raises:
        ConversionError: An optional holds several values, or a tensor of unknown rank.
    """
    _separate_nothings(by_symbol)
    while groups := _find_optionals(by_symbol):
        if _separate_kinds(by_symbol, groups):
            continue
        sizes = Sizes(by_symbol)
        for group in groups:
            if group.kind[0] == "tensor":
                _make_tensor(group, sizes)
            for op in group.kinds[group.kind]:
                replace_op(op, [op.operands[0]])


def _separate_nothings(by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Makes one op for each use of nothing, which may be many different things."""
    for function in by_symbol.values():
        for op in operations(function):
            if op.name == NONE:
                for use in list(op.results[0].uses)[1:]:
                    copy = op.operation.clone(ip=ir.InsertionPoint(op))
                    use.owner.operands[use.operand_number] = copy.results[0]


def _make_tensor(group: _OptionalGroup, sizes: Sizes) -> None:
    """Gives an optional the type of what it holds, and puts zeros where it holds nothing."""
    kind = _type(group)
    nothings = [(op, _size_of_nothing(op, group, kind, sizes)) for op in group.nothings]
    for value in group.values:
        if isinstance(value.owner, ir.Block) or value.owner.name not in OPTIONALS:
            value.set_type(ranked_tensor_type(kind))
    hold_tensors(group.list_ops, ir.ShapedType(ranked_tensor_type(kind)).element_type, nothings=bool(nothings))
    for op, shape in nothings:
        with ir.InsertionPoint(op), op.location:
            b = Builder()
            zeros = b.fill([emit(size, b) for size in shape], 0, kind.dtype)
        replace_op(op, [zeros])


def _type(group: _OptionalGroup) -> TensorType:
    ops = group.kinds[group.kind]
    # One that is always nothing still has readers, which never run.
    held = [op.operands[0] for op in ops if op.name == _SOME] or [op.results[0] for op in ops]
    shapes = [tensor_type_of(value).shape or () for value in held]
    merged = (sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))
    return TensorType(tensor_type_of(held[0]).dtype, tuple(merged))


def _size_of_nothing(op: ir.OpView, group: _OptionalGroup, kind: TensorType, sizes: Sizes) -> list[Dim]:
    """The size of what an optional would hold where it holds nothing, by values that are there."""
    dims: list[Dim] = []
    for axis, known in enumerate(kind.shape or ()):
        # LiteRT prepares a branch that is not taken, too: what is broadcast goes with everything, and what is in a list
        # gets the size of the others.
        size: Dim = (0 if group.lists else 1) if known is None else known
        if known is None:
            with suppress(Unknown):
                size = _size_elsewhere(group, axis, function_of(op), sizes)
        dims.append(size)
    return dims


def _size_elsewhere(group: _OptionalGroup, axis: int, function: func.FuncOp, sizes: Sizes) -> Dim:
    """The size of what an optional holds by arguments of another function; raises ``Unknown`` if it takes more."""
    outwards = [function]
    while (call := sizes.caller(outwards[-1])) is not None:
        outwards.append(function_of(call))
    symbols = [function_symbol(outward) for outward in outwards]
    for op in group.kinds[group.kind]:
        if op.name != _SOME:
            continue
        size, where = sizes.size(op.operands[0], axis), function_of(op)
        while function_symbol(where) not in symbols:
            call = sizes.caller(where)
            if call is None:
                raise Unknown("it is computed in another signature")
            size, where = sizes.before(size, call), function_of(call)
        for inner in reversed(outwards[: symbols.index(function_symbol(where))]):
            size = _inside(size, inner, sizes)
        return size
    raise Unknown("nothing is ever put into it")


def _inside(size: Dim, function: func.FuncOp, sizes: Sizes) -> Dim:
    """A size by values around the caller of a function, by its arguments; raises ``Unknown`` if it takes more."""
    return substituted(size, {name: _argument(name, function, sizes) for name in unknowns(size)})


def _argument(name: Hashable, function: func.FuncOp, sizes: Sizes) -> Dim:
    """A number of a value around the caller of a function, as one of an argument; raises ``Unknown`` without one."""
    call = sizes.caller(function)
    assert call is not None
    if isinstance(name, (SizeOf, Number)) and call.name != "tf.While":
        arguments = function.entry_block.arguments
        operands = call_operands(call)
        if name.value in operands:
            argument = arguments[operands.index(name.value)]
            return sizes.symbol(argument, name.axis) if isinstance(name, SizeOf) else sizes.number(argument, name.index)
        for operand, argument in zip(operands, arguments, strict=True):
            kind = tensor_type_of(operand)
            for axis, known in enumerate(kind.shape or ()):
                if known is None and _is(name, sizes.size(operand, axis)):
                    return sizes.symbol(argument, axis)
    raise Unknown("it depends on a value that is not there")


def _is(name: Hashable, size: Dim) -> bool:
    symbol = symbol_in(size)
    return symbol is not None and symbol.name == name
