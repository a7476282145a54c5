"""TensorFlow's generator of random numbers, Philox, in integer arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.loops import count_to

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["MANTISSA", "WORD", "philox_words", "unit_interval"]

# Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011: Philox4x32-10.
_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
# The key with which TensorFlow makes the key and the counter of two seeds.
_SCRAMBLING_KEY = (0x3EC8F720, 0x02461E29)

_HALF_WORD = 1 << 16

WORD = 1 << 32
"""How many words there are."""

MANTISSA = 1 << 23
"""How many numbers float32 has from 1 to 2."""


def philox_words(b: Builder, seed: ir.Value, groups: Dim) -> ir.Value:
    """The first random words of 32 bits of a generator.

    They are held in int64, whose products and quotients LiteRT has.

    Args:
        b: Emits the ops; among them loops, which only the engine can lower.
        seed: The two seeds that the key and the counter are made of, int64 ``[2]``.
        groups: How many times four words.

    Returns:
        int64 ``[groups, 4]``.
    """
    halves = [_low(b, seed), _low(b, _high(b, seed))]
    mixed = _scrambled(
        b,
        b.reshape(halves[0], [2, 1]),
        b.reshape(halves[1], [2, 1]),
        b.constant(np.array(_SCRAMBLING_KEY).reshape(2, 1), "int64"),
    )
    key, rest = (b.reshape(b.slice(mixed, 1, begin, begin + 2), [2, 1]) for begin in (0, 2))
    counters = b.cast(b.reshape(b.range(groups), [1, groups]), "int64")
    words = [b.broadcast(b.slice(rest, 0, row, row + 1), [1, groups]) for row in (0, 1)]
    even = b.concat([counters, words[0]], 0)
    odd = b.concat([b.fill([1, groups], 0, "int64"), words[1]], 0)
    return _scrambled(b, even, odd, key)


def _scrambled(b: Builder, even: ir.Value, odd: ir.Value, key: ir.Value) -> ir.Value:
    """Philox of counters, whose words 0 and 2, and 1 and 3, are the rows of ``even`` and ``odd``: words [n, 4]."""
    multipliers = b.constant(np.array(_MULTIPLIERS).reshape(2, 1), "int64")
    steps = b.constant(np.array(_KEY_STEPS).reshape(2, 1), "int64")

    def turn(_: ir.Value, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        even, odd, key = values
        # Products of 64 bits, from factors that leave room in int64.
        low_part = b.binary("Mul", multipliers, b.binary("FloorMod", even, _HALF_WORD))
        high_part = b.binary("Mul", multipliers, b.binary("FloorDiv", even, _HALF_WORD))
        middle = b.binary("AddV2", high_part, b.binary("FloorDiv", low_part, _HALF_WORD))
        high = b.binary("FloorDiv", middle, _HALF_WORD)
        low = b.binary(
            "AddV2",
            b.binary("Mul", b.binary("FloorMod", middle, _HALF_WORD), _HALF_WORD),
            b.binary("FloorMod", low_part, _HALF_WORD),
        )
        mixed = b.binary("BitwiseXor", b.binary("BitwiseXor", _swapped(b, high), odd), key)
        return [mixed, _swapped(b, low), _low(b, b.binary("AddV2", key, steps))]

    even, odd, _ = count_to(b, _ROUNDS, [even, odd, key], turn)
    return b.reshape(b.transpose(b.stack([even, odd], 0), [2, 1, 0]), [b.size(even, 1), 4])


def _swapped(b: Builder, rows: ir.Value) -> ir.Value:
    return b.concat([b.slice(rows, 0, 1, 2), b.slice(rows, 0, 0, 1)], 0)


def _low(b: Builder, value: ir.Value) -> ir.Value:
    return b.binary("FloorMod", value, WORD)


def _high(b: Builder, value: ir.Value) -> ir.Value:
    return b.binary("FloorDiv", value, WORD)


def unit_interval(b: Builder, words: ir.Value) -> ir.Value:
    """Words as numbers from 0 to 1, without it."""
    mantissa = b.cast(b.binary("FloorMod", words, MANTISSA), "float32")
    return b.binary("Mul", mantissa, 1 / MANTISSA)
