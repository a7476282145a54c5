"""Sorting along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.rules.reductions import counts
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import operands_of

# The dtype that TOPK_V2 supports for each other dtype: the first one that can represent it.
_WIDER = {
    "bfloat16": "float32",
    "bool": "int32",
    "float16": "float32",
    "int16": "int32",
    "int8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint8": "int32",
}


def _sort(op: Any, t: Translation) -> list[Result]:
    """Sorts with TOPK_V2 of all elements, which keeps the order of equal ones, like a stable sort.

    Of several keys, the last one is sorted by first.
    """
    *_, last = op.regions[0].blocks[0].operations
    keys = _keys(t, last.operands[0], list(op.regions[0].blocks[0].arguments))
    if keys is None:
        raise GraphError(
            "sorting by a custom function is not supported",
            hint="Sort by the elements of tensors, upwards or downwards: jnp.sort, jnp.argsort, jnp.lexsort, "
            "jax.lax.sort(num_keys=...).",
        )
    b, axis = t.b, int(op.dimension)
    operands = list(op.operands)
    rank = len(t.shape(operands[0]))
    order = [*(i for i in range(rank) if i != axis), axis]
    back = sorted(range(rank), key=order.__getitem__)
    size = t.dims(operands[0])[axis]

    def taken(value: ir.Value, positions: ir.Value) -> ir.Value:
        operands = [value, positions, b.constant(rank - 1, "int32")]
        return b.op("GatherV2", operands, b.shape(value), b.dtype(value), batch_dims=rank - 1)

    places: ir.Value | None = None
    values: ir.Value | None = None
    for key in reversed(keys):
        column = b.transpose(t.value(operands[key.operand]), order)
        if key.part:
            column = b.op(key.part, [column], b.shape(column), "float32")
        column = column if places is None else taken(column, places)
        values, positions = top_k(t, column, size, upwards=key.upwards)
        places = positions if places is None else taken(places, positions)
    assert places is not None
    assert values is not None
    results: list[Result] = []
    for i, operand in enumerate(operands):
        if i == keys[0].operand and not keys[0].part:
            results.append(b.transpose(values, back))
        elif counts(operand, axis):
            results.append(b.transpose(b.cast(places, t.dtype(operand)), back))
        else:
            results.append(b.transpose(taken(b.transpose(t.value(operand), order), places), back))
    return results


def top_k(t: Translation, value: ir.Value, k: MixedSize, *, upwards: bool = False) -> tuple[ir.Value, ir.Value]:
    """Returns the ``k`` largest or least elements along the last dimension, and their positions (int32)."""
    b, dtype = t.b, t.b.dtype(value)
    wide = b.cast(value, _WIDER.get(dtype, dtype))
    if upwards:  # -1 - x does not overflow, where -x does
        wide = -wide if "float" in b.dtype(wide) else -1 - wide
    shape = [*b.shape(wide)[:-1], k if isinstance(k, int) else None]
    values, positions = b.ops("TopKV2", [wide, b.scalar(k)], [(shape, b.dtype(wide)), (shape, "int32")], sorted=True)
    if upwards:
        values = -values if "float" in b.dtype(wide) else -1 - values
    return b.cast(values, dtype), positions


class _Key(NamedTuple):
    """Sort key of a comparator: a tensor, or the ``Real`` or ``Imag`` part of a complex one."""

    operand: int
    part: str
    upwards: bool


def _keys(t: Translation, root: ir.Value, arguments: Sequence[ir.Value]) -> list[_Key] | None:
    """Returns the keys of a comparator, ``a < b`` or ``a < b or (a == b and <the same of the other keys>)``."""
    compare = operands_of(root, "compare")
    if compare:
        key = _key(t, root.owner, arguments)
        return None if key is None else [key]
    less, others = operands_of(root, "or") or (root, root)
    equal, then = operands_of(others, "and") or (root, root)
    pair = operands_of(equal, "compare")
    if not pair or pair != operands_of(less, "compare") or t.direction(equal.owner) != "EQ":
        return None
    keys, rest = _keys(t, less, arguments), _keys(t, then, arguments)
    return None if keys is None or rest is None else [*keys, *rest]


def _key(t: Translation, compare: Any, arguments: Sequence[ir.Value]) -> _Key | None:
    sides = [_argument(value, arguments) for value in compare.operands]
    if None in sides:
        return None
    (first, part), (second, other) = (side for side in sides if side is not None)
    direction = t.direction(compare)
    if first // 2 != second // 2 or first == second or part != other or direction not in {"LT", "LE", "GT", "GE"}:
        return None
    return _Key(first // 2, part, (direction[0] == "L") == (first < second))


def _argument(value: ir.Value, arguments: Sequence[ir.Value]) -> tuple[int, str] | None:
    """Returns the argument that a value is, or is a part of, through the selects that unify 0 and -0, and all NaNs."""
    part = ""
    while value not in arguments:
        by_name = {name: operands_of(value, name) for name in ("imag", "real", "select")}
        name = next((name for name, operands in by_name.items() if operands), None)
        if name is None:
            return None
        part = part if name == "select" else name.capitalize()
        value = by_name[name][-1]
    return arguments.index(value), part


RULES: Rules = {"stablehlo.sort": _sort}
