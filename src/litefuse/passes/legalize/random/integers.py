"""Integers in a range, from random 32-bit words that are given as int64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensors import Tensor, equal, select
from litefuse.passes.legalize.arrays.loops import count_to

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensorflow_op import TensorFlowOp

WORD = 1 << 32
"""The number of different 32-bit words."""


def int32_of(b: Builder, words: Tensor) -> Tensor:
    """Emits words as int32 with the same bits."""
    words = select(words >= WORD // 2, words - WORD, words)
    return b.cast(words, "int32")


def int32_between(b: Builder, words: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Emits words reduced to the int32 range from ``low`` to ``high``, excluded."""
    low, high = (b.cast(value, "int64") for value in (low, high))
    return int32_of(b, low + words % (high - low))


def int64_of(low_words: Tensor, high_words: Tensor) -> Tensor:
    """Emits pairs of words as int64 with the same bits."""
    negative = high_words >= WORD // 2
    high_words = select(negative, high_words - WORD, high_words)
    return high_words * WORD + low_words


def count_between(op: TensorFlowOp, low: int, high: int) -> int | None:
    """Returns how many integers there are from one operand to another, excluded, if both are constants."""
    first, end = op.constants[low], op.constants[high]
    return None if first is None or end is None else int(end) - int(first)


def int64_between(
    b: Builder, low_words: Tensor, high_words: Tensor, low: Tensor, high: Tensor, count: int | None
) -> Tensor:
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
        rest = high_words % count * (WORD % count)
        rest = rest + low_words % count
        return low + rest % count
    # Of more than 2^63 numbers the size is negative, and the quotient 0 or 1.
    size = high - low
    many = size < 0
    whole = int64_of(low_words, high_words)
    as_is = (whole >= 0) | (whole < size)
    of_many = select(as_is, whole, whole - size)
    divisor = select(many, 1, size)

    def turn(_: Tensor, values: Sequence[Tensor]) -> Sequence[Tensor]:
        rest, above, below = values
        missing = divisor - rest
        # Twice the rest, less the divisor if it fits, without overflow.
        doubled = select(rest >= missing, rest - missing, rest + rest)
        rest = doubled + above // (WORD // 2)
        rest = select(equal(rest, divisor), 0, rest)
        above = above * 2 + below // (WORD // 2)
        return [rest, above % WORD, below * 2 % WORD]

    rest, _, _ = count_to(b, 64, [low_words * 0, high_words, low_words], turn)
    return low + select(many, of_many, rest)
