"""Stateless random numbers, from the same random bits as TensorFlow's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.mlir import producer
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, exp, log, maximum, select, sin, sqrt
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.arithmetic.elementary import LARGEST, where_finite
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.passes.legalize.random.philox import (
    MANTISSA,
    WORD,
    Generator,
    continued,
    count_between,
    first_words,
    int32_between,
    int32_of,
    int64_between,
    int64_of,
    philox_words,
    seeded,
    unit_interval,
)
from litefuse.passes.legalize.random.random_numbers import of_wanted_shape

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

_ALGORITHMS = (1, 3)  # Philox, and "the one for this device", which is Philox as well but on TPUs
# The number of draws for four truncated numbers, and the number of groups of words that TensorFlow reserves for them.
_DRAWS = 16
_RESERVED = 256
_KEY_MAKERS = ("tf.StatelessRandomGetKeyCounter", "tf.StatelessRandomGetKeyCounterAlg")
_ALGORITHM_MAKERS = ("tf.StatelessRandomGetAlg", "tf.StatelessRandomGetKeyCounterAlg")


@decomposition(
    *("StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomUniform", "StatelessRandomUniformV2"),
    *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2"),
    *("StatelessRandomUniformInt", "StatelessRandomUniformIntV2"),
)
# The rewriting contains a loop, which only the engine can lower, and the key has a dtype that LiteRT lacks.
@before_engine(
    *("StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomUniform", "StatelessRandomUniformFullInt"),
    *("StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt", "StatelessRandomUniformIntV2"),
    "StatelessRandomUniformV2",
)
class StatelessRandom(Decomposition):
    """Counters, scrambled by a loop of ten rounds, and TensorFlow's conversion of these 32-bit words to numbers.

    Source: tensorflow/core, lib/random/philox_random.h and random_distributions.h (the numbers),
    kernels/stateless_random_ops_v2_util.h and random_op_cpu.h (key and counter, order of the numbers).
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        (result,) = op.results
        generator = generator_of(op, b)
        kind = op.name.removeprefix("StatelessRandom").removesuffix("V2")
        of_integers = kind in {"UniformFullInt", "UniformInt"} and result.dtype in ("int32", "int64")
        if not of_integers and (result.dtype != "float32" or kind not in {"Normal", "Uniform"}):
            raise NotDecomposed(f"no rewriting of it for {result.dtype}")
        # The number of words per element, and the number of groups of four words.
        words = 2 if result.dtype == "int64" else 1

        def make(sizes: list[MixedSize]) -> Tensor:
            count = b.product(sizes)
            groups = _groups(count * words)
            pairs = b.reshape(first_words(b, generator, groups), [groups * 2, 2])
            return b.reshape(b.slice(self._numbers(op, b, kind, pairs), 0, 0, count), sizes)

        return of_wanted_shape(op, b, make)

    def _numbers(self, op: TensorFlowOp, b: Builder, kind: str, pairs: Tensor) -> Tensor:
        """Emits the numbers of the op's distribution and dtype, as a vector, from pairs of words."""
        if kind == "Normal":
            return _normal(b, pairs)
        if op.results[0].dtype == "int64":
            low, high = (b.reshape(b.slice(pairs, 1, at, at + 1), [b.size(pairs, 0)]) for at in (0, 1))
            if kind == "UniformFullInt":
                return int64_of(low, high)
            size = count_between(op, len(op.operands) - 2, len(op.operands) - 1)
            return int64_between(b, low, high, op.operands[-2], op.operands[-1], size)
        words = b.reshape(pairs, [b.size(pairs, 0) * 2])
        if kind == "Uniform":
            return unit_interval(b, words)
        return int32_of(b, words) if kind == "UniformFullInt" else int32_between(b, words, *op.operands[-2:])


@decomposition("StatelessTruncatedNormal", "StatelessTruncatedNormalV2")
# The rewriting contains a loop, which only the engine can lower, and the key has a dtype that LiteRT lacks.
@before_engine("StatelessTruncatedNormal", "StatelessTruncatedNormalV2")
class StatelessTruncatedNormal(Decomposition):
    """Draws four numbers each from a generator of their own: the first normally distributed ones between -2 and 2.

    Of 16 that are drawn at once, fewer than four are in this range in one of 10^14 cases.

    Source: tensorflow/core, kernels/random_op_cpu.h, lib/random/random_distributions.h.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        if op.results[0].dtype != "float32":
            raise NotDecomposed(f"no rewriting of it for {op.results[0].dtype}")
        return of_wanted_shape(op, b, lambda sizes: self._in_shape(op, b, sizes))

    def _in_shape(self, op: TensorFlowOp, b: Builder, shape: list[MixedSize]) -> Tensor:
        count = b.product(shape)
        groups = _groups(count)
        # The draws of a group are consecutive; those of the next group begin at an offset of 256.
        begins = b.reshape(b.cast(b.range(groups), "int64"), [groups, 1]) * _RESERVED
        draws = groups * (_DRAWS // 4)
        places = begins + b.constant(np.arange(_DRAWS // 4)[None], "int64")
        words = philox_words(b, generator_of(op, b), b.reshape(places, [draws]))
        numbers = _normal(b, b.reshape(words, [draws * 2, 2]))
        drawn = groups * _DRAWS
        rows = b.reshape(numbers, [groups, _DRAWS])
        # TopK selects the largest marks: of the numbers in the range, those of the first ones.
        marks = b.constant(np.arange(_DRAWS, 0, -1)[None], "float32")
        taken = select(abs(rows) < 2.0, marks, 0.0)
        kinds = [((rows.shape[0], 4), "float32"), ((rows.shape[0], 4), "int32")]
        _, order = b.ops("TopKV2", [taken, b.scalar(4)], kinds, sorted=True)
        before = b.reshape(b.range(groups), [groups, 1]) * _DRAWS
        chosen = b.reshape(order + before, [groups * 4])
        return b.reshape(b.gather(b.reshape(rows, [drawn]), b.slice(chosen, 0, 0, count)), shape)


@decomposition("StatelessShuffle")
# The rewriting contains a loop, which only the engine can lower, and the key has a dtype that LiteRT lacks.
@before_engine("StatelessShuffle")
def stateless_shuffle(op: TensorFlowOp, b: Builder) -> Tensor:
    """Swaps each row except the last with itself or one after it, in a loop.

    Source: tensorflow/core/kernels/random_shuffle_op.cc.
    """
    value = op.operands[0]
    rows = b.size(value, 0)
    groups = _groups(rows)
    words = b.reshape(first_words(b, generator_of(op, b), groups), [groups * 4])
    left = b.cast(b.scalar(rows) - b.range(rows), "int64")
    steps = b.cast(b.slice(words, 0, 0, rows) % left, "int32")

    def turn(number: Tensor, values: Sequence[Tensor]) -> Sequence[Tensor]:
        (order,) = values
        other = number + b.gather(steps, number)
        places = b.reshape(b.stack([number, other], 0), [2, 1])
        exchanged = b.gather(order, b.stack([other, number], 0))
        return [b.op("TensorScatterUpdate", [order, places, exchanged], order.shape, "int32")]

    (order,) = count_to(b, rows - 1, [b.range(rows)], turn)
    return b.gather(value, order)


@decomposition("StatelessMultinomial")
# The rewriting contains a loop, which only the engine can lower, and the key has a dtype that LiteRT lacks.
@before_engine("StatelessMultinomial")
class StatelessMultinomial(Decomposition):
    """``tf.random.stateless_categorical``: the first class whose cumulative weight is above a random number.

    The sums are float32, while TensorFlow's are float64: a different class is drawn only if a number is between two
    classes except for rounding. The order of the numbers is that of one thread; TensorFlow restarts at each thread's
    first row if there are so many draws that it uses several threads.

    Source: tensorflow/core/kernels/multinomial_op.cc, lib/random/simple_philox.h and random_distributions.h.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0, 2)
        op.require(0, "bfloat16", "float16", "float32")
        logits = b.cast(op.operands[0], "float32")
        rows, classes = b.sizes(logits)
        known = op.constants[1]
        samples = b.cast(op.operands[1], "int32") if known is None else int(known)
        # A class whose logit is infinite or NaN has the weight 0.
        finite = where_finite(logits)
        largest = b.reduce("Max", select(finite, logits, -LARGEST), 1, keep_dims=True)
        weights = select(finite, exp(logits - largest), 0.0)
        sums = b.reshape(b.cumsum(weights, 1), [rows, 1, classes])
        numbers = b.reshape(self._numbers(op, b, b.product([rows, samples])), [rows, samples, 1])
        wanted = numbers * b.reduce("Max", sums, 2, keep_dims=True)
        below = b.cast(sums <= wanted, "int32")
        return b.cast(b.reduce("Sum", below, 2), op.results[0].dtype)

    def _numbers(self, op: TensorFlowOp, b: Builder, count: MixedSize) -> Tensor:
        """Emits the leading bits of TensorFlow's random float64 numbers in [0, 1), as float32 ``[count]``."""
        groups = _groups(count * 2)
        words = first_words(b, seeded(b, b.cast(_pair(op, 2, b), "int64")), groups)
        pairs = b.slice(b.reshape(words, [groups * 2, 2]), 0, 0, count)
        # The first word contains the leading 20 bits of the mantissa.
        first = b.slice(pairs, 1, 0, 1) % (MANTISSA // 8) * 8
        rest = b.slice(pairs, 1, 1, 2) // (WORD // 8)
        return unit_interval(b, first + rest)


def _groups(words: MixedSize) -> MixedSize:
    """Returns the number of groups of four that contain this many words."""
    return (words + 3) // 4


def generator_of(op: TensorFlowOp, b: Builder) -> Generator:
    """Emits the generator of an op: derived from two seeds, or the current state of a ``tf.random.Generator``.

    Raises:
        NotDecomposed: The bits of the key are unknown, or another algorithm is requested.
    """
    if op.types[1].dtype in {"int32", "int64"}:
        return seeded(b, b.cast(_pair(op, 1, b), "int64"))
    _, key, counter, algorithm = op.operands[:4]
    known = op.constants[3]
    if not producer(algorithm, *_ALGORITHM_MAKERS) and (known is None or int(known) not in _ALGORITHMS):
        raise NotDecomposed("its generator is not Philox")
    maker = producer(key, *_KEY_MAKERS)
    if maker is not None and maker == producer(counter, *_KEY_MAKERS):
        return seeded(b, b.cast(b.reshape(maker.operands[0], [2]), "int64"))
    return continued(b, _bits(b, key, 1), _bits(b, counter, 2))


def _bits(b: Builder, value: Tensor, count: int) -> Tensor:
    """Emits the uint64 numbers of a key or counter, a bitcast of int64, as int64: LiteRT lacks uint64."""
    cast = producer(value, "tf.Bitcast")
    if cast is None or tensor_type_of(cast.operands[0]).dtype != "int64":
        raise NotDecomposed("its key is made neither of a seed nor of the bits of int64")
    return b.reshape(cast.operands[0], [count])


def _pair(op: TensorFlowOp, operand: int, b: Builder) -> Tensor:
    """Returns the seeds, which are two by the op's definition."""
    shape = op.shape(operand, 1)
    if shape == (None,):
        return b.reshape(op.operands[operand], [2])
    if shape != (2,):
        raise NotDecomposed("its seed is not two numbers")
    return op.operands[operand]


def _normal(b: Builder, pairs: Tensor) -> Tensor:
    """Emits the Box-Muller transform of pairs of words."""
    uniform = unit_interval(b, pairs)
    size = maximum(b.slice(uniform, 1, 0, 1), 1e-7)
    angle = b.slice(uniform, 1, 1, 2) * (2 * math.pi)
    radius = sqrt(log(size) * -2.0)
    both = b.concat([sin(angle), cos(angle)], 1)
    return b.reshape(both * radius, [b.size(pairs, 0) * 2])
