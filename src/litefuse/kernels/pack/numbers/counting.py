"""``Bincount`` and ``DenseBincount``: counts of how often each number occurs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import INDICES, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


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
