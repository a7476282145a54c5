"""``LinSpace``: evenly spaced numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import FLOATS
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["LinSpace"]


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
        """Checks the inputs.

        Raises:
            KernelError: One has a wrong shape or dtype, or a constant ``num`` is not positive.
        """
        if start.shape != () or (start.dtype.kind != "f" and start.dtype.name != "bfloat16"):
            raise KernelError(f"start must be a floating point scalar, not {start.dtype} {start.shape}")
        if stop.shape != () or stop.dtype != start.dtype:
            raise KernelError(f"stop must be a scalar of {start.dtype}, not {stop.dtype} {stop.shape}")
        if num.shape != () or num.dtype.name not in ("int32", "int64"):
            raise KernelError(f"num must be a scalar of int32 or int64, not {num.dtype} {num.shape}")
        return TensorSpec(None if num.value is None else (_positive(num.value),), start.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Computes in the dtype of the output.

        Raises:
            KernelError: A computed ``num`` is not positive.
        """
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
