"""Bitwise ops; LiteRT has only XOR and the right shift, up to 32 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, minimum, select
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

_WIDTHS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


@decomposition("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert")
def bitwise(op: TensorFlowOp, b: Builder) -> Tensor:
    """``x & y`` is ``(x + y - (x ^ y)) / 2``, ``x | y`` is ``(x + y + (x ^ y)) / 2``, and ``~x`` is ``x ^ -1``.

    Sums are computed in a wider dtype. 64-bit values are bitcast to pairs of int32.
    """
    rank = len(op.shape(0))
    op.require(0, *_WIDTHS)
    x = op.operands[0]
    dtype = x.dtype
    ones = b.constant(np.array(-1).astype(dtype), dtype)
    name, y = ("BitwiseXor", ones) if op.name == "Invert" else (op.name, op.operands[1])
    if _WIDTHS[dtype] < 64:
        return _bitwise(b, name, x, y)
    rank = max(rank, len(y.shape))
    pairs = [_pairs(b, value, rank) for value in (x, y)]
    value = _bitwise(b, name, *pairs)
    return b.op("Bitcast", [value], value.shape[:-1], dtype)


@decomposition("LeftShift", "RightShift")
def shift(op: TensorFlowOp, b: Builder) -> Tensor:
    """A left shift is a multiplication by a power of two, a right shift a division that is rounded down.

    The distance is clipped to 0 ... bits - 1, as in TensorFlow. uint64 is computed in int64, whose bits are the same:
    the first place of a right shift makes a number that is not negative.

    Definition: https://www.tensorflow.org/api_docs/python/tf/bitwise/left_shift, right_shift.
    """
    op.require(0, *_WIDTHS)
    x, distance = op.operands
    dtype = x.dtype
    bits = _WIDTHS[dtype]
    known = op.constants[1]
    if op.name == "RightShift" and dtype == "uint64" and known is not None and (known == bits // 2).all():
        return _upper_half(b, x)
    places = b.cast(distance, "int32")
    places = minimum(maximum(places, 0), bits - 1)
    if op.name == "RightShift" and dtype == "uint64":
        return _shifted_right(b, x, places)
    wide = "int32" if bits <= 32 and dtype != "uint32" else "int64"
    powers = b.constant(np.left_shift(np.ones(bits, wide), np.arange(bits)), wide)
    factor = b.gather(powers, places)
    if op.name == "LeftShift":
        return b.cast(b.cast(x, wide) * factor, dtype)
    # 2^63 is negative in int64, so a shift by 63 is computed from the sign.
    quotient = b.cast(x, wide) // maximum(factor, 1)
    if bits == 64:
        sign = minimum(b.unary("Sign", x), 0)
        quotient = select(equal(places, 63), sign, quotient)
    return b.cast(quotient, dtype)


def _upper_half(b: Builder, x: Tensor) -> Tensor:
    """Emits uint64 ``x >> 32``, as JAX splits the numbers of a count."""
    rank = len(x.shape)
    halves = b.op("Bitcast", [x], [*x.shape, 2], "uint32")
    upper = b.slice(halves, rank, 1, 2)
    zeros = upper ^ upper
    return b.op("Bitcast", [b.concat([upper, zeros], rank)], x.shape, "uint64")


def _shifted_right(b: Builder, x: Tensor, places: Tensor) -> Tensor:
    signed = b.bitcast(x, "int64")
    sign = select(signed < 0, b.constant(np.iinfo(np.int64).min, "int64"), 0)
    halved = signed // 2 - sign
    further = b.binary("RightShift", halved, b.cast(maximum(places - 1, 0), "int64"))
    return b.bitcast(select(equal(places, 0), signed, further), "uint64")


@decomposition("PopulationCount")
def population_count(op: TensorFlowOp, b: Builder) -> Tensor:
    """The sum over the bytes of their bit counts, which a table contains."""
    shape = op.shape(0)
    op.require(0, *_WIDTHS)
    (x,) = op.operands
    size = _WIDTHS[x.dtype] // 8
    octets = b.bitcast(x, "uint8") if size == 1 else b.op("Bitcast", [x], [*shape, size], "uint8")
    table = b.constant(np.array([number.bit_count() for number in range(256)]), "int32")
    counts = b.gather(table, b.cast(octets, "int32"))
    return b.cast(counts if size == 1 else b.reduce("Sum", counts, len(shape)), "uint8")


def _pairs(b: Builder, value: Tensor, rank: int) -> Tensor:
    while len(value.shape) < rank:  # the pairs are a dimension after those that broadcast
        value = b.expand(value, 0)
    return b.op("Bitcast", [value], [*value.shape, 2], "int32")


def _bitwise(b: Builder, name: str, x: Tensor, y: Tensor) -> Tensor:
    different = x ^ y
    if name == "BitwiseXor":
        return different
    dtype = x.dtype
    wide = "int64" if _WIDTHS[dtype] == 32 else "int32"
    total = b.cast(x, wide) + b.cast(y, wide)
    # This holds for signed numbers too: x = -2^n x_n + ..., and so does x ^ y.
    both = b.binary("Sub" if name == "BitwiseAnd" else "AddV2", total, b.cast(different, wide))
    return b.cast(both // 2, dtype)
