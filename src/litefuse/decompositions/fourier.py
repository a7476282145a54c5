"""Fourier transforms as products with the matrix of the transform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.decompositions.arrays import Array, number, positions
from litefuse.decompositions.complex_numbers import complex_of, parts_of
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["FourierTransform", "InverseRealFourierTransform", "RealFourierTransform"]

_RANKS = {"FFT": 1, "FFT2D": 2, "FFT3D": 3, "IFFT": 1, "IFFT2D": 2, "IFFT3D": 3}
# The matrix has the square of so many elements.
_MAX_SIZE = 4096


class FourierTransform(Decomposition):
    """``X[k] = sum_n x[n] exp(-2 pi i k n / N)``, one dimension after the other, in float32.

    The cosines and sines are rounded from float64, and computed in the model where a size is open; the error is a few
    float32 roundings of the largest value. A product takes N multiplications for each number, a fast transform log N:
    these are for the sizes of models, not of signals.
    """

    names = tuple(_RANKS)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "complex64")
        inverse = op.name.startswith("I")
        real, imaginary = parts_of(b, op.operands[0])
        for axis in range(len(shape) - _RANKS[op.name], len(shape)):
            size = b.size(real, axis) if shape[axis] is None else _size(shape, axis)
            real, imaginary = _transformed(b, real, imaginary, axis, size, inverse=inverse)
        return complex_of(b, real, imaginary)


class RealFourierTransform(Decomposition):
    """The frequencies from 0 on of the transform of real numbers.

    LiteRT's RFFT2D takes powers of two only, and is wrong for 1.

    Definition: https://www.tensorflow.org/api_docs/python/tf/signal/rfft, rfft2d.
    """

    names = ("RFFT", "RFFT2D")

    def before_lowering(self, op: TensorFlowOp) -> bool:
        lengths = op.constants[1]
        return lengths is not None and (lengths[-1] == 1 or any(int(length).bit_count() != 1 for length in lengths))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.require(0, "float32")
        lengths = _lengths(op)
        last = len(op.shape(0)) - 1
        value = op.operands[0]
        for axis, length in zip(range(last + 1 - len(lengths), last + 1), lengths, strict=True):
            value = _cut(b, value, axis, length)
        cosines, sines = _waves(b, lengths[-1], lengths[-1] // 2 + 1)
        flat, restore = _rows(b, value, last)
        real, imaginary = (restore(_product(b, flat, matrix)) for matrix in (cosines, -sines))
        if len(lengths) == 2:
            real, imaginary = _transformed(b, real, imaginary, last - 1, lengths[0], inverse=False)
        return complex_of(b, real, imaginary)


class InverseRealFourierTransform(Decomposition):
    """The real numbers of which the frequencies from 0 on are given; the others are their conjugates.

    Definition: https://www.tensorflow.org/api_docs/python/tf/signal/irfft, irfft2d.
    """

    names = ("IRFFT", "IRFFT2D")
    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.require(0, "complex64")
        lengths = _lengths(op)
        last = len(op.shape(0)) - 1
        count, given = lengths[-1], lengths[-1] // 2 + 1
        needed = {last: given} if len(lengths) == 1 else {last - 1: lengths[0], last: given}
        parts: list[ir.Value] = []
        for part in parts_of(b, op.operands[0]):
            cut = part
            for axis, size in needed.items():
                cut = _cut(b, cut, axis, size)
            parts.append(cut)
        real, imaginary = parts
        if len(lengths) == 2:
            real, imaginary = _transformed(b, real, imaginary, last - 1, lengths[0], inverse=True)
        # Each frequency stands for its conjugate too, but the first, and the one in the middle of an even number.
        weights: npt.NDArray[Any] = (
            np.where((np.arange(given) == 0) | (2 * np.arange(given) == count), 1.0, 2.0) / count
        )
        cosines, sines = (np.transpose(waves * weights) for waves in _waves(b, count, given))
        flat, restore = _rows(b, real, last)
        other, _ = _rows(b, imaginary, last)
        return restore(b.binary("Sub", _product(b, flat, cosines), _product(b, other, sines)))


def _lengths(op: TensorFlowOp) -> list[int]:
    lengths = [int(length) for length in op.constant(1).reshape(-1)]
    if not 0 < min(lengths) <= max(lengths) <= _MAX_SIZE:
        raise NotDecomposed(f"fft_length is {lengths}; it must be from 1 to {_MAX_SIZE}")
    return lengths


def _size(shape: Sequence[int | None], axis: int) -> int:
    size = shape[axis]
    if size is None or size > _MAX_SIZE:
        raise NotDecomposed(f"dimension {axis} of size {size or 'unknown'}; it must be at most {_MAX_SIZE}")
    return size


def _cut(b: Builder, value: ir.Value, axis: int, length: int) -> ir.Value:
    """The first elements along a dimension; TensorFlow's ops do not take fewer than they need either."""
    size = b.shape(value)[axis]
    if size is not None and size < length:
        raise NotDecomposed(f"dimension {axis} has {size} elements, and fft_length needs {length}")
    return value if size == length else b.slice(value, axis, 0, length)


def _waves(b: Builder, size: Dim, frequencies: Dim) -> tuple[Any, Any]:
    """The cosines and sines of frequencies, ``[size, frequencies]``."""
    whole = number(b, size, np.float64)
    turns = positions(b, size, [size, 1], np.float64) * positions(b, frequencies, [1, frequencies], np.float64)
    # Exact in float32 as well, up to _MAX_SIZE: one turn more or less does not matter.
    angles = (turns - np.floor(turns / whole) * whole) * (2 * np.pi / whole)
    return np.cos(angles), np.sin(angles)


def _transformed(
    b: Builder, real: ir.Value, imaginary: ir.Value, axis: int, size: Dim, *, inverse: bool
) -> tuple[ir.Value, ir.Value]:
    cosines, sines = _waves(b, size, size)
    whole = number(b, size, np.float64)
    sines = sines / whole if inverse else -sines
    cosines = cosines / whole if inverse else cosines
    first, restore = _rows(b, real, axis)
    second, _ = _rows(b, imaginary, axis)
    results = [
        b.binary("Sub", _product(b, first, cosines), _product(b, second, sines)),
        b.binary("AddV2", _product(b, first, sines), _product(b, second, cosines)),
    ]
    return restore(results[0]), restore(results[1])


def _rows(b: Builder, value: ir.Value, axis: int) -> tuple[ir.Value, Callable[[ir.Value], ir.Value]]:
    """A matrix with a dimension as its rows, and what makes the value's shape again of one with as many rows."""
    rank = len(b.shape(value))
    order = [*(each for each in range(rank) if each != axis), axis]
    moved = b.transpose(value, order)
    sizes = b.sizes(moved)

    def restore(matrix: ir.Value) -> ir.Value:
        shaped = b.reshape(matrix, [*sizes[:-1], b.size(matrix, 1)])
        return b.transpose(shaped, [order.index(each) for each in range(rank)])

    return b.reshape(moved, [b.product(sizes[:-1]), sizes[-1]]), restore


def _product(b: Builder, rows: ir.Value, matrix: Any) -> ir.Value:
    factor = matrix.value if isinstance(matrix, Array) else b.constant(matrix, "float32")
    shape = (b.shape(rows)[0], b.shape(factor)[1])
    return b.op("MatMul", [rows, factor], shape, "float32", transpose_a=False, transpose_b=False)
