"""``UnravelIndex``: flat indices as coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import INDICES
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["UnravelIndex"]


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
        """Checks the inputs.

        Raises:
            KernelError: One has a wrong shape or dtype.
        """
        if indices.shape is None or len(indices.shape) > 1 or indices.dtype.name not in ("int32", "int64"):
            raise KernelError(f"indices must be int32 or int64 [] or [n], not {indices.dtype} {indices.shape}")
        if dims.shape is None or len(dims.shape) != 1 or dims.dtype != indices.dtype:
            raise KernelError(f"dims must be {indices.dtype} [rank], not {dims.dtype} {dims.shape}")
        return TensorSpec((*dims.shape, *indices.shape), indices.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Divides the indices by the stride of each dimension.

        Raises:
            KernelError: A size is not positive, their product is too large for the dtype, or an index is out of range.
        """
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
