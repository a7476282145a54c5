"""Stateless random numbers of gamma distributions, from the same random bits as TensorFlow's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, equal, exp, log, maximum, select, sin, sqrt
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.legalize.decomposition import before_engine, decomposition
from litefuse.passes.legalize.random.philox import philox_words
from litefuse.passes.legalize.random.stateless_random import generator_of

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

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
def stateless_gamma(op: TensorFlowOp, b: Builder) -> Tensor:
    """Tries normal numbers until one is accepted, by a uniform number (Marsaglia and Tsang, 2000).

    It computes in float32 where TensorFlow does in float64. So where a try is a very close call, with a probability of
    about 10^-6, another number is drawn.

    Source: tensorflow/core, kernels/stateless_random_gamma_op.cc, lib/random/random_distributions.h.
    """
    (result,) = op.results
    alpha = op.operands[-1]
    if result.shape is None or result.dtype != "float32":
        raise NotDecomposed(f"no rewriting of it for {result}")
    sizes = b.sizes_in(op.operands[0], result.shape)
    total, kinds = b.product(sizes), b.product(b.sizes(alpha))
    # TensorFlow draws all numbers of one alpha before those of the next; in the result, alphas are innermost.
    places = b.range(total)
    kind = places % b.scalar(kinds)
    turn = places // b.scalar(kinds)
    order = kind * b.scalar(total // kinds) + turn
    begins = b.reshape(b.cast(order, "int64"), [total, 1]) * _RESERVED
    groups = begins + b.constant(np.arange(_GROUPS)[None], "int64")
    words = philox_words(b, generator_of(op, b), b.reshape(groups, [total * _GROUPS]))
    mantissas = _mantissas(b, words)
    alphas = b.gather(b.reshape(alpha, [kinds]), kind)
    first = places * (2 * _GROUPS)
    numbers = _accepted(b, alphas, first, mantissas)
    # Of alpha 1, it is an exponential distribution.
    complement = b.constant(_MANTISSA, "int64") - b.gather(mantissas, first + 1)
    exponential = -_log(b, complement)
    numbers = select(equal(alphas, 1.0), exponential, numbers)
    return b.reshape(numbers, sizes)


def _accepted(b: Builder, alphas: Tensor, first: Tensor, mantissas: Tensor) -> Tensor:
    """Emits the first number for each alpha that is accepted.

    ``alphas`` is float32 ``[n]``; ``first``, int32 ``[n]``, has where the words for each begin; ``mantissas``, int64,
    the random bits of numbers in [0, 1), two for each group of words.
    """
    normals = _normal(b, mantissas)
    small = alphas < 1.0
    d = alphas + select(small, 2 / 3, b.constant(-1 / 3, "float32"))
    c = 1 / 3 / sqrt(d)

    def try_once(_: Tensor, values: Sequence[Tensor]) -> Sequence[Tensor]:
        place, normal, uniform, done, numbers = values
        at, normal, place = _taken(place, normal)
        x = b.gather(normals, at)
        step = c * x
        positive = step > -1.0
        # A uniform number is taken only if the cube is positive.
        at, taken, behind = _taken(place, uniform)
        uniform, place = select(positive, taken, uniform), select(positive, behind, place)
        is_accepted = positive & _accepts(b, b.gather(mantissas, at), x, step, d)
        at, _, _ = _taken(place, uniform)
        power = exp(_log(b, b.gather(mantissas, at)) / alphas)
        side = step + 1.0
        number = d * (side * b.unary("Square", side))
        number = select(small, number * power, number)
        is_new = is_accepted & equal(done, 0)
        done = maximum(done, b.cast(is_accepted, "int32"))
        return [place, normal, uniform, done, select(is_new, number, numbers)]

    none = first * 0 - 1
    start = [first, none, none, none + 1, alphas * 0.0]
    return count_to(b, _TRIES, start, try_once)[-1]


def _taken(place: Tensor, kept: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Emits where the next of two numbers is: the second of a new group, or what is kept, which is the first.

    Returns its place, what is kept then, -1 for nothing, and the place of the next group.
    """
    empty = kept < 0
    at = select(empty, place + 1, kept)
    return at, select(empty, place, -1), select(empty, place + 2, place)


def _accepts(b: Builder, bits: Tensor, x: Tensor, step: Tensor, d: Tensor) -> Tensor:
    """Emits whether u < 1 - 0.0331 x^4, or log u < x^2 / 2 + d (1 - v + log v), where v = (1 + step)^3."""
    square = b.unary("Square", x)
    # 1 - v + log v without the difference of what is almost equal.
    small = b.unary("Log1p", maximum(step, -1.0)) - step
    squares = b.unary("Square", step) * (step + 3.0)
    bound = d * (small * 3.0 - squares)
    bound = bound + square * 0.5
    surely = 1.0 - b.unary("Square", square) * 0.0331
    uniform = b.cast(bits, "float32") * (1 / _MANTISSA)
    both = [uniform < surely, _log(b, bits) < bound]
    return b.binary("LogicalOr", *both)


def _mantissas(b: Builder, words: Tensor) -> Tensor:
    """Emits the 52 bits that TensorFlow makes numbers of float64 in [0, 1) of: a vector with one for two words."""
    pairs = b.reshape(words, [b.size(words, 0) * 2, 2])
    count = b.size(pairs, 0)
    upper, lower = (b.reshape(b.slice(pairs, 1, at, at + 1), [count]) for at in (0, 1))
    return upper % (1 << 20) * (1 << 32) + lower


def _log(b: Builder, bits: Tensor) -> Tensor:
    """Emits the logarithm of a number in [0, 1] of 52 bits, also close to 1."""
    value = b.cast(bits, "float32") * (1 / _MANTISSA)
    missing = b.constant(_MANTISSA, "int64") - bits
    beside = b.unary("Log1p", b.cast(missing, "float32") * (-1 / _MANTISSA))
    return select(value < 0.5, log(value), beside)


def _normal(b: Builder, mantissas: Tensor) -> Tensor:
    """Emits the Box-Muller transform of pairs of numbers in [0, 1)."""
    count = b.size(mantissas, 0) // 2
    pairs = b.reshape(mantissas, [count, 2])
    radius = maximum(_log(b, b.slice(pairs, 1, 0, 1)), math.log(1e-7))
    radius = sqrt(radius * -2.0)
    angle = b.cast(b.slice(pairs, 1, 1, 2), "float32") * (2 * math.pi / _MANTISSA)
    both = b.concat([sin(angle), cos(angle)], 1)
    return b.reshape(both * radius, [count * 2])
