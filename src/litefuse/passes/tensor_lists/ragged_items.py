"""Lists of the rows of ragged tensors, which ``tf.map_fn`` takes and makes: as values and row splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import operations, terminator_of, update_function_type
from litefuse.ir.constants import integer_constant, without_copies
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.op_creation import create_like
from litefuse.ir.purity import replace_op
from litefuse.ir.tensors import maximum, minimum
from litefuse.ir.types import tensor_type_of

_TO, _FROM = "tf.RaggedTensorToVariant", "tf.RaggedTensorFromVariant"


def take_ragged_items_apart(by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Puts values and row splits in the place of lists of rows that a loop takes from the front to the back::

        %v = tf.RaggedTensorToVariant(%splits, %values)
        %l = tf.TensorListFromTensor(%v)                        tf.While(%values, %splits): body
        tf.While(%l): body                                -->     %row = tf.Slice(%values, %splits[%i], ...)
          %x = tf.TensorListGetItem(%l, %i)
          %row = tf.RaggedTensorFromVariant(%x)

        %m = tf.TensorListReserve(%n)                           tf.While([], [0]): body
        tf.While(%m): body                                        %values = tf.ConcatV2(%m, %row)
          %x = tf.RaggedTensorToVariant(%row)             -->     %splits = tf.ConcatV2(%s, [size of %values])
          %l = tf.TensorListSetItem(%m, %i, %x)
        %v = tf.TensorListStack(%l)
        %splits, %values = tf.RaggedTensorFromVariant(%v)

    Rows are dense tensors; other lists of ragged tensors are left alone.

    Args:
        by_symbol: The module's functions, each with at most one caller.
    """
    every = [op for function in by_symbol.values() for op in operations(function) if op.name in {_TO, _FROM}]
    taken = [op for op in every if op.name == _TO and _flag(op, "batched_input") and len(op.operands) == 2]
    made = [op for op in every if op.name == _FROM and len(op.results) == 2]
    for op in taken:
        _take_rows(op, by_symbol)
    for op in made:
        _make_rows(op, by_symbol)


def _take_rows(op: ir.OpView, by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Has the loop that takes rows of a ragged tensor slice its values."""
    shapes = [user for user in _users(op.results[0]) if user.name == "tf.Shape"]
    others = [user for user in _users(op.results[0]) if user.name != "tf.Shape"]
    made = others[0] if len(others) == 1 and others[0].name == "tf.TensorListFromTensor" else None
    loop = None if made is None else _only_user(made.results[0], "tf.While")
    if made is None or loop is None:
        return
    slot = list(loop.operands).index(made.results[0])
    condition, body = _functions(loop, by_symbol)
    argument = body.entry_block.arguments[slot]
    gets = [user for user in _users(argument) if user.name == "tf.TensorListGetItem"]
    rows = [_only_user(get.results[0], _FROM) for get in gets]
    if (
        _users(loop.results[slot])
        or _users(condition.entry_block.arguments[slot])
        or _returned(body)[slot] != argument
        or len(gets) + 1 != len(_users(argument))
        or any(row is None or len(row.results) != 1 for row in rows)
    ):
        return
    splits, values = op.operands
    _retype(loop, (condition, body), slot, values)
    at = _extended(loop, (condition, body), splits, lambda argument: argument)
    for get, row in zip(gets, rows, strict=True):
        assert row is not None
        b = Builder()
        with ir.InsertionPoint(row), row.location:
            values_here, splits_here = (body.entry_block.arguments[place] for place in (slot, at))
            index = b.cast(get.operands[1], "int32")
            ends = b.cast(splits_here, "int32")
            # Splits that are none must not read elsewhere.
            size = b.scalar(b.size(values_here, 0))
            begin, end = (b.gather(ends, at) for at in (index, index + 1))
            begin = minimum(maximum(begin, 0), size)
            end = minimum(maximum(end, begin), size)
            places = b.op("Range", [begin, end, b.scalar(1)], [None], "int32")
            new = b.gather(values_here, places)
        replace_op(row, [new])
        get.operation.erase()
    for shape in shapes:
        b = Builder()
        with ir.InsertionPoint(shape), shape.location:
            counted = b.op("Shape", [b.slice(splits, 0, 1, None)], [1], tensor_type_of(shape.results[0]).dtype)
        replace_op(shape, [counted])
    made.operation.erase()
    op.operation.erase()


def _make_rows(op: ir.OpView, by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Has the loop that makes rows of a ragged tensor add each to the values."""
    stack = producer(op.operands[0], "tf.TensorListStack")
    loop = None if stack is None else producer(stack.operands[0], "tf.While")
    if stack is None or loop is None or len(_users(op.operands[0])) != 1:
        return
    slot = ir.OpResult(stack.operands[0]).result_number
    condition, body = _functions(loop, by_symbol)
    argument = body.entry_block.arguments[slot]
    reserved = producer(loop.operands[slot], "tf.TensorListReserve")
    changes = _changes(_returned(body)[slot])
    written = changes[-1] if changes and changes[-1].name == "tf.TensorListSetItem" else None
    row = None if written is None else producer(written.operands[2], _TO)
    if (
        reserved is None
        or written is None
        or row is None
        or len(row.operands) != 1
        or written.operands[0] != argument
        or not _counts(loop, body, written.operands[1])
        or [len(_users(value)) for value in (argument, reserved.results[0], row.results[0], loop.results[slot])]
        != [1] * 4
        or _users(condition.entry_block.arguments[slot])
    ):
        return
    kind = tensor_type_of(row.operands[0])
    if not kind.shape or None in kind.shape[1:] or kind.dtype == "string":
        return
    inner = [size for size in kind.shape[1:] if size is not None]
    dtype = tensor_type_of(op.results[0]).dtype
    b = Builder()
    with ir.InsertionPoint(loop), loop.location:
        start = b.op("Fill", [b.vector([0, *inner]), b.constant(0, kind.dtype)], [None, *inner], kind.dtype)
        first = b.op("Fill", [b.vector([1]), b.constant(0, dtype)], [None], dtype)
    item = row.operands[0]
    with ir.InsertionPoint(written), written.location:
        argument.set_type(start.type)
        values = b.concat([argument, item], 0)
    terminator_of(body.entry_block).operands[slot] = values
    _retype(loop, (condition, body), slot, start)

    def next_splits(present: ir.Value) -> ir.Value:
        with ir.InsertionPoint(terminator_of(body.entry_block)), written.location:
            end = b.reshape(b.cast(b.scalar(b.size(values, 0)), dtype), [1])
            return b.concat([present, end], 0)

    at = _extended(loop, (condition, body), first, next_splits)
    for change in changes:
        change.operation.erase()
    row.operation.erase()
    loop = producer(stack.operands[0], "tf.While")
    assert loop is not None
    op.results[0].replace_all_uses_with(loop.results[at])
    op.results[1].replace_all_uses_with(loop.results[slot])
    op.operation.erase()
    stack.operation.erase()
    reserved.operation.erase()


def _extended(
    loop: ir.OpView | ir.Operation,
    functions: tuple[func.FuncOp, func.FuncOp],
    value: ir.Value,
    following: Callable[[ir.Value], ir.Value],
) -> int:
    """Adds a value to a loop; ``following`` emits the next one. Returns its place."""
    place = len(loop.operands)
    _, added = [function.entry_block.add_argument(value.type, function.location) for function in functions]
    returned = terminator_of(functions[1].entry_block)
    results = [*returned.operands, following(added)]
    with ir.InsertionPoint(returned), returned.location:
        func.ReturnOp(results)
    returned.operation.erase()
    for function in functions:
        update_function_type(function)
    with ir.InsertionPoint(loop), loop.location:
        kinds = [*(result.type for result in loop.results), value.type]
        new = create_like(loop, [*loop.operands, value], kinds)
    for old, result in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    loop.operation.erase()
    return place


def _retype(loop: ir.OpView | ir.Operation, functions: Sequence[func.FuncOp], slot: int, value: ir.Value) -> None:
    """Has a loop carry another value in a place."""
    loop.operands[slot] = value
    loop.results[slot].set_type(value.type)
    for function in functions:
        function.entry_block.arguments[slot].set_type(value.type)
        update_function_type(function)


def _functions(loop: ir.OpView | ir.Operation, by_symbol: Mapping[str, func.FuncOp]) -> tuple[func.FuncOp, func.FuncOp]:
    condition, body = (by_symbol[ir.FlatSymbolRefAttr(loop.attributes[name]).value] for name in ("cond", "body"))
    return condition, body


def _returned(function: func.FuncOp) -> Sequence[ir.Value]:
    return list(terminator_of(function.entry_block).operands)


def _changes(value: ir.Value) -> list[ir.OpView | ir.Operation]:
    """Returns the copies behind a value, and the op that they copy the result of, if nothing else uses any of these."""
    changes: list[ir.OpView | ir.Operation] = []
    while len(_users(value)) == 1 and not isinstance(value.owner, ir.Block):
        changes.append(value.owner)
        if value.owner.name != "tf.Identity":
            return changes
        value = value.owner.operands[0]
    return []


def _counts(loop: ir.OpView | ir.Operation, body: func.FuncOp, index: ir.Value) -> bool:
    """Whether an index is 0 in the first turn of a loop, and one more in each that follows."""
    if not isinstance(index.owner, ir.Block):
        return False
    slot = ir.BlockArgument(index).arg_number
    step = producer(without_copies(_returned(body)[slot]), "tf.AddV2")
    return (
        integer_constant(loop.operands[slot]) == 0
        and step is not None
        and step.operands[0] == index
        and integer_constant(step.operands[1]) == 1
    )


def _users(value: ir.Value) -> list[ir.OpView]:
    return [use.owner for use in value.uses]


def _only_user(value: ir.Value, name: str) -> ir.OpView | None:
    users = _users(value)
    return users[0] if len(users) == 1 and users[0].name == name else None


def _flag(op: ir.OpView, name: str) -> bool:
    return name in op.attributes and ir.BoolAttr(op.attributes[name]).value
