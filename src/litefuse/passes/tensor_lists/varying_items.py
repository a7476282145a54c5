"""Lists whose items are plainly of several sizes, as parts of a tensor that grow from turn to turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from litefuse.ir.call_graph import callees, function_symbol, terminator_of
from litefuse.ir.constants import integer_constant
from litefuse.ir.mlir import func, ir
from litefuse.passes.tensor_lists.list_groups import Web, unsupported
from litefuse.passes.tensor_lists.list_sizes import WRITERS, function_of
from litefuse.passes.tensor_lists.sizes import Sizes

__all__ = ["refuse_varying_items"]

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
_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


class _Ends(NamedTuple):
    """Where a part of a dimension begins and ends: a number, a value, or None where the dimension does."""

    begin: int | ir.Value | None
    end: int | ir.Value | None


def refuse_varying_items(web: Web, sizes: Sizes) -> None:
    """Refuses a list into which parts of different sizes are written.

    Raises:
        ConversionError: Its items are such.
    """
    found: dict[int, set[int]] = {}
    for op in web.ops:
        if op.name not in WRITERS or WRITERS[op.name][1]:
            continue
        function = function_of(op)
        for axis, ends in _parts(op.operands[WRITERS[op.name][0]]):
            if isinstance(ends.end, int) and isinstance(ends.begin, int | None) and ends.end >= (ends.begin or 0) >= 0:
                found.setdefault(axis, set()).add(ends.end - (ends.begin or 0))
            elif _is_fixed(ends.begin) != _is_fixed(ends.end):
                moving = ends.end if _is_fixed(ends.begin) else ends.begin
                if isinstance(moving, ir.Value) and _changes(moving, function, sizes):
                    raise unsupported(op, f"dimension {axis} of its items changes from turn to turn")
    for axis, lengths in found.items():
        if len(lengths) > 1:
            listed = ", ".join(map(str, sorted(lengths)))
            raise unsupported(web.ops[0], f"dimension {axis} of its items is of several sizes: {listed}")


def _is_fixed(end: int | ir.Value | None) -> bool:
    return not isinstance(end, ir.Value)


def _parts(item: ir.Value) -> Iterator[tuple[int, _Ends]]:
    """For each dimension of an item that is a part of a tensor, where that begins and ends."""
    owner = item.owner
    while not isinstance(owner, ir.Block) and owner.name in _ELEMENTWISE:
        owner = owner.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name != "tf.StridedSlice":
        return
    _, begins, ends, strides = owner.operands
    steps = integer_constant(strides)
    masks: Mapping[str, int] = {name: ir.IntegerAttr(owner.attributes[name]).value for name in _MASKS}
    if not isinstance(steps, list) or masks["ellipsis_mask"] or masks["new_axis_mask"]:
        return
    axis = 0
    for at, step in enumerate(steps):
        if masks["shrink_axis_mask"] >> at & 1:
            continue
        if step == 1:
            begin, end = (
                None if masks[mask] >> at & 1 else _element(vector, at)
                for mask, vector in (("begin_mask", begins), ("end_mask", ends))
            )
            yield axis, _Ends(begin, end)
        axis += 1


def _element(vector: ir.Value, at: int) -> int | ir.Value:
    numbers = integer_constant(vector)
    if isinstance(numbers, list):
        return numbers[at]
    owner = vector.owner
    if not isinstance(owner, ir.Block) and owner.name == "tf.Pack":
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
