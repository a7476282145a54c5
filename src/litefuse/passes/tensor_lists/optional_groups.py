"""Which values are the same optional at different moments, what each may hold, and one for each kind of value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.call_graph import call_operands, is_call, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.types import is_variant, tensor_type_of
from litefuse.passes.tensor_lists.list_groups import SameValues, Web, unsupported
from litefuse.passes.tensor_lists.list_ops import NONE, OPTIONALS, is_list_op, list_of

__all__ = ["GET", "SOME", "OptionalGroup", "find_optionals", "separate_kinds"]

SOME, GET = "tf.OptionalFromValue", "tf.OptionalGetValue"

_Kind: TypeAlias = "tuple[str, str | None, int | None]"
"""The kind of a value in an optional (tensor, list, optional), its element type, and its or its items' rank."""

_UNUSED: _Kind = ("variant", None, None)  # that nobody looks into, once it is taken out


@dataclass
class OptionalGroup:
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


def find_optionals(by_symbol: Mapping[str, func.FuncOp]) -> list[OptionalGroup]:
    """The optionals of a module but for those inside others, or in lists inside others.

    Args:
        by_symbol: Its functions, each with at most one caller.

    Raises:
        ConversionError: An optional holds several values at once, or a tensor of unknown rank.
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
    outermost: list[OptionalGroup] = []
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
) -> tuple[dict[ir.Value, OptionalGroup], set[ir.Value]]:
    """The groups by their leaders, with what they hold; and the leaders of what any of them holds."""
    groups = {same.leader(_optional(op)): OptionalGroup() for op in optional_ops}
    inside: set[ir.Value] = set()
    for op in optional_ops:
        group = groups[same.leader(_optional(op))]
        if op.name == NONE:
            group.nothings.append(op)
            continue
        if op.name == SOME and len(op.operands) != 1:
            raise unsupported(op, "an optional holds several values")
        value = op.operands[0] if op.name == SOME else op.results[0]
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
    return op.operands[0] if op.name == GET else op.results[0]


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


def _match(group: OptionalGroup) -> None:
    """Finds for what is taken out of an optional what is put in, where less is known of it.

    Raises:
        ConversionError: It cannot be told.
    """
    put = [kind for kind, ops in group.kinds.items() if any(op.name == SOME for op in ops)]
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


def separate_kinds(by_symbol: Mapping[str, func.FuncOp], groups: Sequence[OptionalGroup]) -> bool:
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
                    self._parts[argument] = [
                        argument,
                        *(block.add_argument(argument.type, function.location) for _ in others),
                    ]
        for function in self._by_symbol.values():
            for op in operations(function):
                with ir.InsertionPoint(op), op.location:
                    self._separate(op)

    def _separate(self, op: ir.OpView) -> None:
        touched = any(value in self._counts for value in [*op.operands, *op.results])
        if not touched:
            return
        if op.name == SOME:
            parts = [_nothing(op.results[0].type) for _ in range(self._counts[op.results[0]] - 1)]
            parts.insert(self._which[op.results[0]], op.results[0])
            self._parts[op.results[0]] = parts
        elif op.name == GET:
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


def _nothing(kind: ir.Type) -> ir.Value:
    return create_value(NONE, kind)
