"""Random numbers without a seed: LiteRT's RANDOM_UNIFORM is sufficient, as only the distribution is specified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["RandomNumbers", "RandomShuffle"]

# RANDOM_UNIFORM's numbers have 23 random bits.
_BITS = 16
# The probability of a standard normal number below -2, where TensorFlow truncates the distribution, and above 2.
_CUT_OFF = 0.5 * math.erfc(math.sqrt(2))


@decomposition("RandomUniformInt", "TruncatedNormal")
class RandomNumbers(Decomposition):
    """``RandomUniformInt`` from 32 random bits, and ``TruncatedNormal`` by the inverse of its distribution function.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RandomUniformInt, TruncatedNormal.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        _require_no_seed(op)
        (result,) = op.results
        if result.shape is None:
            raise NotDecomposed("the result is of unknown rank")
        sizes = b.sizes_in(op.operands[0], result.shape)
        if op.name == "TruncatedNormal":
            if result.dtype != "float32":
                raise NotDecomposed(f"LiteRT's random numbers are float32, not {result.dtype}")
            share = b.binary("Mul", _uniform(b, sizes), 1 - 2 * _CUT_OFF)
            return b.unary("Ndtri", b.binary("AddV2", share, _CUT_OFF))
        low, high = (b.cast(value, "int64") for value in op.operands[1:])
        if result.dtype == "int64" and int(op.constant(2)) - int(op.constant(1)) > 1 << (2 * _BITS):
            raise NotDecomposed("it asks for more than 2^32 numbers of int64")
        words = [b.cast(b.binary("Mul", _uniform(b, sizes), float(1 << _BITS)), "int32") for _ in range(2)]
        upper, lower = (b.cast(word, "int64") for word in words)  # casts truncate
        bits = b.binary("AddV2", b.binary("Mul", upper, 1 << _BITS), lower)
        number = b.binary("AddV2", low, b.binary("FloorMod", bits, b.binary("Sub", high, low)))
        return b.cast(number, result.dtype)


@decomposition("RandomShuffle")
class RandomShuffle(Decomposition):
    """Sorts the rows by random numbers.

    Rows with equal numbers, of which there are 2^23, keep their order.

    Definition: https://www.tensorflow.org/api_docs/python/tf/random/shuffle.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        _require_no_seed(op)
        shape = op.shape(0)
        if not shape:
            raise NotDecomposed("a scalar has no rows")
        (value,) = op.operands
        rows = b.size(value, 0)
        operands = [_uniform(b, [rows]), b.scalar(rows)]
        _, order = b.ops("TopKV2", operands, [((shape[0],), "float32"), ((shape[0],), "int32")], sorted=True)
        return b.gather(value, order)


def _require_no_seed(op: TensorFlowOp) -> None:
    if op.attributes.get("seed", 0) or op.attributes.get("seed2", 0):
        raise NotDecomposed("it has a seed, and the numbers that TensorFlow makes of it cannot be made")


def _uniform(b: Builder, sizes: Sequence[MixedSize]) -> ir.Value:
    """Emits numbers in [0, 1)."""
    return b.op("RandomUniform", [b.vector(sizes)], b.known(sizes), "float32", seed=0, seed2=0)
