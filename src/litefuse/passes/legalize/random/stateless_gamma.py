"""Stateless random numbers of gamma distributions, from the same random bits as TensorFlow's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.passes.legalize.random.philox import philox_words
from litefuse.passes.legalize.random.stateless_random import generator_of

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["StatelessGamma"]

# Of so many tries, all fail for one number in 10^15: at most 5 % of tries do.
_TRIES = 12
# The groups of four words that they take: one for two normal numbers, and one for two uniform ones.
_GROUPS = _TRIES + 1
# How many groups TensorFlow reserves for each number.
_RESERVED = 256
_MANTISSA = 1 << 52


@decomposition("StatelessRandomGammaV2", "StatelessRandomGammaV3")
# The rewriting contains a loop, which only the engine can lower, and the key has a dtype that LiteRT lacks.
@before_engine("StatelessRandomGammaV2", "StatelessRandomGammaV3")
class StatelessGamma(Decomposition):
    """Tries normal numbers until one is accepted, by a uniform number (Marsaglia and Tsang, 2000).

    It computes in float32 where TensorFlow does in float64. So where a try is a very close call, with a probability of
    about 10^-6, another number is drawn.

    Source: tensorflow/core, kernels/stateless_random_gamma_op.cc, lib/random/random_distributions.h.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        (result,) = op.results
        alpha = op.operands[-1]
        if result.shape is None or result.dtype != "float32":
            raise NotDecomposed(f"no rewriting of it for {result}")
        sizes = b.sizes_in(op.operands[0], result.shape)
        total, kinds = b.product(sizes), b.product(b.sizes(alpha))
        # TensorFlow draws all numbers of one alpha before those of the next; in the result, alphas are innermost.
        places = b.range(total)
        kind = b.binary("FloorMod", places, b.scalar(kinds))
        turn = b.binary("FloorDiv", places, b.scalar(kinds))
        order = b.binary("AddV2", b.binary("Mul", kind, b.scalar(b.dims("FloorDiv", total, kinds))), turn)
        begins = b.binary("Mul", b.reshape(b.cast(order, "int64"), [total, 1]), _RESERVED)
        groups = b.binary("AddV2", begins, b.constant(np.arange(_GROUPS)[None], "int64"))
        words = philox_words(b, generator_of(op, b), b.reshape(groups, [b.dims("Mul", total, _GROUPS)]))
        mantissas = _mantissas(b, words)
        alphas = b.gather(b.reshape(alpha, [kinds]), kind)
        first = b.binary("Mul", places, 2 * _GROUPS)
        numbers = _accepted(b, alphas, first, mantissas)
        # Of alpha 1, it is an exponential distribution.
        complement = b.binary("Sub", b.constant(_MANTISSA, "int64"), b.gather(mantissas, b.binary("AddV2", first, 1)))
        exponential = b.unary("Neg", _log(b, complement))
        numbers = b.select(b.compare("Equal", alphas, 1.0), exponential, numbers)
        return b.reshape(numbers, sizes)


def _accepted(b: Builder, alphas: ir.Value, first: ir.Value, mantissas: ir.Value) -> ir.Value:
    """Emits the first number for each alpha that is accepted.

    Args:
        b: Emits the ops.
        alphas: float32 ``[n]``.
        first: int32 ``[n]``: where the words for each begin.
        mantissas: int64: the random bits of numbers in [0, 1), two for each group of words.
    """
    normals = _normal(b, mantissas)
    small = b.compare("Less", alphas, 1.0)
    d = b.binary("AddV2", alphas, b.select(small, 2 / 3, b.constant(-1 / 3, "float32")))
    c = b.binary("RealDiv", 1 / 3, b.unary("Sqrt", d))

    def try_once(_: ir.Value, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        place, normal, uniform, done, numbers = values
        at, normal, place = _taken(b, place, normal)
        x = b.gather(normals, at)
        step = b.binary("Mul", c, x)
        positive = b.compare("Greater", step, -1.0)
        # A uniform number is taken only if the cube is positive.
        at, taken, behind = _taken(b, place, uniform)
        uniform, place = b.select(positive, taken, uniform), b.select(positive, behind, place)
        is_accepted = b.binary("LogicalAnd", positive, _accepts(b, b.gather(mantissas, at), x, step, d))
        at, _, _ = _taken(b, place, uniform)
        power = b.unary("Exp", b.binary("RealDiv", _log(b, b.gather(mantissas, at)), alphas))
        side = b.binary("AddV2", step, 1.0)
        number = b.binary("Mul", d, b.binary("Mul", side, b.unary("Square", side)))
        number = b.select(small, b.binary("Mul", number, power), number)
        is_new = b.binary("LogicalAnd", is_accepted, b.compare("Equal", done, 0))
        done = b.binary("Maximum", done, b.cast(is_accepted, "int32"))
        return [place, normal, uniform, done, b.select(is_new, number, numbers)]

    none = b.binary("Sub", b.binary("Mul", first, 0), 1)
    start = [first, none, none, b.binary("AddV2", none, 1), b.binary("Mul", alphas, 0.0)]
    return count_to(b, _TRIES, start, try_once)[-1]


def _taken(b: Builder, place: ir.Value, kept: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Emits where the next of two numbers is: the second of a new group, or what is kept, which is the first.

    Returns:
        Its place, what is kept then, -1 for nothing, and the place of the next group.
    """
    empty = b.compare("Less", kept, 0)
    at = b.select(empty, b.binary("AddV2", place, 1), kept)
    return at, b.select(empty, place, -1), b.select(empty, b.binary("AddV2", place, 2), place)


def _accepts(b: Builder, bits: ir.Value, x: ir.Value, step: ir.Value, d: ir.Value) -> ir.Value:
    """Emits whether u < 1 - 0.0331 x^4, or log u < x^2 / 2 + d (1 - v + log v), where v = (1 + step)^3."""
    square = b.unary("Square", x)
    # 1 - v + log v without the difference of what is almost equal.
    small = b.binary("Sub", b.unary("Log1p", b.binary("Maximum", step, -1.0)), step)
    squares = b.binary("Mul", b.unary("Square", step), b.binary("AddV2", step, 3.0))
    bound = b.binary("Mul", d, b.binary("Sub", b.binary("Mul", small, 3.0), squares))
    bound = b.binary("AddV2", bound, b.binary("Mul", square, 0.5))
    surely = b.binary("Sub", 1.0, b.binary("Mul", b.unary("Square", square), 0.0331))
    uniform = b.binary("Mul", b.cast(bits, "float32"), 1 / _MANTISSA)
    both = [b.compare("Less", uniform, surely), b.compare("Less", _log(b, bits), bound)]
    return b.binary("LogicalOr", *both)


def _mantissas(b: Builder, words: ir.Value) -> ir.Value:
    """Emits the 52 bits that TensorFlow makes numbers of float64 in [0, 1) of: a vector with one for two words."""
    pairs = b.reshape(words, [b.dims("Mul", b.size(words, 0), 2), 2])
    count = b.size(pairs, 0)
    upper, lower = (b.reshape(b.slice(pairs, 1, at, at + 1), [count]) for at in (0, 1))
    return b.binary("AddV2", b.binary("Mul", b.binary("FloorMod", upper, 1 << 20), 1 << 32), lower)


def _log(b: Builder, bits: ir.Value) -> ir.Value:
    """Emits the logarithm of a number in [0, 1] of 52 bits, also close to 1."""
    value = b.binary("Mul", b.cast(bits, "float32"), 1 / _MANTISSA)
    missing = b.binary("Sub", b.constant(_MANTISSA, "int64"), bits)
    beside = b.unary("Log1p", b.binary("Mul", b.cast(missing, "float32"), -1 / _MANTISSA))
    return b.select(b.compare("Less", value, 0.5), b.unary("Log", value), beside)


def _normal(b: Builder, mantissas: ir.Value) -> ir.Value:
    """Emits the Box-Muller transform of pairs of numbers in [0, 1)."""
    count = b.dims("FloorDiv", b.size(mantissas, 0), 2)
    pairs = b.reshape(mantissas, [count, 2])
    radius = b.binary("Maximum", _log(b, b.slice(pairs, 1, 0, 1)), math.log(1e-7))
    radius = b.unary("Sqrt", b.binary("Mul", radius, -2.0))
    angle = b.binary("Mul", b.cast(b.slice(pairs, 1, 1, 2), "float32"), 2 * math.pi / _MANTISSA)
    both = b.concat([b.unary("Sin", angle), b.unary("Cos", angle)], 1)
    return b.reshape(b.binary("Mul", both, radius), [b.dims("Mul", count, 2)])
