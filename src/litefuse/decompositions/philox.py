"""Stateless random numbers: TensorFlow's, bit for bit, by its generator Philox in integer arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.decompositions.loops import count_to
from litefuse.engine.mlir import producer

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["StatelessRandom"]

# Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011: Philox4x32-10.
_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
# The key with which TensorFlow makes the key and the counter of two seeds.
_SCRAMBLING_KEY = (0x3EC8F720, 0x02461E29)

_WORD = 1 << 32
_HALF_WORD = 1 << 16
_MANTISSA = 1 << 23
_ALGORITHMS = (1, 3)  # Philox, and "the one for this device", which is Philox as well but on TPUs
_KEY_MAKERS = ("tf.StatelessRandomGetKeyCounter", "tf.StatelessRandomGetKeyCounterAlg")
_ALGORITHM_MAKERS = ("tf.StatelessRandomGetAlg", "tf.StatelessRandomGetKeyCounterAlg")


class StatelessRandom(Decomposition):
    """Counters, scrambled by a loop of ten rounds, and what TensorFlow makes of these 32-bit words.

    All words are held in int64, whose products and quotients LiteRT has.

    Source: tensorflow/core, lib/random/philox_random.h and random_distributions.h (the numbers),
    kernels/stateless_random_ops_v2_util.h and random_op_cpu.h (key and counter, order of the numbers).
    """

    names = (
        *("StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomUniform", "StatelessRandomUniformV2"),
        *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2"),
        *("StatelessRandomUniformInt", "StatelessRandomUniformIntV2"),
    )

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        (result,) = op.results
        if result.shape is None:
            raise NotDecomposed("the result is of unknown rank")
        seed = _seed(op)
        shape = b.sizes_in(op.operands[0], result.shape)
        kind = op.name.removeprefix("StatelessRandom").removesuffix("V2")
        of_integers = kind in {"UniformFullInt", "UniformInt"} and result.dtype in ("int32", "int64")
        if not of_integers and (result.dtype != "float32" or kind not in {"Normal", "Uniform"}):
            raise NotDecomposed(f"there is no rewriting of it for {result.dtype}")
        size = _size(op) if (kind, result.dtype) == ("UniformInt", "int64") else None
        # How many words an element takes, and how many elements are made of four words.
        words = 2 if result.dtype == "int64" else 1
        count = b.product(shape)
        groups = b.dims("FloorDiv", b.dims("AddV2", b.dims("Mul", count, words), 3), 4)
        drawn = _words(b, b.cast(seed, "int64"), groups)
        pairs = b.reshape(drawn, [b.dims("Mul", groups, 2), 2])
        if kind == "Normal":
            numbers = _normal(b, pairs)
        elif kind == "Uniform":
            numbers = _unit_interval(b, b.reshape(drawn, [b.dims("Mul", groups, 4)]))
        elif result.dtype == "int32":
            bounds = op.operands[-2:] if kind == "UniformInt" else None
            numbers = _int32(b, b.reshape(drawn, [b.dims("Mul", groups, 4)]), bounds)
        else:
            numbers = _int64(b, pairs, op.operands[-2], size)
        return b.reshape(b.slice(numbers, 0, 0, count), shape)


def _seed(op: TensorFlowOp) -> ir.Value:
    """The two seeds that the key and the counter are made of.

    Raises:
        NotDecomposed: They come from somewhere else, or another generator is asked for.
    """
    if not op.name.endswith("V2"):
        if op.types[1].shape != (2,):
            raise NotDecomposed("its seed is not two numbers")
        return op.operands[1]
    _, key, counter, algorithm = op.operands[:4]
    known = op.constants[3]
    if not producer(algorithm, *_ALGORITHM_MAKERS) and (known is None or int(known) not in _ALGORITHMS):
        raise NotDecomposed("its generator is not Philox")
    maker = producer(key, *_KEY_MAKERS)
    if maker is None or maker != producer(counter, *_KEY_MAKERS):
        raise NotDecomposed("its key is not made of a seed")
    return maker.operands[0]


def _words(b: Builder, seed: ir.Value, groups: Dim) -> ir.Value:
    """Four words for each group, int64 [groups, 4]."""
    halves = [_low(b, seed), _low(b, _high(b, seed))]
    mixed = _scrambled(
        b,
        b.reshape(halves[0], [2, 1]),
        b.reshape(halves[1], [2, 1]),
        b.constant(np.array(_SCRAMBLING_KEY).reshape(2, 1), "int64"),
    )
    key, rest = (b.reshape(b.slice(mixed, 1, begin, begin + 2), [2, 1]) for begin in (0, 2))
    numbers = b.cast(b.reshape(b.range(groups), [1, groups]), "int64")
    nothing = b.binary("Mul", numbers, 0)
    even = b.concat([numbers, b.binary("AddV2", nothing, b.slice(rest, 0, 0, 1))], 0)
    odd = b.concat([nothing, b.binary("AddV2", nothing, b.slice(rest, 0, 1, 2))], 0)
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
    return b.binary("FloorMod", value, _WORD)


def _high(b: Builder, value: ir.Value) -> ir.Value:
    return b.binary("FloorDiv", value, _WORD)


def _unit_interval(b: Builder, words: ir.Value) -> ir.Value:
    mantissa = b.cast(b.binary("FloorMod", words, _MANTISSA), "float32")
    return b.binary("Mul", mantissa, 1 / _MANTISSA)


def _normal(b: Builder, pairs: ir.Value) -> ir.Value:
    """Box and Muller's transformation of pairs of words."""
    uniform = _unit_interval(b, pairs)
    size = b.binary("Maximum", b.slice(uniform, 1, 0, 1), 1e-7)
    angle = b.binary("Mul", b.slice(uniform, 1, 1, 2), 2 * math.pi)
    radius = b.unary("Sqrt", b.binary("Mul", b.unary("Log", size), -2.0))
    both = b.concat([b.unary("Sin", angle), b.unary("Cos", angle)], 1)
    return b.reshape(b.binary("Mul", both, radius), [b.dims("Mul", b.size(pairs, 0), 2)])


def _int32(b: Builder, words: ir.Value, bounds: Sequence[ir.Value] | None) -> ir.Value:
    """Words as they are, or those from the first bound to the second one, without it."""
    if bounds is not None:
        low, high = (b.cast(value, "int64") for value in bounds)
        words = b.binary("AddV2", low, b.binary("FloorMod", words, b.binary("Sub", high, low)))
    # As two's complement has it.
    words = b.select(b.compare("GreaterEqual", words, _WORD // 2), b.binary("Sub", words, _WORD), words)
    return b.cast(words, "int32")


def _size(op: TensorFlowOp) -> int:
    """How many numbers of int64 there are to draw from.

    Raises:
        NotDecomposed: It is not known, or more than can be computed with.
    """
    size = int(op.constant(len(op.operands) - 1)) - int(op.constant(len(op.operands) - 2))
    if not 0 < size <= _WORD // 2:
        raise NotDecomposed("it asks for more than 2^31 numbers of int64")
    return size


def _int64(b: Builder, pairs: ir.Value, low: ir.Value, size: int | None) -> ir.Value:
    """Pairs of words as one number, or one of ``size`` numbers from ``low`` on."""
    low_word, high_word = (b.reshape(b.slice(pairs, 1, at, at + 1), [b.size(pairs, 0)]) for at in (0, 1))
    if size is None:
        negative = b.compare("GreaterEqual", high_word, _WORD // 2)
        high_word = b.select(negative, b.binary("Sub", high_word, _WORD), high_word)
        return b.binary("AddV2", b.binary("Mul", high_word, _WORD), low_word)
    # The remainder of high * 2^32 + low, of factors that leave room.
    high = b.binary("Mul", b.binary("FloorMod", high_word, size), _WORD % size)
    total = b.binary("AddV2", high, b.binary("FloorMod", low_word, size))
    return b.binary("AddV2", low, b.binary("FloorMod", total, size))
