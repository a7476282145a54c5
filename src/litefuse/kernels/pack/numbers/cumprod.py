"""``Cumprod``: cumulative products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import NUMBERS
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["Cumprod"]


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
        """Checks the inputs.

        Raises:
            KernelError: x is not numeric, or the axis is not an integer scalar.
        """
        if x.dtype.kind not in "iufc" and x.dtype.name != "bfloat16":
            raise KernelError(f"x must be of numbers, not {x.dtype}")
        if axis.shape != () or axis.dtype.name not in ("int32", "int64"):
            raise KernelError(f"axis must be a scalar of int32 or int64, not {axis.dtype} {axis.shape}")
        return TensorSpec(x.shape, x.dtype)

    def invoke(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        exclusive: bool = False,
        reverse: bool = False,
    ) -> None:
        """Accumulates the products.

        Raises:
            KernelError: x does not have this axis.
        """
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
