"""Fourier transforms as products with the matrix of the transform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.complex_numbers import complex_of, parts_of
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["FourierTransform"]

_RANKS = {"FFT": 1, "FFT2D": 2, "FFT3D": 3, "IFFT": 1, "IFFT2D": 2, "IFFT3D": 3}
# The matrix has the square of so many elements.
_MAX_SIZE = 4096


class FourierTransform(Decomposition):
    """``X[k] = sum_n x[n] exp(-2 pi i k n / N)``, one dimension after the other, in float32.

    The cosines and sines are rounded from float64; the error is a few float32 roundings of the largest value. A product
    takes N multiplications for each number, a fast transform log N: these are for the sizes of models, not of signals.
    """

    names = tuple(_RANKS)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "complex64")
        inverse = op.name.startswith("I")
        real, imaginary = parts_of(b, op.operands[0])
        for axis in range(len(shape) - _RANKS[op.name], len(shape)):
            size = shape[axis]
            if size is None or size > _MAX_SIZE:
                raise NotDecomposed(f"dimension {axis} of size {size or 'unknown'}; it must be at most {_MAX_SIZE}")
            real, imaginary = _transformed(b, real, imaginary, axis, size, inverse=inverse)
        return complex_of(b, real, imaginary)


def _transformed(
    b: Builder, real: ir.Value, imaginary: ir.Value, axis: int, size: int, *, inverse: bool
) -> tuple[ir.Value, ir.Value]:
    turns = np.outer(np.arange(size), np.arange(size)) % size / size
    sign, scale = (1, 1 / size) if inverse else (-1, 1)
    cosines = b.constant(np.cos(2 * np.pi * turns) * scale, "float32")
    sines = b.constant(sign * np.sin(2 * np.pi * turns) * scale, "float32")
    rank = len(b.shape(real))
    order = [*(each for each in range(rank) if each != axis), axis]
    last = axis == rank - 1
    parts = [part if last else b.transpose(part, order) for part in (real, imaginary)]
    sizes = b.sizes(parts[0])
    rows = b.product(sizes[:-1])
    flat = [b.reshape(part, [rows, size]) for part in parts]

    def product(part: ir.Value, matrix: ir.Value) -> ir.Value:
        shape = (b.shape(part)[0], size)
        return b.op("MatMul", [part, matrix], shape, "float32", transpose_a=False, transpose_b=False)

    results = [
        b.binary("Sub", product(flat[0], cosines), product(flat[1], sines)),
        b.binary("AddV2", product(flat[0], sines), product(flat[1], cosines)),
    ]
    back = [order.index(each) for each in range(rank)]
    shaped = [b.reshape(result, sizes) for result in results]
    first, second = [value if last else b.transpose(value, back) for value in shaped]
    return first, second
