"""How long lists are, and how large their items; lists whose items are plainly of several sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from litefuse.ir.call_graph import callees, function_symbol, terminator_of
from litefuse.ir.constants import integer_constant
from litefuse.ir.litert_ops import MASKS
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.ops.dims import Dim
from litefuse.ir.ops.facts import Values, array_of
from litefuse.passes.tensor_lists.list_groups import Web, resizes, unsupported
from litefuse.passes.tensor_lists.sizes import ElementsRule, Rule, Sizes, Unknown

#: The ops that put items into a list: the operand with them, and how many dimensions it has before theirs.
_WRITERS = {
    "tf.TensorListPushBack": (1, 0),
    "tf.TensorListScatterIntoExistingList": (1, 1),
    "tf.TensorListSetItem": (2, 0),
}
# Ops that keep the size of their first operand, behind which a part may stand.
_ELEMENTWISE = frozenset(
    f"tf.{name}"
    for name in (
        *("Abs", "Cast", "Exp", "Identity", "Log", "Neg", "Relu", "Rsqrt", "Sigmoid", "Sin", "Sqrt", "Square"),
        *("StopGradient", "Tanh", "ZerosLike"),
    )
)
# Arithmetic whose result changes when one of its operands does.
_LINEAR = frozenset({"tf.Add", "tf.AddV2", "tf.Cast", "tf.ExpandDims", "tf.Identity", "tf.Neg", "tf.Pack", "tf.Sub"})


def function_of(op: ir.OpView) -> func.FuncOp:
    """The function that an op stands in."""
    parent = op.operation.parent
    assert parent is not None
    view = parent.opview
    assert isinstance(view, func.FuncOp)
    return view


def item_sizes(sizes: Sizes, creator: ir.OpView, axis: int, reasons: list[str]) -> Iterator[Dim]:
    """Formulas for a dimension of the items of an empty or reserved list, in its function.

    Args:
        sizes: Where sizes come from.
        creator: The op that makes the list.
        axis: The dimension of an item.
        reasons: Filled with why others are unknown.
    """
    shape = creator.operands[0]
    if integer_constant(shape) is None:
        given = sizes.number(shape, axis)
        if not isinstance(given, int) or given >= 0:
            yield given
    web = sizes.webs[creator.results[0]]
    here = function_symbol(function_of(creator))
    for op in web.ops:
        if op.name == "tf.TensorListFromTensor" and function_symbol(function_of(op)) == here:
            yield sizes.size(op.operands[0], axis + 1)
        if op.name not in _WRITERS:
            continue
        position, leading = _WRITERS[op.name]
        try:
            size = sizes.size(op.operands[position], axis + leading)
            function = function_of(op)
            while function_symbol(function) != here:
                call = sizes.caller(function)
                if call is None:
                    raise Unknown("it is written where the list was not made")
                size = sizes.before(size, call)
                function = function_of(call)
        except Unknown as reason:
            reasons.append(str(reason))
            continue
        yield size


def _creator(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    if axis == 0:
        return 0 if op.name == "tf.EmptyTensorList" else sizes.number(op.operands[1], None)
    with sizes.visit(op.results[0], axis):
        reasons: list[str] = []
        size = next(item_sizes(sizes, op, axis - 1, reasons), None)
    if size is None:
        raise Unknown("; ".join(reasons) or "nothing is written into the list")
    return size


def _scattered(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    if axis:
        return sizes.size(op.operands[0], axis)
    count = sizes.number(op.operands[3], None)
    if isinstance(count, int) and count < 0:
        raise Unknown("its length is decided by the indices")
    return count


def _split(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    if axis == 0:
        return sizes.size(op.operands[2], 0)
    return sizes.number(op.operands[2], 0) if axis == 1 else sizes.size(op.operands[0], axis - 1)


def _changed(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Dim:
    if result == 1:  # of TensorListPopBack, the item
        return sizes.size(op.operands[0], axis + 1)
    if axis:
        return sizes.size(op.operands[0], axis)
    if op.name == "tf.TensorListResize":
        return sizes.number(op.operands[1], None)
    before = sizes.size(op.operands[0], 0)
    if op.name == "tf.TensorListPushBack":
        return before + 1
    if op.name == "tf.TensorListPopBack":
        return before - 1
    if resizes(op) or op.name == "tf.TensorListScatterIntoExistingList":
        raise Unknown("its length is decided by an index")
    return before


def _item(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    return sizes.size(op.operands[0], axis + 1)


def _gathered(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    return sizes.size(op.operands[0], axis) if axis else sizes.size(op.operands[1], 0)


def _of_operand(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    return sizes.size(op.operands[0], axis)


def _concatenated(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Dim:
    if result == 1:
        return sizes.size(op.operands[0], 0)
    if axis:
        return sizes.size(op.operands[0], axis + 1)
    return sizes.size(op.operands[0], 0) * sizes.size(op.operands[0], 1)


def _length(sizes: Sizes, op: ir.OpView) -> Values:
    return array_of([sizes.symbol(op.operands[0], 0)], [])


def _item_shape(sizes: Sizes, op: ir.OpView) -> Values | None:
    web = sizes.webs.get(op.operands[0])
    if web is None or web.item is None:
        return None
    shape = [sizes.symbol(op.operands[0], axis + 1) if size is None else size for axis, size in enumerate(web.item)]
    return array_of(shape, [len(shape)])


LIST_RULES: dict[str, Rule] = {
    "tf.EmptyTensorList": _creator,
    "tf.TensorListConcatV2": _concatenated,
    "tf.TensorListFromTensor": _of_operand,
    "tf.TensorListGather": _gathered,
    "tf.TensorListGetItem": _item,
    "tf.TensorListPopBack": _changed,
    "tf.TensorListPushBack": _changed,
    "tf.TensorListReserve": _creator,
    "tf.TensorListResize": _changed,
    "tf.TensorListScatterIntoExistingList": _changed,
    "tf.TensorListScatterV2": _scattered,
    "tf.TensorListSetItem": _changed,
    "tf.TensorListSplit": _split,
    "tf.TensorListStack": _of_operand,
}
LIST_ELEMENTS: dict[str, ElementsRule] = {
    "tf.TensorListElementShape": _item_shape,
    "tf.TensorListLength": _length,
}


class _Ends(NamedTuple):
    """Where a part of a dimension begins and ends: a number, a value, or None where the dimension does."""

    begin: int | ir.Value | None
    end: int | ir.Value | None


def refuse_varying_items(web: Web, sizes: Sizes) -> None:
    """Refuses a list into which parts of different sizes are written.

    Raises:
        ConversionError: Its items are such.
    """
    by_axis: dict[int, set[int]] = {}
    for op in web.ops:
        if op.name not in _WRITERS or _WRITERS[op.name][1]:
            continue
        function = function_of(op)
        for axis, ends in _parts(op.operands[_WRITERS[op.name][0]]):
            if isinstance(ends.end, int) and isinstance(ends.begin, int | None) and ends.end >= (ends.begin or 0) >= 0:
                by_axis.setdefault(axis, set()).add(ends.end - (ends.begin or 0))
            elif _is_fixed(ends.begin) != _is_fixed(ends.end):
                moving = ends.end if _is_fixed(ends.begin) else ends.begin
                if isinstance(moving, ir.Value) and _changes(moving, function, sizes):
                    raise unsupported(op, f"dimension {axis} of its items changes from iteration to iteration")
    for axis, lengths in by_axis.items():
        if len(lengths) > 1:
            listed = ", ".join(map(str, sorted(lengths)))
            raise unsupported(web.ops[0], f"dimension {axis} of its items is of several sizes: {listed}")


def _is_fixed(end: int | ir.Value | None) -> bool:
    return not isinstance(end, ir.Value)


def _parts(item: ir.Value) -> Iterator[tuple[int, _Ends]]:
    """For each dimension of an item that is a part of a tensor, where that begins and ends."""
    while (owner := producer(item, *_ELEMENTWISE)) is not None:
        item = owner.operands[0]
    owner = producer(item, "tf.StridedSlice")
    if owner is None:
        return
    _, begins, ends, strides = owner.operands
    steps = integer_constant(strides)
    masks: Mapping[str, int] = {name: ir.IntegerAttr(owner.attributes[name]).value for name in MASKS}
    if not isinstance(steps, list) or masks["ellipsis_mask"] or masks["new_axis_mask"]:
        return
    axis = 0
    for at, step in enumerate(steps):
        if masks["shrink_axis_mask"] >> at & 1:
            continue
        if step == 1:
            begin, end = (
                None if masks[mask] >> at & 1 else _end(vector, at)
                for mask, vector in (("begin_mask", begins), ("end_mask", ends))
            )
            yield axis, _Ends(begin, end)
        axis += 1


def _end(vector: ir.Value, at: int) -> int | ir.Value:
    numbers = integer_constant(vector)
    if isinstance(numbers, list):
        return numbers[at]
    owner = producer(vector, "tf.Pack")
    if owner is not None:
        number = integer_constant(owner.operands[at])
        return number if isinstance(number, int) else owner.operands[at]
    return vector


def _changes(value: ir.Value, function: func.FuncOp, sizes: Sizes) -> bool:
    """Whether a number is computed, in sums, of what each turn of a loop changes."""
    loop = sizes.caller(function)
    if loop is None or loop.name != "tf.While" or callees(loop)[1] != function_symbol(function):
        return False
    returned = terminator_of(function.entry_block).operands
    waiting, changing = [value], 0
    while waiting:
        current = waiting.pop()
        owner = current.owner
        if isinstance(owner, ir.Block):
            changing += returned[ir.BlockArgument(current).arg_number] != current
        elif owner.name in _LINEAR:
            waiting += owner.operands
        elif integer_constant(current) is None:
            return False
    return changing == 1
