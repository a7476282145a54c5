"""TensorFlow's random number generator, Philox, in integer arithmetic, and integers in a range from its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from litefuse.ir.tensors import Tensor, equal, select
from litefuse.passes.legalize.arrays.loops import count_to

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensorflow_op import TensorFlowOp
    from litefuse.ir.tensors import Tensor


# Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011: Philox4x32-10.
_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
# The key with which TensorFlow derives the key and the counter from two seeds.
_SCRAMBLING_KEY = (0x3EC8F720, 0x02461E29)

_HALF_WORD = 1 << 16

MANTISSA = 1 << 23
"""The number of float32 values from 1 to 2, without 2."""


class Generator(NamedTuple):
    """The state of a generator; its words are int64, for which LiteRT has products and quotients.

    Attributes:
        key: The two words of the key, int64 ``[2, 1]``.
        low: The lower two of the four words of the counter, int64 ``[1, 1]`` each; None if they are 0.
        high: The upper two.
    """

    key: Tensor
    low: Sequence[Tensor] | None
    high: Sequence[Tensor]


def seeded(b: Builder, seed: Tensor) -> Generator:
    """Emits the generator that TensorFlow derives from two seeds, int64 ``[2]``."""
    halves = [_low(seed), _low(_high(seed))]
    mixed = _scrambled(
        b,
        b.reshape(halves[0], [2, 1]),
        b.reshape(halves[1], [2, 1]),
        b.constant(np.array(_SCRAMBLING_KEY).reshape(2, 1), "int64"),
    )
    key, rest = (b.reshape(b.slice(mixed, 1, begin, begin + 2), [2, 1]) for begin in (0, 2))
    return Generator(key, None, [b.slice(rest, 0, row, row + 1) for row in (0, 1)])


def continued(b: Builder, key: Tensor, counter: Tensor) -> Generator:
    """Emits the generator with a key and a counter: the bits of int64 ``[1]`` and ``[2]``, the lower ones first."""
    key, *counters = (b.reshape(value, [1, 1]) for value in (key, b.slice(counter, 0, 0, 1), b.slice(counter, 0, 1, 2)))
    low, high = ([_low(value), _low(_high(value))] for value in counters)
    return Generator(b.concat([_low(key), _low(_high(key))], 0), low, high)


def philox_words(b: Builder, generator: Generator, places: Tensor) -> Tensor:
    """Emits groups of four random 32-bit words.

    Args:
        b: Emits the ops, including loops, which only the engine can lower.
        generator: The generator.
        places: The indices of the groups, int64 ``[n]``, below 2^32 if the counter begins at 0.

    Returns:
        int64 ``[n, 4]``.
    """
    count = b.size(places, 0)
    places = b.reshape(places, [1, count])
    if generator.low is None:
        words = [places, b.fill([1, count], 0, "int64"), *(b.broadcast(word, [1, count]) for word in generator.high)]
    else:
        words: list[Tensor] = []
        carry = places
        for word in (*generator.low, *generator.high):
            total = word + carry
            words.append(_low(total))
            carry = _high(total)
    even, odd = (b.concat([words[place], words[place + 2]], 0) for place in (0, 1))
    return _scrambled(b, even, odd, generator.key)


def first_words(b: Builder, generator: Generator, groups: MixedSize) -> Tensor:
    """Emits the first random words of a generator: int64 ``[groups, 4]``."""
    return philox_words(b, generator, b.cast(b.range(groups), "int64"))


def _scrambled(b: Builder, even: Tensor, odd: Tensor, key: Tensor) -> Tensor:
    """Emits Philox of counters as [n, 4]; rows of ``even`` and ``odd`` are their words 0 and 2, and 1 and 3."""
    multipliers = b.constant(np.array(_MULTIPLIERS).reshape(2, 1), "int64")
    steps = b.constant(np.array(_KEY_STEPS).reshape(2, 1), "int64")

    def turn(_: Tensor, values: Sequence[Tensor]) -> Sequence[Tensor]:
        even, odd, key = values
        # 64-bit products, from partial products that fit into int64.
        low_part = multipliers * (even % _HALF_WORD)
        high_part = multipliers * (even // _HALF_WORD)
        middle = high_part + low_part // _HALF_WORD
        high = middle // _HALF_WORD
        low = middle % _HALF_WORD * _HALF_WORD + low_part % _HALF_WORD
        mixed = _swapped(b, high) ^ odd ^ key
        return [mixed, _swapped(b, low), _low(key + steps)]

    even, odd, _ = count_to(b, _ROUNDS, [even, odd, key], turn)
    return b.reshape(b.transpose(b.stack([even, odd], 0), [2, 1, 0]), [b.size(even, 1), 4])


def _swapped(b: Builder, rows: Tensor) -> Tensor:
    return b.concat([b.slice(rows, 0, 1, 2), b.slice(rows, 0, 0, 1)], 0)


def _low(value: Tensor) -> Tensor:
    return value % WORD


def _high(value: Tensor) -> Tensor:
    return value // WORD


def unit_interval(b: Builder, words: Tensor) -> Tensor:
    """Emits words as numbers in [0, 1)."""
    mantissa = b.cast(words % MANTISSA, "float32")
    return mantissa * (1 / MANTISSA)


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
