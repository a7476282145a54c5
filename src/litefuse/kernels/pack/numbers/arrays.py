"""Kernels of arrays: ``Bincount``, ``Cross``, ``Cumprod``, ``Erf``, ``LinSpace``, ``Roll`` and ``UnravelIndex``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import ANY, FLOATS, INDICES, NUMBERS, REAL, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


@pack_kernel("Cross", native=True)
class Cross(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.cross``).

    Inputs: ``a`` and ``b`` [..., 3], of the same shape and the same real dtype.

    Output: of the same shape and dtype, the cross product of each pair of vectors. Integers wrap around.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``cross_op.cc``).
    """

    dtypes = REAL

    def prepare(self, a: TensorSpec, b: TensorSpec) -> TensorSpec:
        if a.dtype.kind not in "iuf" and a.dtype.name != "bfloat16":
            raise KernelError(f"a must be of real numbers, not {a.dtype}")
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise KernelError(f"a and b must be alike, not {a.dtype} {a.shape} and {b.dtype} {b.shape}")
        if a.shape is None or a.shape[-1:] != (3,):
            raise KernelError(f"a and b must be vectors of three elements [..., 3], not {a.shape}")
        return TensorSpec(a.shape, a.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Computes each coordinate of the product from the other two coordinates of both vectors."""
        a, b = inputs
        next_, last = [1, 2, 0], [2, 0, 1]
        with np.errstate(all="ignore"):
            outputs[0][...] = a[..., next_] * b[..., last] - a[..., last] * b[..., next_]


@pack_kernel("Cumprod", native=True)
class Cumprod(CustomOp):
    """TensorFlow's op of the same name (``tf.math.cumprod``).

    Inputs: ``x``, of any numeric dtype; ``axis``, a scalar of int32 or int64, may be negative.

    Output: of the same shape and dtype: the product of all elements of x along the axis up to this one. Integers wrap
    around.

    Options: ``exclusive``, false if missing: whether this element is excluded; ``reverse``, false if missing: whether
    to multiply from this element to the end instead.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``scan_ops.cc``).
    """

    dtypes = NUMBERS

    def prepare(self, x: TensorSpec, axis: TensorSpec) -> TensorSpec:
        if x.dtype.kind not in "iufc" and x.dtype.name != "bfloat16":
            raise KernelError(f"x must be of numbers, not {x.dtype}")
        if axis.shape != () or axis.dtype.name not in ("int32", "int64"):
            raise KernelError(f"axis must be a scalar of int32 or int64, not {axis.dtype} {axis.shape}")
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, exclusive: bool = False, reverse: bool = False) -> None:
        x, axis = inputs[0], int(inputs[1])
        if not -x.ndim <= axis < x.ndim:
            raise KernelError(f"axis must be from {-x.ndim} to {x.ndim - 1} for x of rank {x.ndim}, not {axis}")
        source: Any = np.moveaxis(x, axis, 0)
        result: Any = np.moveaxis(outputs[0], axis, 0)
        if reverse:
            source, result = source[::-1], result[::-1]
        if exclusive:
            result[:1] = 1
            source, result = source[:-1], result[1:]
        with np.errstate(all="ignore"):
            np.multiply.accumulate(source, axis=0, out=result)


@pack_kernel("Erf", native=True)
class Erf(CustomOp):
    """TensorFlow's op of the same name (``tf.math.erf``).

    Input: ``x``, of floating point numbers.

    Output: of the same shape and dtype: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``cwise_op_erf.cc``).
    """

    dtypes = FLOATS

    def prepare(self, x: TensorSpec) -> TensorSpec:
        if x.dtype.kind != "f" and x.dtype.name != "bfloat16":
            raise KernelError(f"x must be of floating point numbers, not {x.dtype}")
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Computes in double precision with the C library's function, since numpy has none."""
        numbers: Any = inputs[0]
        values = np.fromiter(map(math.erf, numbers.reshape(-1).astype(np.float64).tolist()), np.float64, numbers.size)
        outputs[0][...] = values.reshape(numbers.shape)


@pack_kernel("LinSpace", native=True)
class LinSpace(CustomOp):
    """TensorFlow's op of the same name (``tf.linspace``).

    Inputs: ``start`` and ``stop``, scalars of the same floating point dtype; ``num``, a scalar of int32 or int64.

    Output: [num] of the same dtype: ``start + i * (stop - start) / (num - 1)`` for i from 0 on, and exactly ``stop`` at
    the end; just ``start`` if num is 1. Its shape is known once ``num`` is.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``sequence_ops.cc``).
    """

    dtypes = FLOATS

    def prepare(self, start: TensorSpec, stop: TensorSpec, num: TensorSpec) -> TensorSpec:
        if start.shape != () or (start.dtype.kind != "f" and start.dtype.name != "bfloat16"):
            raise KernelError(f"start must be a floating point scalar, not {start.dtype} {start.shape}")
        if stop.shape != () or stop.dtype != start.dtype:
            raise KernelError(f"stop must be a scalar of {start.dtype}, not {stop.dtype} {stop.shape}")
        if num.shape != () or num.dtype.name not in ("int32", "int64"):
            raise KernelError(f"num must be a scalar of int32 or int64, not {num.dtype} {num.shape}")
        return TensorSpec(None if num.value is None else (_positive(num.value),), start.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Computes in the dtype of the output."""
        start, stop, num = inputs[0], inputs[1], _positive(inputs[2])
        with np.errstate(all="ignore"):
            # Arrays of one element: arithmetic on them keeps their dtype in every version of numpy.
            begin, end = start.reshape(1), stop.reshape(1)
            step = (end - begin) / np.array([max(num - 1, 1)]).astype(start.dtype)
            numbers: Any = begin + step * np.arange(num).astype(start.dtype)
        # With infinite ends, the product above is NaN for the first number.
        numbers[:1] = start
        numbers[1:][-1:] = stop
        outputs[0] = numbers


def _positive(num: npt.NDArray[Any]) -> int:
    if num < 1:
        raise KernelError(f"num must be positive, not {num}")
    return int(num)


@pack_kernel("Roll", native=True)
class Roll(CustomOp):
    """TensorFlow's op of the same name (``tf.roll``).

    Inputs: ``input``, of any dtype, rank 1 or more; ``shift`` and ``axis``, int32 or int64, both scalars or both [n].

    Output: of the same shape and dtype: along each axis, the element at i moves to i + shift, modulo the size. Shifts
    and axes may be negative; the shifts of an axis that is given several times add up.

    Source: the definition of the op in TensorFlow (``manip_ops.cc``, ``roll_op.cc``).
    """

    dtypes = ANY
    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")
    same_scales: ClassVar[Mapping[int, int]] = {0: 0}

    def prepare(self, values: TensorSpec, shift: TensorSpec, axis: TensorSpec) -> TensorSpec:
        if not values.shape:
            raise KernelError("input must be of rank 1 or more")
        for name, spec in (("shift", shift), ("axis", axis)):
            if spec.shape is None or len(spec.shape) > 1 or spec.dtype.name not in ("int32", "int64"):
                raise KernelError(f"{name} must be int32 or int64 [] or [n], not {spec.dtype} {spec.shape}")
        if shift.shape != axis.shape:
            raise KernelError(f"shift and axis must have the same shape, not {shift.shape} and {axis.shape}")
        return TensorSpec(values.shape, values.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        values, shift, axis = inputs
        axes: list[int] = axis.reshape(-1).tolist()
        if not all(-values.ndim <= dimension < values.ndim for dimension in axes):
            raise KernelError(f"axis must be from {-values.ndim} to {values.ndim - 1} for this input, not {axes}")
        outputs[0][...] = np.roll(values, shift.reshape(-1).tolist(), axes)


@pack_kernel("UnravelIndex", native=True)
class UnravelIndex(CustomOp):
    """TensorFlow's op of the same name (``tf.unravel_index``).

    Inputs: ``indices`` [] or [n], int32 or int64; ``dims`` [rank] of the same dtype: the positive sizes of an array.

    Output: [rank] or [rank, n] of the same dtype: the coordinates of the elements with these indices in that array, in
    row-major order.

    Source: the definition of the op in TensorFlow (``array_ops.cc``, ``unravel_index_op.cc``). TensorFlow refuses empty
    ``indices`` and accepts negative ones; this kernel does the opposite.
    """

    dtypes = INDICES

    def prepare(self, indices: TensorSpec, dims: TensorSpec) -> TensorSpec:
        if indices.shape is None or len(indices.shape) > 1 or indices.dtype.name not in ("int32", "int64"):
            raise KernelError(f"indices must be int32 or int64 [] or [n], not {indices.dtype} {indices.shape}")
        if dims.shape is None or len(dims.shape) != 1 or dims.dtype != indices.dtype:
            raise KernelError(f"dims must be {indices.dtype} [rank], not {dims.dtype} {dims.shape}")
        return TensorSpec((*dims.shape, *indices.shape), indices.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Divides the indices by the stride of each dimension."""
        indices, dims = inputs
        steps = [1]
        for size in dims[::-1].tolist():
            if size < 1:
                raise KernelError(f"dims must be positive, not {dims.tolist()}")
            steps.append(steps[-1] * size)
        if (total := steps.pop()) > np.iinfo(dims.dtype).max:
            raise KernelError(f"dims {dims.tolist()} have a product that is too large for {dims.dtype}")
        if indices.size and not 0 <= indices.min() <= indices.max() < total:
            raise KernelError(f"indices must be from 0 to {total - 1} for the dims {dims.tolist()}, not {indices}")
        along_output = (-1, *[1] * indices.ndim)
        of_dims: Any = np.array(steps[::-1], dims.dtype).reshape(along_output)
        outputs[0][...] = indices // of_dims % dims.reshape(along_output)


@pack_kernel("Bincount", native=True)
class Bincount(CustomOp):
    """TensorFlow's op of the same name (``tf.math.bincount``).

    Inputs: ``arr``, int32 of any shape, not negative; ``size``, an int32 scalar; ``weights`` of int32, int64, float32
    or float64: one for each element of ``arr``, or empty for weights of 1.

    Output: [size] of the dtype of the weights: at i the sum of the weights of all elements equal to i. Elements of
    ``size`` or more are ignored. Its shape is known once ``size`` is.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``bincount_op.cc``).
    """

    dtypes = ("int32",)

    def prepare(self, arr: TensorSpec, size: TensorSpec, weights: TensorSpec) -> TensorSpec:
        _check(arr, size, weights, "arr", [np.dtype(np.int32)])
        assert arr.shape is not None
        assert weights.shape is not None
        if 0 not in weights.shape and np.prod(arr.shape) != np.prod(weights.shape):
            raise KernelError(f"weights must be one for each element of arr {arr.shape} or none, not {weights.shape}")
        return TensorSpec(None if size.value is None else (_checked_size(size.value),), weights.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        arr, size, weights = inputs
        outputs[0] = _count(arr.reshape(1, -1), _checked_size(size), weights.reshape(1, -1), "arr")[0]


@pack_kernel("DenseBincount", native=True)
class DenseBincount(CustomOp):
    """TensorFlow's op of the same name (``tf.math.bincount`` with ``axis``).

    Inputs: ``input``, int32 or int64 of rank 0 to 2, not negative; ``size``, a scalar of the same dtype; ``weights`` of
    int32, int64, float32 or float64: of the shape of ``input``, or empty for weights of 1.

    Output: [size], or [rows, size] with separate counts for each row of ``input``, of the dtype of the weights, as in
    ``Bincount``. Its shape is known once ``size`` is.

    Options: ``binary_output``, false if missing: whether the output is just 1 for each number that occurs.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``bincount_op.cc``).
    """

    dtypes = INDICES

    def prepare(self, values: TensorSpec, size: TensorSpec, weights: TensorSpec) -> TensorSpec:
        _check(values, size, weights, "input", [np.dtype(np.int32), np.dtype(np.int64)])
        assert values.shape is not None
        assert weights.shape is not None
        if len(values.shape) > 2:
            raise KernelError(f"input must be of rank 0 to 2, not {values.shape}")
        if 0 not in weights.shape and values.shape != weights.shape:
            raise KernelError(f"weights must be of the shape of input {values.shape} or empty, not {weights.shape}")
        shape = None if size.value is None else (*values.shape[:-1], _checked_size(size.value))
        return TensorSpec(shape, weights.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, binary_output: bool = False) -> None:
        values, size, weights = inputs
        rows = values if values.ndim == 2 else values.reshape(1, -1)
        counts = _count(rows, _checked_size(size), weights.reshape(rows.shape if weights.size else (1, 0)), "input")
        if binary_output:
            seen = _count(rows, _checked_size(size), np.zeros((1, 0), np.int64), "input")
            counts = (seen > 0).astype(weights.dtype)
        outputs[0] = counts if values.ndim == 2 else counts[0]


def _check(values: TensorSpec, size: TensorSpec, weights: TensorSpec, name: str, dtypes: list[np.dtype[Any]]) -> None:
    if values.dtype not in dtypes:
        raise KernelError(f"{name} must be of {' or '.join(map(str, dtypes))}, not {values.dtype}")
    if size.shape != () or size.dtype != values.dtype:
        raise KernelError(f"size must be a scalar of {values.dtype}, not {size.dtype} {size.shape}")
    if weights.dtype.name not in ("int32", "int64", "float32", "float64"):
        raise KernelError(f"weights must be of int32, int64, float32 or float64, not {weights.dtype}")


def _checked_size(size: npt.NDArray[Any]) -> int:
    if size < 0:
        raise KernelError(f"size must not be negative, as {size} is")
    return int(size)


def _count(rows: npt.NDArray[Any], size: int, weights: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Returns the counts [rows, size]; ``weights`` is empty or has the shape of ``rows``."""
    if rows.size and rows.min() < 0:
        raise KernelError(f"{name} must not hold negative numbers, as it does with {rows.min()}")
    counts: Any = np.zeros((len(rows), size), weights.dtype)
    row, column = np.nonzero(rows < size)
    np.add.at(counts, (row, rows[row, column]), weights[row, column] if weights.size else 1)
    return counts
