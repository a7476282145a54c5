"""Lists made dense: where each is made, what it holds, and the ops that take its ops' places."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.call_graph import callees, callees_first, functions, operations, separate_callers, update_function_type
from litefuse.ir.constants import integer_constant, tensor_constant
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Dim
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import replace_op
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import is_variant
from litefuse.passes.tensor_lists.dense_ops import dense_form
from litefuse.passes.tensor_lists.list_groups import Web, find_webs, resizes, unsupported
from litefuse.passes.tensor_lists.list_ops import CREATORS, NONE, has_lists, hold_tensors
from litefuse.passes.tensor_lists.list_sizes import LIST_ELEMENTS, LIST_RULES, item_sizes, refuse_varying_items
from litefuse.passes.tensor_lists.op_results import emit
from litefuse.passes.tensor_lists.optionals import remove_optionals
from litefuse.passes.tensor_lists.ragged_items import take_ragged_items_apart
from litefuse.passes.tensor_lists.sizes import FirstTurn, Sizes, Unknown, values_of

_FROM_NOTHING = frozenset({"tf.EmptyTensorList", "tf.TensorListReserve"})
# The ops after which a list has items of some size, whatever was written into it before.
_OF_SOME_SIZE = frozenset(
    {
        *("tf.TensorListFromTensor", "tf.TensorListResize", "tf.TensorListScatterIntoExistingList"),
        *("tf.TensorListScatterV2", "tf.TensorListSplit"),
    }
)


@module_pass
def lower_tensor_lists(module: ir.Module) -> bool:
    """Makes a dense tensor ``[length, *item]`` of every tensor list, also where loops and branches hand it on::

        %l = tf.TensorListReserve(%shape, %n)       %l = tf.Fill([%n, %batch, 5], 0)
        %m = tf.TensorListSetItem(%l, %i, %x)  -->  %m = tf.XlaDynamicUpdateSlice(%l, tf.ExpandDims(%x, 0), [%i, 0, 0])
        %y = tf.TensorListGetItem(%m, %i)           %y = tf.GatherV2(%m, %i)
        %s = tf.TensorListStack(%m)                 %s = %m

    The runtime has no lists. An item that was never written is zeros, in a list as in the tensor. How large the items
    are, which a list need not know when it is made, is worked out from what is written into it, in terms of values that
    are there before the loop. A list that nothing is taken out of becomes a constant.

    Raises:
        ConversionError: The sizes of a list cannot be told.
    """
    by_symbol = functions(module)
    if not any(map(has_lists, by_symbol.values())):
        return False
    separate_callers(by_symbol, shared=_without_lists(by_symbol))
    take_ragged_items_apart(by_symbol)
    remove_optionals(by_symbol)
    while webs := find_webs(by_symbol):  # first those whose items are tensors, then those that have these as items
        _make_webs_dense(webs, by_symbol)
    for function in by_symbol.values():
        if not function.is_external:
            update_function_type(function)
    return True


def _make_webs_dense(webs: dict[ir.Value, Web], by_symbol: Mapping[str, func.FuncOp]) -> None:
    first_turn = FirstTurn(webs)
    sizes = Sizes(by_symbol, LIST_RULES, LIST_ELEMENTS, webs, first_turn)
    distinct = list({id(web): web for web in webs.values()}.values())
    alive = [web for web in distinct if web.is_read]
    for web in distinct:
        if not web.is_read:
            _drop(web)
    formulas: list[tuple[Web, ir.OpView, list[Dim]]] = []
    for web in alive:
        formulas += [(web, op, shape) for op, shape in _work_out(web, sizes, first_turn)]
    for web in alive:
        _set_type(web, web.type)
    dims: dict[ir.Value, list[MixedSize]] = {}
    for _, op, shape in formulas:
        with ir.InsertionPoint(op), op.location, _unsupported(op):
            dims[op.results[0]] = [emit(size, Builder()) for size in shape]
    for web in alive:
        for op in web.ops:
            with ir.InsertionPoint(op), op.location, _unsupported(op):
                new = dense_form(op, web, dims.get(op.results[0], ()), Builder())
            replace_op(op, new)


@contextmanager
def _unsupported(op: ir.OpView) -> Generator[None]:
    """Has what cannot be built because of an unknown rank be an error of the conversion."""
    try:
        yield
    except NotDecomposed as reason:
        raise unsupported(op, str(reason)) from None


def _without_lists(by_symbol: Mapping[str, func.FuncOp]) -> set[str]:
    """The symbols of the functions that neither have lists nor run one that has."""
    without: set[str] = set()
    for symbol in callees_first(by_symbol):
        function = by_symbol[symbol]
        if function.is_external:
            without.add(symbol)
            continue
        variant = any(map(is_variant, function.entry_block.arguments))
        called = {callee for op in operations(function) for callee in callees(op)}
        if not variant and not has_lists(function) and called <= without:
            without.add(symbol)
    return without


def _set_type(web: Web, kind: ir.Type) -> None:
    """Gives a list the type of a tensor wherever it is handed on, and taken out of another list."""
    made = {result for op in web.ops for result in op.results}
    for value in web.values:
        if value not in made:
            value.set_type(kind)
    nothings = any(op.name == NONE for op in web.ops)
    hold_tensors(web.holders, ir.ShapedType(kind).element_type, nothings=nothings)


def _drop(web: Web) -> None:
    """Puts a constant in the place of a list that nobody reads."""
    number = ir.DenseElementsAttr.get(np.array(0, np.int32))
    _set_type(web, number.type)
    for op in web.ops:
        with ir.InsertionPoint(op), op.location:
            replace_op(op, [tensor_constant(number)])


def _work_out(web: Web, sizes: Sizes, first_turn: FirstTurn) -> list[tuple[ir.OpView, list[Dim]]]:
    """Completes what is known of a list, and finds formulas for the items of those that are made of nothing."""
    creators = [op for op in web.ops if op.name in CREATORS]
    first = (creators or web.ops)[0]
    if web.element is None or not creators:
        raise unsupported(first, "where it is made is not to be seen")
    if "!tf_type.variant" in str(web.element):
        raise unsupported(first, "its items are tensor lists, which nothing is ever written into")
    if web.item is None:
        raise unsupported(first, "the number of dimensions of its items is not known")
    if None in web.item:
        refuse_varying_items(web, sizes)
    formulas: list[tuple[ir.OpView, list[Dim]]] = []
    for op in creators:
        if op.name in _FROM_NOTHING:
            _sink(op)
            shape = [_item_size(op, axis, web, sizes, first_turn) for axis in range(len(web.item))]
            formulas.append((op, [0 if size is None else size for size in shape]))
            web.learn(tuple(size if isinstance(size, int) else None for size in shape), first)
    if not web.changes_length:
        web.length = _length(web, creators, sizes)
    return formulas


def _length(web: Web, creators: Sequence[ir.OpView], sizes: Sizes) -> int | None:
    lengths: set[Dim] = set()
    for op in creators:
        if op.name == NONE:  # never looked at
            continue
        try:
            lengths.add(sizes.size(op.results[0], 0))
        except Unknown:
            return None
    if len(lengths) == 1 and isinstance(length := lengths.pop(), int):
        return length
    for op in web.ops:
        if op.name == "tf.TensorListStack":
            kind = ir.ShapedType(op.results[0].type)
            if kind.has_rank and not kind.is_dynamic_dim(0):
                return kind.shape[0]
    return None


def _sink(op: ir.OpView) -> None:
    """Moves an op to where its result is needed first: as much as possible is known there."""
    users = [use.owner for use in op.results[0].uses]
    if users:
        first = users[0]
        for user in users[1:]:
            if user.operation.is_before_in_block(first.operation):
                first = user
        op.operation.move_before(first.operation)


def _item_size(op: ir.OpView, axis: int, web: Web, sizes: Sizes, first_turn: FirstTurn) -> Dim | None:
    """The size of a dimension of the items; None if the first of them decides it."""
    assert web.item is not None
    known = web.item[axis]
    if known is not None:
        return known
    reasons: list[str] = []
    with sizes.visit(op.results[0], axis + 1):
        for size in item_sizes(sizes, op, axis, reasons):
            _sink(op)  # behind what was copied to before the loop
            for formula in (size, sizes.expanded(size)):
                if all(_is_available(value, op) for value in values_of(formula)):
                    web.guarded |= any(map(first_turn.is_copy, values_of(formula)))
                    return formula
            reasons.append("it is computed after the list is made")
    if _grows_from_nothing(web):
        web.sized_by_first = web.guarded = True
        return None
    raise unsupported(
        op,
        f"dimension {axis} of its items is not known before the loop: "
        + ("; ".join(dict.fromkeys(reasons)) or "nothing is written into the list"),
    )


def _grows_from_nothing(web: Web) -> bool:
    """Whether a list has no items when it is made, whoever makes it, and as many later as were written into it."""
    return not any(
        op.name in _OF_SOME_SIZE
        or (op.name == "tf.TensorListReserve" and integer_constant(op.operands[1]) != 0)
        or (op.name == "tf.TensorListSetItem" and not resizes(op))
        for op in web.ops
    )


def _is_available(value: ir.Value, op: ir.OpView) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Block) or owner.operation.is_before_in_block(op.operation)
