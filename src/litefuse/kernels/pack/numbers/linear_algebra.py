"""Linear algebra on batches of matrices: inverse, determinant, Cholesky decomposition, linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import COMPLEX, FLOATS, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


@pack_kernel("MatrixInverse", native=True)
class MatrixInverse(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.inv``).

    Input: ``input`` [..., n, n], of floating point or complex numbers.

    Output: of the same shape and dtype, the inverse of each matrix.

    Options: ``adjoint``, false if missing: whether to invert the conjugate transpose instead.

    Source: the definition of the op in TensorFlow (``linalg_ops.cc``, ``matrix_inverse_op.cc``).
    """

    dtypes = (*FLOATS, *COMPLEX)

    def prepare(self, matrices: TensorSpec) -> TensorSpec:
        return TensorSpec(_square("input", matrices), matrices.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, adjoint: bool = False) -> None:
        """Inverts the matrices.

        Raises:
            KernelError: A matrix is singular.
        """
        if inputs[-1].size == 0:  # numpy would loop over the empty matrices
            return
        matrices: Any = _computable(inputs[0])
        try:
            outputs[0][...] = np.linalg.inv(_adjoint(matrices) if adjoint else matrices)
        except np.linalg.LinAlgError as error:
            raise KernelError("a matrix is singular: it has no inverse") from error


@pack_kernel("MatrixSolve", native=True)
class MatrixSolve(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.solve``).

    Inputs: ``matrix`` [..., m, m], of floating point or complex numbers; ``rhs`` [..., m, k] of the same dtype and
    batch shape.

    Output: [..., m, k] of the same dtype, x with ``matrix @ x == rhs``.

    Options: ``adjoint``, false if missing: whether to use the conjugate transpose of the matrix.

    Source: the definition of the op in TensorFlow (``linalg_ops.cc``, ``matrix_solve_op.cc``).
    """

    dtypes = (*FLOATS, *COMPLEX)

    def prepare(self, matrix: TensorSpec, rhs: TensorSpec) -> TensorSpec:
        shape = _system(matrix, rhs)
        if rhs.shape is None or len(rhs.shape) != len(shape) or rhs.shape[:-1] != shape[:-1]:
            raise KernelError(
                f"rhs must be [..., {shape[-1]}, k] of the batch of a matrix {list(shape)}, not {rhs.shape}"
            )
        return TensorSpec(rhs.shape, rhs.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, adjoint: bool = False) -> None:
        """Solves all systems.

        Raises:
            KernelError: A matrix is singular.
        """
        if inputs[-1].size == 0:  # numpy would loop over the empty matrices
            return
        matrix: Any
        rhs: Any
        matrix, rhs = map(_computable, inputs)
        try:
            outputs[0][...] = np.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)
        except np.linalg.LinAlgError as error:
            raise KernelError("a matrix is singular: its system cannot be solved") from error


@pack_kernel("MatrixDeterminant", native=True)
class MatrixDeterminant(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.det``).

    Input: ``input`` [..., n, n], of floating point or complex numbers.

    Output: [...] of the same dtype: the determinant of each matrix, 1 if n is 0.

    Source: the definition of the op in TensorFlow (``linalg_ops.cc``, ``determinant_op.cc``).
    """

    dtypes = (*FLOATS, *COMPLEX)

    def prepare(self, matrices: TensorSpec) -> TensorSpec:
        return TensorSpec(_square("input", matrices)[:-2], matrices.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Computes in double precision, since numpy goes through the logarithm, which costs digits."""
        matrices: Any = inputs[0]
        double = np.promote_types(_computed_in(matrices.dtype), np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs[0][...] = np.linalg.det(matrices.astype(double, copy=False))


@pack_kernel("Cholesky", native=True)
class Cholesky(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.cholesky``).

    Input: ``input`` [..., n, n], of floating point or complex numbers: symmetric (Hermitian) positive definite
    matrices, of which only the lower triangle is read, and only the real part of its diagonal.

    Output: of the same shape and dtype, the lower triangular L with positive diagonal for which L times its conjugate
    transpose is the matrix. If the matrix is not positive definite, L does not exist: the lower triangle is filled
    with NaN, without an error.

    Source: the definition of the op in TensorFlow (``linalg_ops.cc``, ``cholesky_op.cc``).
    """

    dtypes = (*FLOATS, *COMPLEX)

    def prepare(self, matrices: TensorSpec) -> TensorSpec:
        return TensorSpec(_square("input", matrices), matrices.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Decomposes all matrices at once; one at a time if some are not positive definite."""
        if inputs[-1].size == 0:  # numpy would loop over the empty matrices
            return
        matrices: Any = _computable(inputs[0])
        factors: Any = np.empty_like(matrices)
        try:
            factors[...] = np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError:
            indices: Any = np.ndindex(matrices.shape[:-2])
            for index in indices:
                try:
                    factors[index] = np.linalg.cholesky(matrices[index])
                except np.linalg.LinAlgError:
                    factors[index] = np.nan
        # A NaN anywhere in the triangle reaches the diagonal.
        failed: Any = np.isnan(factors.diagonal(axis1=-2, axis2=-1)).any(-1)
        factors[failed] = np.tril(np.full(matrices.shape[-2:], np.nan))
        outputs[0][...] = factors


@pack_kernel("MatrixTriangularSolve", native=True)
class MatrixTriangularSolve(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.triangular_solve``).

    Inputs: ``matrix`` [..., m, m], of floating point or complex numbers, of which one triangle is read; ``rhs``
    [..., m, k] of the same dtype. The dimensions before the last two are broadcast.

    Output: [..., m, k] of the same dtype, x with ``matrix @ x == rhs``. Zeros on the diagonal give infinities and NaN,
    without an error.

    Options: ``lower``, true if missing: whether the lower triangle is read, or the upper one; ``adjoint``, false if
    missing: whether to use the conjugate transpose of the matrix.

    Source: the definition of the op in TensorFlow (``linalg_ops.cc``, ``matrix_triangular_solve_op_impl.h``).
    """

    dtypes = (*FLOATS, *COMPLEX)

    def prepare(self, matrix: TensorSpec, rhs: TensorSpec) -> TensorSpec:
        shape = _system(matrix, rhs)
        if rhs.shape is None or len(rhs.shape) < 2 or rhs.shape[-2] != shape[-1]:
            raise KernelError(f"rhs must be [..., {shape[-1]}, k] for a matrix {shape}, not {rhs.shape}")
        try:
            batch = np.broadcast_shapes(shape[:-2], rhs.shape[:-2])
        except ValueError as error:
            raise KernelError(f"the batches of matrix {shape} and rhs {rhs.shape} do not broadcast") from error
        return TensorSpec((*batch, *rhs.shape[-2:]), rhs.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, lower: bool = True, adjoint: bool = False) -> None:
        """Solves row by row, for all systems at once."""
        if inputs[-1].size == 0:  # numpy would loop over the empty matrices
            return
        matrix: Any
        rhs: Any
        matrix, rhs = map(_computable, inputs)
        if adjoint:
            matrix = _adjoint(matrix)
        rows = matrix.shape[-1]
        downwards = bool(lower) != bool(adjoint)
        x: Any = np.empty(outputs[0].shape, rhs.dtype)
        with np.errstate(all="ignore"):
            for row in range(rows) if downwards else reversed(range(rows)):
                known = slice(0, row) if downwards else slice(row + 1, rows)
                of_known = np.matmul(matrix[..., row : row + 1, known], x[..., known, :])
                x[..., row : row + 1, :] = rhs[..., row : row + 1, :] - of_known
                x[..., row, :] /= matrix[..., row, row, None]
        outputs[0][...] = x


def _square(name: str, matrices: TensorSpec) -> tuple[int, ...]:
    """Returns the shape of the matrices, which must be square."""
    if matrices.dtype.kind not in "fc" and matrices.dtype.name != "bfloat16":
        raise KernelError(f"{name} must be of floating point or complex numbers, not {matrices.dtype}")
    if matrices.shape is None or len(matrices.shape) < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise KernelError(f"{name} must be square matrices [..., n, n], not {matrices.shape}")
    return matrices.shape


def _system(matrix: TensorSpec, rhs: TensorSpec) -> tuple[int, ...]:
    """Returns the shape of the square matrices of linear systems; the right-hand sides must have their dtype."""
    shape = _square("matrix", matrix)
    if rhs.dtype != matrix.dtype:
        raise KernelError(f"matrix and rhs must be of the same dtype, not {matrix.dtype} and {rhs.dtype}")
    return shape


def _computed_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of the arithmetic: single precision for the 16-bit types."""
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def _computable(array: npt.NDArray[Any]) -> Any:
    return array.astype(_computed_in(array.dtype), copy=False)


def _adjoint(matrices: Any) -> Any:
    return matrices.swapaxes(-1, -2).conj()
