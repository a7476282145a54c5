"""Lowers loops over the items of tensors, as ``jax.lax.scan`` makes them, to TensorFlow's tensor lists.

From then on they are treated like the loops of any recurrent layer: recognized and fused, or lowered with their input
projections hoisted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from litefuse.ir.importer.constants import variant_type
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.types import TensorType, ranked_tensor_type
from litefuse.passes.stablehlo.translation import Result, Translation
from litefuse.passes.stablehlo.values import List, Value, constant_numbers, operands_of

_SLICES = frozenset({"stablehlo.dynamic_slice", "stablehlo.real_dynamic_slice"})


@dataclass(frozen=True)
class Scan:
    """A loop that counts from 0 to a known number.

    Attributes:
        counter: The position of the counter among the loop variables.
        count: The number that it counts to.
        reads: The variables of which each iteration only reads one item of the first dimension: whether backward.
        writes: The variables of which each iteration only writes one item: whether backward.
    """

    counter: int
    count: int
    reads: Mapping[int, bool]
    writes: Mapping[int, bool]

    @property
    def lists(self) -> frozenset[int]:
        """The positions of the variables that lists replace."""
        return frozenset(self.reads) | frozenset(self.writes)

    def listed(self, t: Translation, position: int, operand: ir.Value) -> ir.Value:
        """Creates the initial list that replaces a loop variable."""
        b, kind = t.b, _item_type(t, operand)
        shape = _shape_constant(t, kind)
        result = variant_type(ranked_tensor_type(kind))
        options = {"element_dtype": _element(kind), "shape_type": ir.TypeAttr.get(ir.IntegerType.get_signless(32))}
        if position in self.writes:
            return create_value("tf.TensorListReserve", result, [shape, b.constant(self.count, "int32")], options)
        value = t.value(operand)
        if self.reads[position]:
            value = t.b.reverse(value, [0])
        return create_value("tf.TensorListFromTensor", result, [value, shape], options)

    def stacked(self, t: Translation, position: int, operand: ir.Value, handle: ir.Value) -> Value:
        """Returns the items that were written into a list, as one tensor."""
        kind = _item_type(t, operand)

        def emit() -> ir.Value:
            whole = ranked_tensor_type(TensorType(kind.dtype, (self.count, *kind.sizes)))
            options = {"element_dtype": _element(kind), "num_elements": self.count}
            stack = create_value("tf.TensorListStack", whole, [handle, _shape_constant(t, kind)], options)
            return t.b.reverse(stack, [0]) if self.writes[position] else stack

        return Value(emit)


def find_scan(t: Translation, op: Any, hoisted: Collection[ir.Operation] = ()) -> Scan | None:
    """Finds the variables that a loop reads and writes item by item; None if it does not count its iterations."""
    condition, body = (region.blocks[0] for region in op.regions)
    *_, last = body.operations
    counter, count = _counter(t, op, condition, body)
    if count is None:
        return None
    index = body.arguments[counter]
    reads: dict[int, bool] = {}
    writes: dict[int, bool] = {}
    for position, (argument, result) in enumerate(zip(body.arguments, last.operands, strict=True)):
        shape = t.shape(argument)
        if not shape or shape[0] != count or list(condition.arguments[position].uses):
            continue
        users = [use.owner for use in argument.uses if use.owner != last and use.owner.operation not in hoisted]
        if any(user.operation.block != body for user in users):  # in a nested branch or loop
            continue
        directions = [_direction(t, user, argument, index, count) for user in users]
        if len(set(directions)) != 1 or directions[0] is None:
            continue
        if argument == result and all(user.operation.name in _SLICES for user in users):
            reads[position] = directions[0]
        elif _is_written(users, result) and argument not in last.operands:
            writes[position] = directions[0]
    return Scan(counter, count, reads, writes) if reads or writes else None


def _is_written(users: Sequence[Any], result: ir.Value) -> bool:
    """Whether a variable is only updated, and the update is its next value."""
    (user, *others), uses = users, list(result.uses)
    return not others and len(uses) == 1 and result.owner == user


def _counter(t: Translation, op: Any, condition: ir.Block, body: ir.Block) -> tuple[int, int | None]:
    """Returns the variable that counts the iterations, and how many there are."""
    compare, *others = (op for op in condition.operations if op.operation.name != "stablehlo.constant")
    *_, last = body.operations
    if len(others) != 1 or compare.operation.name != "stablehlo.compare":
        return 0, None
    direction = t.direction(compare)
    position = _position(compare.operands[0], condition)
    if direction != "LT" or position is None or list(others[0].operands) != list(compare.results):
        return 0, None
    if t.number(op.operands[position]) != 0 or not _is_next(last.operands[position], body.arguments[position]):
        return 0, None
    bound = compare.operands[1]
    kept = _position(bound, condition)
    if kept is not None and last.operands[kept] == body.arguments[kept]:
        bound = op.operands[kept]
    number = constant_numbers(bound) if kept is None and _is_inside(bound, condition) else t.number(bound)
    return position, None if number is None else int(number)


def _is_inside(value: ir.Value, block: ir.Block) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.block == block


def _position(value: ir.Value, block: ir.Block) -> int | None:
    arguments: list[ir.Value] = list(block.arguments)
    return arguments.index(value) if value in arguments else None


def _is_next(value: ir.Value, argument: ir.Value) -> bool:
    operands = operands_of(value, "add")
    return argument in operands and any(_number(operand) == 1 for operand in operands)


def _number(value: ir.Value) -> int | None:
    numbers = constant_numbers(value)
    return int(numbers.reshape(-1)[0]) if numbers is not None and numbers.size == 1 else None


def _direction(t: Translation, user: Any, argument: ir.Value, index: ir.Value, count: int) -> bool | None:
    """Whether an op reads or writes the items from the last to the first; None if it does something else."""
    name = user.operation.name
    if user.operands[0] != argument or argument in list(user.operands)[1:]:
        return None
    shape = t.shape(argument)
    if name in _SLICES:
        part = t.shape(user.results[0])
    elif name == "stablehlo.dynamic_update_slice":
        part = t.shape(user.operands[1])
    else:
        return None
    if part != (1, *shape[1:]):
        return None
    # Along the other dimensions they are whole, whatever their starts say.
    start = user.operands[1 if name in _SLICES else 2]
    start = _normalized(_component(start, 0) if name == "stablehlo.real_dynamic_slice" else start)
    if start == index:
        return False
    return True if _counts_down(start, index, count) else None


def _component(vector: ir.Value, position: int) -> ir.Value:
    """Returns the scalar that a component of a vector of positions is built from, without clamping."""
    while not isinstance(vector.owner, ir.Block):
        owner, name = vector.owner, vector.owner.operation.name
        if name == "stablehlo.clamp":
            vector = owner.operands[1]
        elif name == "stablehlo.concatenate":
            vector, position = owner.operands[position], 0
        elif name in {"stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.convert"}:
            vector = owner.operands[0]
        else:
            break
    return vector


def _normalized(start: ir.Value) -> ir.Value:
    """Returns a position without the select that counts negative ones from the end."""
    chosen = operands_of(start, "select")
    compared = operands_of(chosen[0], "compare") if chosen else []
    return chosen[2] if compared and compared[0] == chosen[2] and _number(compared[1]) == 0 else start


def _counts_down(start: ir.Value, index: ir.Value, count: int) -> bool:
    """Whether a position is ``count - 1 - index``."""
    taken = 0
    while operands := operands_of(start, "subtract"):
        start, number = operands[0], _number(operands[1])
        if number is None:
            first = _number(start)
            return operands[1] == index and first is not None and first - taken == count - 1
        taken += number
    return False


def _item_type(t: Translation, operand: ir.Value) -> TensorType:
    return TensorType(t.dtype(operand), t.shape(operand)[1:])


def _element(kind: TensorType) -> ir.Attribute:
    return ir.TypeAttr.get(ir.ShapedType(ranked_tensor_type(kind)).element_type)


def _shape_constant(t: Translation, kind: TensorType) -> ir.Value:
    sizes = [-1 if size is None else size for size in kind.sizes]
    return t.b.constant(np.array(sizes, np.int32), "int32")


def get_item(t: Translation, operand: ir.Value, listed: List) -> Result:
    """Reads the item of this iteration from a list, with a leading dimension of size 1."""
    kind = _item_type(t, operand)
    options = {"element_dtype": _element(kind)}
    operands = [listed.handle, listed.index, _shape_constant(t, kind)]
    item = Value(create_value("tf.TensorListGetItem", ranked_tensor_type(kind), operands, options))
    return Value(lambda: t.b.expand(item.emit(), 0), expanded=item)


def set_item(t: Translation, update: ir.Value, listed: List) -> Result:
    """Writes the item of this iteration, without its leading dimension of size 1; returns the list."""
    updating = t.lazy(update)
    shape = t.shape(update)[1:]
    item = updating.expanded
    if item is None and updating.spread is not None and t.b.shape(updating.spread.small.emit()) == shape:
        item = updating.spread.small
    value = t.b.reshape(updating.emit(), t.dims(update)[1:]) if item is None else item.emit()
    options = {"element_dtype": _element(_item_type(t, update))}
    return create_value("tf.TensorListSetItem", listed.handle.type, [listed.handle, listed.index, value], options)
