"""How long lists are, and how large their items."""

from __future__ import annotations

from collections.abc import Iterator

from litefuse.ir.call_graph import function_symbol
from litefuse.ir.constants import integer_constant
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Dim
from litefuse.ir.ops.facts import Values, array_of
from litefuse.passes.tensor_lists.list_groups import resizes
from litefuse.passes.tensor_lists.sizes import ElementsRule, Rule, Sizes, Unknown

__all__ = ["LIST_ELEMENTS", "LIST_RULES", "WRITERS", "function_of", "item_sizes"]

#: The ops that put items into a list: the operand with them, and how many dimensions it has before theirs.
WRITERS = {
    "tf.TensorListPushBack": (1, 0),
    "tf.TensorListScatterIntoExistingList": (1, 1),
    "tf.TensorListSetItem": (2, 0),
}


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
        if op.name not in WRITERS:
            continue
        position, leading = WRITERS[op.name]
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


def _from_tensor(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
    return sizes.size(op.operands[0], axis)


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


def _stacked(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Dim:
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
    "tf.TensorListFromTensor": _from_tensor,
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
    "tf.TensorListStack": _stacked,
}
LIST_ELEMENTS: dict[str, ElementsRule] = {
    "tf.TensorListElementShape": _item_shape,
    "tf.TensorListLength": _length,
}
