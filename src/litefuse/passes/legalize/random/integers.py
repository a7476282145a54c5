"""Integers in a range, from random 32-bit words that are given as int64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.passes.legalize.arrays.loops import count_to

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir
    from litefuse.ir.tensorflow_op import TensorFlowOp

__all__ = ["WORD", "count_between", "int32_between", "int32_of", "int64_between", "int64_of"]

WORD = 1 << 32
"""The number of different 32-bit words."""


def int32_of(b: Builder, words: ir.Value) -> ir.Value:
    """Emits words as int32 with the same bits."""
    words = b.select(b.compare("GreaterEqual", words, WORD // 2), b.binary("Sub", words, WORD), words)
    return b.cast(words, "int32")


def int32_between(b: Builder, words: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
    """Emits words reduced to the int32 range from ``low`` to ``high``, excluded."""
    low, high = (b.cast(value, "int64") for value in (low, high))
    return int32_of(b, b.binary("AddV2", low, b.binary("FloorMod", words, b.binary("Sub", high, low))))


def int64_of(b: Builder, low_words: ir.Value, high_words: ir.Value) -> ir.Value:
    """Emits pairs of words as int64 with the same bits."""
    negative = b.compare("GreaterEqual", high_words, WORD // 2)
    high_words = b.select(negative, b.binary("Sub", high_words, WORD), high_words)
    return b.binary("AddV2", b.binary("Mul", high_words, WORD), low_words)


def count_between(op: TensorFlowOp, low: int, high: int) -> int | None:
    """Returns how many integers there are from one operand to another, excluded, if both are constants."""
    first, end = op.constants[low], op.constants[high]
    return None if first is None or end is None else int(end) - int(first)


def int64_between(
    b: Builder, low_words: ir.Value, high_words: ir.Value, low: ir.Value, high: ir.Value, count: int | None
) -> ir.Value:
    """Emits pairs of words reduced to the int64 range from ``low`` to ``high``, excluded.

    If the range is long, or how long is not known, the remainder is found bit by bit: in a loop, which only the engine
    can lower.

    Args:
        b: Emits the ops.
        low_words: The lower word of each pair.
        high_words: The upper one.
        low: The first number.
        high: The one after the last.
        count: How many there are, if that is known.
    """
    if count is not None and 0 < count <= WORD // 2:
        rest = b.binary("Mul", b.binary("FloorMod", high_words, count), WORD % count)
        rest = b.binary("AddV2", rest, b.binary("FloorMod", low_words, count))
        return b.binary("AddV2", low, b.binary("FloorMod", rest, count))
    # Of more than 2^63 numbers the size is negative, and the quotient 0 or 1.
    size = b.binary("Sub", high, low)
    many = b.compare("Less", size, 0)
    whole = int64_of(b, low_words, high_words)
    as_is = b.binary("LogicalOr", b.compare("GreaterEqual", whole, 0), b.compare("Less", whole, size))
    of_many = b.select(as_is, whole, b.binary("Sub", whole, size))
    divisor = b.select(many, 1, size)

    def turn(_: ir.Value, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        rest, above, below = values
        missing = b.binary("Sub", divisor, rest)
        # Twice the rest, less the divisor if it fits, without overflow.
        doubled = b.select(
            b.compare("GreaterEqual", rest, missing), b.binary("Sub", rest, missing), b.binary("AddV2", rest, rest)
        )
        rest = b.binary("AddV2", doubled, b.binary("FloorDiv", above, WORD // 2))
        rest = b.select(b.compare("Equal", rest, divisor), 0, rest)
        above = b.binary("AddV2", b.binary("Mul", above, 2), b.binary("FloorDiv", below, WORD // 2))
        return [rest, b.binary("FloorMod", above, WORD), b.binary("FloorMod", b.binary("Mul", below, 2), WORD)]

    rest, _, _ = count_to(b, 64, [b.binary("Mul", low_words, 0), high_words, low_words], turn)
    return b.binary("AddV2", low, b.select(many, of_many, rest))
