"""Fourier transforms as matrix products with the DFT matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arithmetic.complex_numbers import complex_of, parts_of
from litefuse.passes.legalize.arrays.numpy_formulas import Array, number, positions
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

# The matrix has the square of this many elements.
_MAX_SIZE = 4096


@decomposition("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
# Fault `transform-of-real-numbers`.
@before_engine("FFT")
def fourier_transform(op: TensorFlowOp, b: Builder) -> Tensor:
    """``X[k] = sum_n x[n] exp(-2 pi i k n / N)``, one dimension after the other, in float32.

    The cosines and sines are rounded from float64, or computed in the model if a dimension is dynamic. The error is a
    few float32 roundings of the largest value. A product takes N multiplications per element, a fast transform log N:
    this is for sizes as in models, not for long signals.
    """
    shape = op.shape(0)
    op.require(0, "complex64")
    inverse = op.name.startswith("I")
    real, imaginary = parts_of(b, op.operands[0])
    rank = int(op.name[-2]) if op.name.endswith("D") else 1
    for axis in range(len(shape) - rank, len(shape)):
        size = b.size(real, axis) if shape[axis] is None else _size(shape, axis)
        real, imaginary = _transformed(b, real, imaginary, axis, size, inverse=inverse)
    return complex_of(b, real, imaginary)


@decomposition("RFFT", "RFFT2D")
# Faults `transform-of-other-lengths` and `transform-of-one`.
@before_engine("RFFT", "RFFT2D")
class RealFourierTransform(Decomposition):
    """The nonnegative frequencies of the transform of real numbers.

    LiteRT's RFFT2D only supports powers of two, and is wrong for 1; an unknown length may be any.

    Definition: https://www.tensorflow.org/api_docs/python/tf/signal/rfft, rfft2d.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        lengths = op.constants[1]
        return lengths is None or lengths[-1] == 1 or any(int(length).bit_count() != 1 for length in lengths)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32")
        lengths = _lengths(op, b)
        last = len(op.shape(0)) - 1
        value = op.operands[0]
        first = last + 1 - len(lengths)
        for axis, length in enumerate(lengths, first):
            value = _cut(b, value, axis, length)
        # The engine folds a length that follows from the operand's shape, but not one of the slices.
        lengths = [b.size(value, axis) for axis in range(first, last + 1)]
        cosines, sines = _waves(b, lengths[-1], _frequencies(lengths[-1]))
        flat, restore = _rows(b, value, last)
        real, imaginary = (restore(_product(b, flat, matrix)) for matrix in (cosines, -sines))
        if len(lengths) == 2:
            real, imaginary = _transformed(b, real, imaginary, last - 1, lengths[0], inverse=False)
        return complex_of(b, real, imaginary)


@decomposition("IRFFT", "IRFFT2D", composite=True)
def inverse_real_fourier_transform(op: TensorFlowOp, b: Builder) -> Tensor:
    """Real numbers from their nonnegative frequencies; the negative ones are the conjugates of these.

    Definition: https://www.tensorflow.org/api_docs/python/tf/signal/irfft, irfft2d.
    """
    op.require(0, "complex64")
    lengths = _lengths(op, b)
    last = len(op.shape(0)) - 1
    count, given = lengths[-1], _frequencies(lengths[-1])
    needed = {last: given} if len(lengths) == 1 else {last - 1: lengths[0], last: given}
    parts: list[Tensor] = []
    for part in parts_of(b, op.operands[0]):
        cut = part
        for axis, size in needed.items():
            cut = _cut(b, cut, axis, size)
        parts.append(cut)
    real, imaginary = parts
    if len(lengths) == 2:
        real, imaginary = _transformed(b, real, imaginary, last - 1, lengths[0], inverse=True)
    # Each frequency counts twice, for its conjugate too, except the first, and the middle one of an even length.
    whole, frequencies = number(b, count, np.float64), positions(b, given, [1, given], np.float64)
    weights: Any = np.where(frequencies == 0, 1.0, np.where(2 * frequencies == whole, 1.0, 2.0)) / whole
    cosines, sines = (np.transpose(waves * weights) for waves in _waves(b, count, given))
    flat, restore = _rows(b, real, last)
    other, _ = _rows(b, imaginary, last)
    return restore(_product(b, flat, cosines) - _product(b, other, sines))


def _lengths(op: TensorFlowOp, b: Builder) -> list[MixedSize]:
    """Returns the numbers in ``fft_length``, computed in the model if they are not constants."""
    known = op.constants[1]
    if known is None:
        return b.sizes_in(op.operands[1], _stated_lengths(op))
    lengths: list[MixedSize] = [int(length) for length in known.reshape(-1)]
    if not all(isinstance(length, int) and 0 < length <= _MAX_SIZE for length in lengths):
        raise NotDecomposed(f"fft_length is {lengths}; it must be from 1 to {_MAX_SIZE}")
    return lengths


def _stated_lengths(op: TensorFlowOp) -> list[int | None]:
    """Returns the elements of ``fft_length`` that follow from the shapes of the operand and the result."""
    count = 2 if op.name.endswith("2D") else 1
    stated = list((op.results[0].shape or [None] * count)[-count:])
    if not op.name.startswith("I"):
        # An even length and the odd one after it have equally many frequencies, but none exceeds the operand's size.
        size = op.shape(0)[-1]
        stated[-1] = size if size is not None and size % 2 == 0 and stated[-1] == size // 2 + 1 else None
    return stated


def _frequencies(length: MixedSize) -> MixedSize:
    """Returns the number of nonnegative frequencies of real numbers."""
    return length // 2 + 1


def _size(shape: Sequence[int | None], axis: int) -> int:
    size = shape[axis]
    if size is None or size > _MAX_SIZE:
        raise NotDecomposed(f"dimension {axis} of size {size or 'unknown'}; it must be at most {_MAX_SIZE}")
    return size


def _cut(b: Builder, value: Tensor, axis: int, length: MixedSize) -> Tensor:
    """Emits the first elements along a dimension; as in TensorFlow, fewer than ``length`` are not supported."""
    size = value.shape[axis]
    if size is not None and isinstance(length, int) and size < length:
        raise NotDecomposed(f"dimension {axis} has {size} elements, and fft_length needs {length}")
    return value if isinstance(length, int) and size == length else b.slice(value, axis, 0, length)


def _waves(b: Builder, size: MixedSize, frequencies: MixedSize) -> tuple[Any, Any]:
    """Emits the cosines and sines of frequencies, ``[size, frequencies]``."""
    if isinstance(size, int) and isinstance(frequencies, int):
        # Full turns do not matter.
        turns = np.outer(np.arange(size), np.arange(frequencies)) % size
        angles: Any = turns * (2 * np.pi / size)
    else:
        rows, columns = b.reshape(b.range(size), [size, 1]), b.reshape(b.range(frequencies), [1, frequencies])
        turns = rows * columns % b.scalar(size)
        angles = Array(b, b.cast(turns, "float32")) * (2 * np.pi / number(b, size))
    return np.cos(angles), np.sin(angles)


def _transformed(
    b: Builder, real: Tensor, imaginary: Tensor, axis: int, size: MixedSize, *, inverse: bool
) -> tuple[Tensor, Tensor]:
    cosines, sines = _waves(b, size, size)
    whole = number(b, size, np.float64)
    sines = sines / whole if inverse else -sines
    cosines = cosines / whole if inverse else cosines
    first, restore = _rows(b, real, axis)
    second, _ = _rows(b, imaginary, axis)
    results = [
        _product(b, first, cosines) - _product(b, second, sines),
        _product(b, first, sines) + _product(b, second, cosines),
    ]
    return restore(results[0]), restore(results[1])


def _rows(b: Builder, value: Tensor, axis: int) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Emits a matrix whose rows run along a dimension; also returns a function that restores the layout."""
    rank = len(value.shape)
    order = [*(each for each in range(rank) if each != axis), axis]
    moved = b.transpose(value, order)
    sizes = b.sizes(moved)

    def restore(matrix: Tensor) -> Tensor:
        shaped = b.reshape(matrix, [*sizes[:-1], b.size(matrix, 1)])
        return b.transpose(shaped, [order.index(each) for each in range(rank)])

    return b.reshape(moved, [b.product(sizes[:-1]), sizes[-1]]), restore


def _product(b: Builder, rows: Tensor, matrix: Any) -> Tensor:
    factor = matrix.value if isinstance(matrix, Array) else b.constant(matrix, "float32")
    shape = (rows.shape[0], factor.shape[1])
    return b.op("MatMul", [rows, factor], shape, "float32", transpose_a=False, transpose_b=False)
