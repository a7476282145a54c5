"""``Cross``: the cross product of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import REAL
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["Cross"]


@pack_kernel("Cross", native=True)
class Cross(CustomOp):
    """TensorFlow's op of the same name (``tf.linalg.cross``).

    Inputs: ``a`` and ``b`` [..., 3], of the same shape and the same real dtype.

    Output: of the same shape and dtype, the cross product of each pair of vectors. Integers wrap around.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``cross_op.cc``).
    """

    dtypes = REAL

    def prepare(self, a: TensorSpec, b: TensorSpec) -> TensorSpec:
        """Checks the inputs.

        Raises:
            KernelError: They have different or wrong shapes or dtypes.
        """
        if a.dtype.kind not in "iuf" and a.dtype.name != "bfloat16":
            raise KernelError(f"a must be of real numbers, not {a.dtype}")
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise KernelError(f"a and b must be alike, not {a.dtype} {a.shape} and {b.dtype} {b.shape}")
        if a.shape is None or a.shape[-1:] != (3,):
            raise KernelError(f"a and b must be vectors of three elements [..., 3], not {a.shape}")
        return TensorSpec(a.shape, a.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Computes each coordinate of the product from the other two coordinates of both vectors."""
        a, b = inputs
        next_, last = [1, 2, 0], [2, 0, 1]
        with np.errstate(all="ignore"):
            outputs[0][...] = a[..., next_] * b[..., last] - a[..., last] * b[..., next_]
