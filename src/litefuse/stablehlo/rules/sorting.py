"""Sorting along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.stablehlo.rules.reductions import counts
from litefuse.stablehlo.translation import Result, Rules, Translation

__all__ = ["RULES", "top_k"]

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
    """Sorts with TOPK_V2 of all elements, which keeps the order of equal ones, like a stable sort."""
    found = _key(t, op.regions[0].blocks[0])
    if found is None:
        raise GraphError("sorting is supported by the elements of one tensor, upwards or downwards")
    key, upwards = found
    b, axis = t.b, int(op.dimension)
    operands = list(op.operands)
    last = len(t.shape(operands[0])) - 1
    order = [*(i for i in range(last + 1) if i != axis), axis]
    back = sorted(range(last + 1), key=order.__getitem__)
    keys = b.transpose(t.value(operands[key]), order)
    values, positions = top_k(t, keys, t.dims(operands[key])[axis], upwards=upwards)
    results: list[Result] = []
    for i, operand in enumerate(operands):
        if i == key:
            results.append(b.transpose(values, back))
        elif counts(operand, axis):
            results.append(b.transpose(b.cast(positions, t.dtype(operand)), back))
        else:
            other = b.transpose(t.value(operand), order)
            taken = b.op(
                "GatherV2",
                [other, positions, b.constant(last, "int32")],
                b.shape(other),
                b.dtype(other),
                batch_dims=last,
            )
            results.append(b.transpose(taken, back))
    return results


def top_k(t: Translation, value: ir.Value, k: MixedSize, *, upwards: bool = False) -> tuple[ir.Value, ir.Value]:
    """Returns the ``k`` largest or least elements along the last dimension, and their positions (int32)."""
    b, dtype = t.b, t.b.dtype(value)
    wide = b.cast(value, _WIDER.get(dtype, dtype))
    if upwards:  # -1 - x does not overflow, where -x does
        wide = b.unary("Neg", wide) if "float" in b.dtype(wide) else b.binary("Sub", -1, wide)
    shape = [*b.shape(wide)[:-1], k if isinstance(k, int) else None]
    values, positions = b.ops("TopKV2", [wide, b.scalar(k)], [(shape, b.dtype(wide)), (shape, "int32")], sorted=True)
    if upwards:
        values = b.unary("Neg", values) if "float" in b.dtype(wide) else b.binary("Sub", -1, values)
    return b.cast(values, dtype), positions


def _key(t: Translation, block: ir.Block) -> tuple[int, bool] | None:
    """Returns which operand a comparator compares, and whether the lesser element comes first."""
    *_, last = block.operations
    root = last.operands[0].owner
    if isinstance(root, ir.Block) or root.name != "stablehlo.compare":
        return None
    arguments = list(block.arguments)
    sides = [_argument(value, arguments) for value in root.operands]
    if None in sides:
        return None
    first, second = (side for side in sides if side is not None)
    direction: str = t.dialect.ComparisonDirectionAttr(root.comparison_direction).value
    if first // 2 != second // 2 or first == second or direction not in {"LT", "LE", "GT", "GE"}:
        return None
    return first // 2, (direction[0] == "L") == (first < second)


def _argument(value: ir.Value, arguments: Sequence[ir.Value]) -> int | None:
    """Returns the argument that a value is, through the selects that unify 0 and -0, and all NaNs."""
    while value not in arguments:
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name != "stablehlo.select":
            return None
        value = owner.operands[2]
    return arguments.index(value)


RULES: Rules = {"stablehlo.sort": _sort}
