"""The two layouts of sequences, batch first and time first: changes between them that nothing needs."""

from __future__ import annotations

from collections.abc import Callable

from litefuse.ir.call_graph import all_operations
from litefuse.ir.litert_ops import MASKS, int32_vector, integers, strided_slice, transposed
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import erase_unused, operand_owners

_SWAPPED = {0: 1, 1: 0}
_BITS = 3  # of the masks of a slice of rank 3
# Ops that are the same in both layouts but for the axis.
_KEPT = ("tfl.concatenation", "tfl.reverse_v2")
# What gates are computed with, element by element.
_GATES = ("tfl.logistic", "tfl.mul")


@module_pass
def cancel_layout_changes(module: ir.Module) -> bool:
    """Drops transpositions of the first two dimensions that cancel, or that are none::

        %a = tfl.transpose(%x, [1, 0, 2])         %y = tfl.reverse_v2(%x, [1])
        %b = tfl.reverse_v2(%a, [0])         -->
        %y = tfl.transpose(%b, [1, 0, 2])

        %a = tfl.reshape(%x : 1x9x4, [9, 1, 4])        %y = tfl.unidirectional_sequence_lstm(%x) {time_major = false}
        %b = tfl.unidirectional_sequence_lstm(%a)  -->
        %y = tfl.reshape(%b, [1, 9, 5])

    Recurrent layers take time first, and begin and end with such a transposition. With a batch of 1 it is a RESHAPE,
    and the op's results are the same in both layouts, bit by bit. With larger batches the op is up to four times as
    fast if time comes first, as it computes the rows of a batch together: there, transpositions are dropped where they
    cancel, as between layers of both directions, whose results are reversed and joined in between.
    """
    modified = False
    # Each change may make room for others before and behind it.
    while any(_RULES[op.name](op) for op in all_operations(module) if op.name in _RULES):
        modified = True
    return modified


def _put_batch_first(op: ir.OpView) -> bool:
    """Has a recurrent op take a batch of 1 first, if its input is made of such a value."""
    kind = op.operands[0].type
    if not ir.BoolAttr(op.attributes["time_major"]).value or not isinstance(kind, ir.RankedTensorType):
        return False
    if kind.rank != len(_SWAPPED) + 1 or kind.is_dynamic_dim(1) or kind.shape[1] != 1 or not kind.has_static_shape:
        return False
    if not _is_swapped(op.operands[0], op):
        return False
    with ir.InsertionPoint(op), op.location:
        rows = _other_layout(op.operands[0])
        operands, kind = [rows, *list(op.operands)[1:]], op.results[0].type
        made = create_like(op, operands, [_swapped(kind)], {"time_major": False}).result
        _replace(op, _changed(made, kind))
    return True


def _slice_before(op: ir.OpView) -> bool:
    """Slices before the dimensions are swapped, not after: what is left has one of them only, or is smaller."""
    source = _source(op.operands[0])
    bounds = [integers(value) for value in list(op.operands)[1:]]
    masks = {name: ir.IntegerAttr(op.attributes[name]).value for name in MASKS}
    if source is None or masks["ellipsis_mask"] or masks["new_axis_mask"]:
        return False
    if any(bound is None or len(bound) != _BITS for bound in bounds) or masks["shrink_axis_mask"] not in {0, 1, 2}:
        return False
    if not masks["shrink_axis_mask"] and len(list(op.operands[0].uses)) != 1:
        return False
    turned = {name: (mask & 4) | (mask & 1) << 1 | (mask & 2) >> 1 for name, mask in masks.items()}
    with ir.InsertionPoint(op), op.location:
        numbers = [int32_vector([bound[1], bound[0], bound[2]]) for bound in bounds if bound is not None]
        whole = not masks["shrink_axis_mask"]
        kind = _swapped(op.results[0].type) if whole else op.results[0].type
        result = strided_slice([source, *numbers], kind, **turned)
        _replace(op, _changed(result, op.results[0].type) if whole else result)
    return True


def _cancel(op: ir.OpView) -> bool:
    """Replaces a change of the layout of what was changed before."""
    if _source(op.results[0]) is None or not _is_swapped(op.operands[0], op):
        return False
    with ir.InsertionPoint(op), op.location:
        other = _other_layout(op.operands[0])
    _replace(op, other)
    return True


def _multiply_first(op: ir.OpView) -> bool:
    """Has a product behind a transposition computed before it; see :func:`_multiplied`."""
    value = op.results[0]
    while (user := next((use.owner for use in value.uses if use.owner.name == "tfl.mul"), None)) is not None:
        if _multiplied(user):
            return True
        value = user.results[0]
    return False


def _multiplied(op: ir.OpView | ir.Operation) -> bool:
    """Multiplies what is transposed before, where one transposition is left of several, as of the gates of experts::

    %g, %u = tfl.transpose(%a, [1, 0, 2]), tfl.transpose(%b, [1, 0, 2])
    %y = tfl.mul(tfl.mul(%g, tfl.logistic(%g)), %u)
        -->  %y = tfl.transpose(tfl.mul(tfl.mul(%a, tfl.logistic(%a)), %b), [1, 0, 2])
    """
    kind, turned, inside = op.results[0].type, set[ir.Operation](), {op.operation}
    pending = [*op.operands]
    while pending:
        value = pending.pop()
        owner = producer(value, "tfl.transpose", *_GATES)
        if owner is None or value.type != kind or (owner.name == "tfl.transpose" and _source(value) is None):
            return False
        if owner.name == "tfl.transpose":
            turned.add(owner.operation)
        elif owner.operation not in inside:
            inside.add(owner.operation)
            pending += owner.operands
    used = [use.owner.operation for one in (*turned, *(inside - {op.operation})) for use in one.results[0].uses]
    if len(turned) < 2 or not inside.issuperset(used):
        return False
    made: dict[ir.Value, ir.Value] = {one.results[0]: one.operands[0] for one in turned}

    def before(value: ir.Value) -> ir.Value:
        if value not in made:
            owner = producer(value, *_GATES)
            assert owner is not None
            made[value] = create_like(owner, [*map(before, owner.operands)], [_swapped(kind)]).result
        return made[value]

    with ir.InsertionPoint(op), op.location:
        _replace(op, transposed(before(op.results[0]), [1, 0, 2]))
    return True


_RULES: dict[str, Callable[[ir.OpView], bool]] = {
    "tfl.reshape": _cancel,
    "tfl.strided_slice": _slice_before,
    "tfl.transpose": lambda op: _cancel(op) or _multiply_first(op),
    "tfl.unidirectional_sequence_lstm": _put_batch_first,
    "tfl.unidirectional_sequence_rnn": _put_batch_first,
}


def _is_swapped(value: ir.Value, user: ir.OpView | ir.Operation) -> bool:
    """Whether a value is known in the other layout, or made for this user alone of values that are."""
    if _source(value) is not None:
        return True
    owner = producer(value, *_KEPT)
    if owner is None or any(use.owner.operation != user.operation for use in value.uses):
        return False
    if owner.name == "tfl.reverse_v2":
        return integers(owner.operands[1]) in ([0], [1]) and _is_swapped(owner.operands[0], owner)
    joined = [*owner.operands]
    return len(set(joined)) == len(joined) and all(_is_swapped(operand, owner) for operand in joined)


def _other_layout(value: ir.Value) -> ir.Value:
    """Returns a value of which :func:`_is_swapped` is true in the other layout."""
    source = _source(value)
    if source is not None:
        return source
    owner = producer(value, *_KEPT)
    assert owner is not None
    attributes: dict[str, ir.Attribute] = {}
    if owner.name == "tfl.reverse_v2":
        (axis,) = integers(owner.operands[1]) or [0]
        operands = [_other_layout(owner.operands[0]), int32_vector([_SWAPPED[axis]])]
    else:
        operands = [_other_layout(operand) for operand in owner.operands]
        axis = ir.IntegerAttr(owner.attributes["axis"])
        number = axis.value % ir.RankedTensorType(value.type).rank
        attributes["axis"] = ir.IntegerAttr.get(axis.type, _SWAPPED.get(number, number))
    return create_like(owner, operands, [_swapped(value.type)], attributes).result


def _source(value: ir.Value) -> ir.Value | None:
    """Returns the value whose first two of three dimensions an op swaps."""
    owner = producer(value, "tfl.transpose", "tfl.reshape")
    if owner is None or not isinstance(value.type, ir.RankedTensorType):
        return None
    source = owner.operands[0]
    if not isinstance(source.type, ir.RankedTensorType) or source.type.rank != value.type.rank:
        return None
    if owner.name == "tfl.transpose":
        return source if integers(owner.operands[1]) == [1, 0, 2] else None
    static = source.type.has_static_shape and value.type.has_static_shape and value.type.rank == len(_SWAPPED) + 1
    if not static or value.type != _swapped(source.type):
        return None
    return source if 1 in list(value.type.shape)[:2] else None


def _swapped(kind: ir.Type) -> ir.RankedTensorType:
    first, second, *others = ir.RankedTensorType(kind).shape
    return ir.RankedTensorType.get([second, first, *others], ir.RankedTensorType(kind).element_type)


def _changed(value: ir.Value, kind: ir.Type) -> ir.Value:
    """Swaps the first two of three dimensions; where one is of size 1, nothing moves."""
    ranked = ir.RankedTensorType(kind)
    if ranked.has_static_shape and 1 in list(ranked.shape)[:2]:
        return create_value("tfl.reshape", kind, [value, int32_vector(ranked.shape)])
    return transposed(value, [1, 0, 2])


def _replace(op: ir.OpView | ir.Operation, value: ir.Value) -> None:
    """Replaces an op, and erases what was computed for it alone."""
    op.results[0].replace_all_uses_with(value)
    owners = operand_owners(op)
    op.operation.erase()
    erase_unused(owners, _ERASED.__contains__)


_ERASED = frozenset({*_GATES, "tfl.concatenation", "tfl.reshape", "tfl.reverse_v2", "tfl.transpose"})
