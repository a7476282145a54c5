"""``Erf``: the error function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import FLOATS
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["Erf"]


@pack_kernel("Erf", native=True)
class Erf(CustomOp):
    """TensorFlow's op of the same name (``tf.math.erf``).

    Input: ``x``, of floating point numbers.

    Output: of the same shape and dtype: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.

    Source: the definition of the op in TensorFlow (``math_ops.cc``, ``cwise_op_erf.cc``).
    """

    dtypes = FLOATS

    def prepare(self, x: TensorSpec) -> TensorSpec:
        """Checks the input.

        Raises:
            KernelError: x is not of floating point numbers.
        """
        if x.dtype.kind != "f" and x.dtype.name != "bfloat16":
            raise KernelError(f"x must be of floating point numbers, not {x.dtype}")
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Computes in double precision with the C library's function, since numpy has none."""
        numbers: Any = inputs[0]
        values = np.fromiter(map(math.erf, numbers.reshape(-1).astype(np.float64).tolist()), np.float64, numbers.size)
        outputs[0][...] = values.reshape(numbers.shape)
