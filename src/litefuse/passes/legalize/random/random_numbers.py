"""Random numbers without a seed: LiteRT's RANDOM_UNIFORM is sufficient, as only the distribution is specified."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import element_type_of
from litefuse.passes.legalize.decomposition import before_engine, decomposition
from litefuse.passes.legalize.random.philox import MANTISSA, WORD, count_between, int32_between, int64_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.ir.builder import Builder, MixedSize

# RANDOM_UNIFORM's numbers have 23 random bits.
_BITS = 16
# How many numbers of a dtype TensorFlow draws from [0, 1).
_MANTISSAS = {"bfloat16": 1 << 7, "float16": 1 << 10}
# The probability of a standard normal number below -2, where TensorFlow truncates the distribution, and above 2.
_CUT_OFF = 0.5 * math.erfc(math.sqrt(2))


def of_wanted_shape(op: TensorFlowOp, b: Builder, make: Callable[[list[MixedSize]], Tensor]) -> Tensor:
    """Emits the result of an op whose first operand is its shape.

    Args:
        op: The op.
        b: Emits the ops.
        make: Emits a value with some sizes; if the rank of the result is unknown, a vector, which is reshaped.
    """
    (result,) = op.results
    wanted = op.operands[0]
    if result.shape is not None:
        return make(b.sizes_in(wanted, result.shape))
    wanted = b.cast(wanted, "int32")
    count = b.op("Prod", [wanted, b.constant([0], "int32")], [], "int32", keep_dims=False)
    kind = ir.UnrankedTensorType.get(element_type_of(result.dtype))
    return Tensor(create_value("tf.Reshape", kind, [make([count]), wanted]))


@decomposition("RandomUniformInt")
# Numbers of int64 from many may need a loop, which only the engine can lower.
@before_engine("RandomUniformInt", dtypes=("int64",), operand=1)
def random_uniform_int(op: TensorFlowOp, b: Builder) -> Tensor:
    """``RandomUniformInt`` from 32 random bits for each number of int32, and 64 for each of int64.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RandomUniformInt.
    """
    _require_no_seed(op)
    low, high = op.operands[1:]
    count = count_between(op, 1, 2)

    def make(sizes: list[MixedSize]) -> Tensor:
        if op.results[0].dtype == "int32":
            return int32_between(b, _word(b, sizes), low, high)
        if count is not None and 0 < count <= WORD:
            return low + _word(b, sizes) % count
        return int64_between(b, _word(b, sizes), _word(b, sizes), low, high, count)

    return of_wanted_shape(op, b, make)


@decomposition("TruncatedNormal")
def truncated_normal(op: TensorFlowOp, b: Builder) -> Tensor:
    """``TruncatedNormal`` by the inverse of its distribution function.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/TruncatedNormal.
    """
    dtype = op.results[0].dtype
    if dtype != "float32":
        raise NotDecomposed(f"LiteRT's random numbers are float32, not {dtype}")
    _require_no_seed(op)

    def make(sizes: list[MixedSize]) -> Tensor:
        share = _uniform(b, sizes) * (1 - 2 * _CUT_OFF)
        return b.unary("Ndtri", share + _CUT_OFF)

    return of_wanted_shape(op, b, make)


@decomposition("RandomStandardNormal", "RandomUniform")
def random_floats(op: TensorFlowOp, b: Builder) -> Tensor:
    """LiteRT's ops, which are of float32 and take a shape of int32, for other dtypes of both.

    TensorFlow makes narrow numbers in [0, 1) of the last bits of the same words, and rounds normal ones.

    Source: tensorflow/core/lib/random/random_distributions.h.
    """
    dtype = op.results[0].dtype
    if dtype not in {"float32", *_MANTISSAS}:
        raise NotDecomposed(f"LiteRT's random numbers are float32, not {dtype}")

    def make(sizes: list[MixedSize]) -> Tensor:
        numbers = b.op(op.name, [b.vector(sizes)], b.known(sizes), "float32", **b.options(op))
        if op.name == "RandomUniform" and dtype != "float32":
            count = _MANTISSAS[dtype]
            last = numbers * MANTISSA % count
            numbers = last * (1 / count)
        return b.cast(numbers, dtype)

    return of_wanted_shape(op, b, make)


@decomposition("RandomShuffle")
def random_shuffle(op: TensorFlowOp, b: Builder) -> Tensor:
    """Sorts the rows by random numbers, twice.

    There are 2^23 such numbers, and rows with equal ones keep their order: that of the first sorting, which is random.

    Definition: https://www.tensorflow.org/api_docs/python/tf/random/shuffle.
    """
    shape = op.shape(0)
    (value,) = op.operands
    if not shape:
        return value
    _require_no_seed(op)
    rows = b.size(value, 0)
    orders: list[Tensor] = []
    for _ in range(2):
        operands = [_uniform(b, [rows]), b.scalar(rows)]
        kinds = [((shape[0],), "float32"), ((shape[0],), "int32")]
        orders.append(b.ops("TopKV2", operands, kinds, sorted=True)[1])
    first, second = orders
    return b.gather(value, b.gather(first, second))


def _require_no_seed(op: TensorFlowOp) -> None:
    if op.attributes.get("seed", 0) or op.attributes.get("seed2", 0):
        raise NotDecomposed("it has a seed, and the numbers that TensorFlow makes of it cannot be made")


def _word(b: Builder, sizes: Sequence[MixedSize]) -> Tensor:
    """Emits random 32-bit words, as int64."""
    halves = [b.cast(_uniform(b, sizes) * float(1 << _BITS), "int32") for _ in range(2)]
    upper, lower = (b.cast(half, "int64") for half in halves)  # casts truncate
    return upper * (1 << _BITS) + lower


def _uniform(b: Builder, sizes: Sequence[MixedSize]) -> Tensor:
    """Emits numbers in [0, 1)."""
    return b.op("RandomUniform", [b.vector(sizes)], b.known(sizes), "float32", seed=0, seed2=0)
