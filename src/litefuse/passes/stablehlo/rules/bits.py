"""Ops on the bits of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, maximum, minimum, select
from litefuse.passes.stablehlo.rules.broadcasting import elementwise, on_elements
from litefuse.passes.stablehlo.translation import Result, Rule, Rules, Translation
from litefuse.passes.stablehlo.values import operands_of


def _bitcast(op: Any, t: Translation) -> Result:
    (operand,), (result,) = op.operands, op.results
    value = t.value(operand)
    return t.b.op("Bitcast", [value], t.shape(result), t.dtype(result))


def _leading_zeros(op: Any, t: Translation) -> Result:
    """Subtracts the place of the highest set bit from the width; a table gives that place for each byte."""
    dtype = t.dtype(op.results[0])
    size = np.dtype(dtype).itemsize

    def emit(x: ir.Value) -> ir.Value:
        b, shape = t.b, t.b.shape(x)
        octets = b.bitcast(x, "uint8") if size == 1 else b.op("Bitcast", [x], [*shape, size], "uint8")
        # A byte of zeros has no set bit, whatever its position.
        lengths = np.array([number.bit_length() or -8 * size for number in range(256)])
        places = b.gather(b.constant(lengths, "int32"), b.cast(octets, "int32"))
        if size > 1:
            places = b.reduce("Max", places + b.constant(8 * np.arange(size), "int32"), len(shape))
        return b.cast(8 * size - maximum(places, 0), dtype)

    return elementwise(t, op.operands, emit)


def _popcnt(op: Any, t: Translation) -> Result:
    dtype = t.dtype(op.results[0])
    return elementwise(t, op.operands, lambda x: t.b.cast(t.b.op("PopulationCount", [x], t.b.shape(x), "uint8"), dtype))


def _shift(name: str, *, logical: bool = False) -> Rule:
    """Shifts by the width or more return what is left: 0, or -1 (StableHLO's definition)."""

    def rule(op: Any, t: Translation) -> Result:
        dtype = t.dtype(op.operands[0])
        direction = "left" if name == "LeftShift" else "right"
        followed = on_elements(t, direction, t.elements(op.operands[0]), t.elements(op.operands[1]), dtype)
        if followed is not None:
            return followed
        known = t.number(op.operands[1])
        if name == "LeftShift":
            return elementwise(t, op.operands, lambda x, places: _shifted_left(t, x, places, known))
        other = f"u{dtype}" if logical and dtype.startswith("int") else dtype

        def emit(x: Tensor, places: Tensor) -> Tensor:
            x = t.b.bitcast(x, other)
            for distance in _distances(t, places, known, logical=other.startswith("u")):
                x = t.b.binary("RightShift", x, t.b.cast(distance, other))
            return t.b.bitcast(x, dtype)

        return elementwise(t, op.operands, emit)

    return rule


def _shifted_left(t: Translation, x: Tensor, places: Tensor, known: float | None) -> Tensor:
    """Emits the product with a power of two, which is 0 from the width on."""
    b, dtype = t.b, x.dtype
    signed = dtype.removeprefix("u")
    width = 8 * np.dtype(dtype).itemsize
    powers = np.append(np.left_shift(np.ones(width, signed), np.arange(width).astype(signed)), 0)
    if known is not None:
        factor = b.constant(powers[int(known) if 0 <= known < width else width], signed)
    else:
        factor = b.gather(b.constant(powers, signed), _within(t, places, width))
    return b.bitcast(b.bitcast(x, signed) * factor, dtype)


def _distances(t: Translation, places: Tensor, known: float | None, *, logical: bool) -> list[Tensor]:
    """Returns the distances to shift by one after the other: TensorFlow's op shifts by the width less 1 at most."""
    width = 8 * np.dtype(places.dtype).itemsize
    if known is not None and 0 <= known < width:
        return [places]
    within = _within(t, places, width)
    first = minimum(within, width - 1)
    return [first, within - first] if logical else [first]


def _within(t: Translation, places: Tensor, width: int) -> Tensor:
    """Returns distances as int32; those that are as large as the width, or negative, are the width."""
    places = t.b.cast(minimum(places, width) if width == 64 else places, "int32")
    return select(places < 0, width, minimum(places, width))


def are_disjoint(t: Translation, a: ir.Value, b: ir.Value) -> bool:
    """Whether no bit is set in both integers: they are rotated, or put together, as jax.random does."""
    left, right = (_shifted(value, name) for value, name in ((a, "shift_left"), (b, "shift_right_logical")))
    width = 8 * np.dtype(t.dtype(a)).itemsize
    if left and right and left[0] == right[0]:
        known = [number for _, places in (left, right) if (number := t.number(places)) is not None]
        if len(known) == 2:
            return sum(known) == width
        rest = operands_of(right[1], "subtract")
        return bool(rest) and t.number(rest[0]) == width and rest[1] == left[1]
    for value, other in ((a, b), (b, a)):
        shifted, mask = _shifted(value, "shift_right_logical"), t.number(other)
        places = t.number(shifted[1]) if shifted else None
        if places is not None and mask is not None and 0 <= places < width and mask >= 0:
            return int(mask) & ((1 << (width - int(places))) - 1) == 0
    return False


def _shifted(value: ir.Value, name: str) -> tuple[ir.Value, ir.Value] | None:
    """Returns what a shift of this name shifts, and by how much, before that is broadcast."""
    operands = operands_of(value, name)
    if not operands:
        return None
    number, places = operands
    return number, (operands_of(places, "broadcast_in_dim") or [places])[0]


RULES: Rules = {
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.count_leading_zeros": _leading_zeros,
    "stablehlo.popcnt": _popcnt,
    "stablehlo.shift_left": _shift("LeftShift"),
    "stablehlo.shift_right_arithmetic": _shift("RightShift"),
    "stablehlo.shift_right_logical": _shift("RightShift", logical=True),
}
