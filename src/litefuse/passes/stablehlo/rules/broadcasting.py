"""Elementwise ops with operands that broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.translation import Result, Translation
from litefuse.passes.stablehlo.values import Value, spread

__all__ = ["elementwise"]


@overload
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[[ir.Value], ir.Value]) -> Result: ...
@overload
def elementwise(
    t: Translation, operands: Sequence[ir.Value], emit: Callable[[ir.Value, ir.Value], ir.Value]
) -> Result: ...
@overload
def elementwise(
    t: Translation, operands: Sequence[ir.Value], emit: Callable[[ir.Value, ir.Value, ir.Value], ir.Value]
) -> Result: ...
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[..., ir.Value]) -> Result:
    """Applies ``emit`` to operands that broadcast, each before it is broadcast."""
    narrow = next((t.dtype(operand) for operand in operands if t.dtype(operand).startswith("float8")), None)
    if narrow is not None:  # LiteRT only converts these
        emit = _in_float32(t, emit, narrow)
    found = [t.lazy(operand) for operand in operands]
    whole = [value for value in found if value.spread is None]
    # A scalar among tensors (the condition of a select, the limits of a clamp) does not determine the result's shape.
    rank = max(len(t.shape(operand)) for operand in operands)
    if any(
        len(t.shape(operand)) == rank and value.spread is None for operand, value in zip(operands, found, strict=True)
    ):
        return emit(*(value.emit() if value.spread is None else value.spread.small.emit() for value in found))
    repeated = [value.spread for value in found if value.spread is not None]
    if not repeated:
        return emit(*(value.emit() for value in whole))
    parts = [value if value.spread is None else value.spread.small for value in found]
    return spread(t.b, Value(lambda: emit(*(part.emit() for part in parts))), repeated[0].dims)


def _in_float32(t: Translation, emit: Callable[..., ir.Value], narrow: str) -> Callable[..., ir.Value]:
    def emit_wide(*values: ir.Value) -> ir.Value:
        wide = [t.b.cast(value, "float32") if t.b.dtype(value) == narrow else value for value in values]
        result = emit(*wide)
        return t.b.cast(result, narrow) if t.b.dtype(result) == "float32" else result

    return emit_wide
