"""Copies for XNNPACK to make in every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from litefuse.ir.call_graph import defined_functions, is_public
from litefuse.ir.constants import DENSE_CONSTANTS
from litefuse.ir.defining_ops import is_constant
from litefuse.ir.litert_ops import copied
from litefuse.ir.mlir import ir
from litefuse.ir.passes import module_pass
from litefuse.ir.types import is_float32

# Ops that XNNPACK computes in float32.
_DELEGATED = frozenset(
    {
        *("abs", "add", "average_pool_2d", "batch_matmul", "ceil", "concatenation", "conv_2d", "depth_to_space"),
        *("depthwise_conv_2d", "div", "elu", "exp", "expand_dims", "floor", "fully_connected", "gelu", "hard_swish"),
        *("leaky_relu", "log", "logistic", "max_pool_2d", "maximum", "mean", "minimum", "mul", "neg", "pad", "prelu"),
        *("reduce_max", "reduce_min", "relu", "relu6", "relu_n1_to_1", "reshape", "resize_bilinear", "round", "rsqrt"),
        *("slice", "softmax", "space_to_depth", "split", "sqrt", "square", "squared_difference", "squeeze"),
        *("strided_slice", "sub", "sum", "tanh", "transpose", "transpose_conv"),
    }
)
# Those of them that it computes by copying.
_COPIES = frozenset({"concatenation", "expand_dims", "reshape", "split", "squeeze"})
# Ops whose result shapes LiteRT knows only after they ran: it prepares the ops behind them then.
_UNKNOWN_SHAPES = frozenset(
    {"tfl.non_max_suppression_v4", "tfl.non_max_suppression_v5", "tfl.topk_v2", "tfl.unique", "tfl.where"}
)
# Ops for which that holds unless an operand is a constant, and the position of that operand.
_UNKNOWN_UNLESS_CONSTANT = {
    "tfl.one_hot": 1,
    "tfl.scatter_nd": 2,
    "tfl.segment_sum": 1,
    **{f"tfl.unsorted_segment_{name}": 2 for name in ("max", "min", "prod", "sum")},
}

#: Ops whose results LiteRT knows when it prepares a model.
KNOWN = DENSE_CONSTANTS | {"tfl.shape"}
#: Those that it evaluates when it prepares a model, if their operands are known (measured with ai-edge-litert 2.3.0).
PREPARED = frozenset(
    {
        *("tfl.broadcast_args", "tfl.concatenation", "tfl.gather", "tfl.mul", "tfl.reduce_prod", "tfl.reshape"),
        *("tfl.strided_slice", "tfl.tile"),
    }
)
# The operands that hold the shape of an op's result.
_STATED = {"tfl.broadcast_to": 1, "tfl.fill": 0, "tfl.reshape": 1, "tfl.tile": 1}


@module_pass
def keep_copies(module: ir.Module) -> bool:
    """Inserts identity ops, so that XNNPACK does not elide copies, or read from memory that has moved.

    In loops and branches, one follows each copy at the end of an XNNPACK partition::

        %c = tfl.concatenation(%a, %b)            %c = tfl.concatenation(%a, %b)
        %y = tfl.gather(%c, %i)              -->  %d = tfl.maximum(%c, %c)
                                                  %y = tfl.gather(%d, %i)

    Fault ``left-out-copies``: XNNPACK elides a copy whose source and destination have the same address. It decides this
    when it sets up its ops, which it also does when its memory moves because other parts of the model need more. Then
    it uses addresses of the last call: LiteRT has freed the memory of loops and branches since, and if XNNPACK's new
    memory is there, a copy out of it may seem to have its source as its destination. Copies whose results stay in
    XNNPACK's memory are not affected, nor are those of static shape, nor those outside loops and branches unless parts
    of the model are prepared in the middle of a call.

    Fault ``moved-memory``: in a model of which parts are prepared in a call, LiteRT's memory grows at least twice in
    the first call, and may end up at its first address. From the second call on, XNNPACK partitions that ran before
    that sometimes read an input from an address of the previous call: a product did so in 205 of 9,000 interpreters,
    and in none of 30,000 behind ``tfl.maximum(%x, %x)``. So in such a model, values that XNNPACK takes from the inputs,
    or from ops that it does not run, go through an identity op.
    """
    modified = False
    for function in defined_functions(module):
        if is_public(function) and not _is_prepared_in_calls(function.entry_block):
            continue
        parts = _parts(function.entry_block)
        left_out, taken = _left_out(parts), _taken(parts) if is_public(function) else {}
        for op, value in left_out:
            users = [(use.owner.opview, use.operand_number) for use in value.uses]
            with ir.InsertionPoint.after(op.operation), op.location:
                _replace(users, copied(value))
        for value, users in taken.items():
            with ir.InsertionPoint(users[0][0]), users[0][0].location:
                _replace(users, copied(value))
        modified |= bool(left_out or taken)
    return modified


def _is_computed_in_calls(op: ir.OpView) -> bool:
    """Whether the shape of an op's result is given by an operand that LiteRT knows only at run time."""
    if op.name not in _STATED:
        return False
    owner = op.operands[_STATED[op.name]].owner
    return isinstance(owner, ir.Block) or owner.name not in KNOWN | PREPARED


def _is_prepared_in_calls(block: ir.Block) -> bool:
    return any(
        op.name in _UNKNOWN_SHAPES
        or _is_computed_in_calls(op)
        or (op.name in _UNKNOWN_UNLESS_CONSTANT and not is_constant(op.operands[_UNKNOWN_UNLESS_CONSTANT[op.name]]))
        for op in block.operations
    )


def _taken(parts: Mapping[ir.OpView, int]) -> dict[ir.Value, list[tuple[ir.OpView, int]]]:
    """Returns the values that XNNPACK takes from elsewhere: their uses by ops of the part that shares a copy."""
    taken: dict[ir.Value, list[tuple[ir.OpView, int]]] = {}
    for op, part in parts.items():
        for index, value in enumerate(op.operands if part % 2 else ()):
            if _part(value, parts) == part - 1 and is_float32(value) and not _is_static(value):
                taken.setdefault(value, []).append((op, index))
    return taken


def _left_out(parts: Mapping[ir.OpView, int]) -> list[tuple[ir.OpView, ir.Value]]:
    """Returns copies of XNNPACK's results whose own results leave XNNPACK's memory."""
    left_out: list[tuple[ir.OpView, ir.Value]] = []
    for op, part in parts.items():
        if part % 2 == 0 or op.name.removeprefix("tfl.") not in _COPIES:
            continue
        inside = [value for value in op.operands if _part(value, parts) == part and not _leaves(value, part, parts)]
        if inside:
            left_out += [(op, value) for value in op.results if not _is_static(value) and _leaves(value, part, parts)]
    return left_out


def _replace(users: Sequence[tuple[ir.OpView, int]], copy: ir.Value) -> None:
    for user, index in users:
        user.operands[index] = copy


def _parts(block: ir.Block) -> dict[ir.OpView, int]:
    """Numbers the ops that LiteRT delegates to XNNPACK together: an odd number for all of a part, even ones for others.

    The first op decides whether the first part is XNNPACK's (tensorflow/lite/graph_info.cc).
    """
    parts: dict[ir.OpView, int] = {}
    first: int | None = None
    for op in block.operations:
        if not op.operands:
            parts[op] = 0
            continue
        delegated = op.name.removeprefix("tfl.") in _DELEGATED and all(map(is_float32, op.results))
        if first is None:
            first = int(delegated)
        before = max(first, *(_part(value, parts) for value in op.operands))
        parts[op] = before + (before % 2 != delegated)
    return parts


def _part(value: ir.Value, parts: Mapping[ir.OpView, int]) -> int:
    owner = value.owner
    return 0 if isinstance(owner, ir.Block) else parts[owner.opview]


def _leaves(value: ir.Value, part: int, parts: Mapping[ir.OpView, int]) -> bool:
    """Whether a value of a part is used elsewhere: then it is in LiteRT's memory."""
    return any(parts.get(use.owner.opview) != part for use in value.uses)


def _is_static(value: ir.Value) -> bool:
    kind = ir.ShapedType(value.type)
    return (kind.has_rank and kind.has_static_shape) or is_constant(value)  # whose type may be without a shape
