"""``Roll``: elements shifted along dimensions, with wraparound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import ANY
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["Roll"]


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
        """Checks the inputs.

        Raises:
            KernelError: One has a wrong shape or dtype.
        """
        if not values.shape:
            raise KernelError("input must be of rank 1 or more")
        for name, given in (("shift", shift), ("axis", axis)):
            if given.shape is None or len(given.shape) > 1 or given.dtype.name not in ("int32", "int64"):
                raise KernelError(f"{name} must be int32 or int64 [] or [n], not {given.dtype} {given.shape}")
        if shift.shape != axis.shape:
            raise KernelError(f"shift and axis must have the same shape, not {shift.shape} and {axis.shape}")
        return TensorSpec(values.shape, values.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Shifts along all axes.

        Raises:
            KernelError: The input does not have one of them.
        """
        values, shift, axis = inputs
        axes: list[int] = axis.reshape(-1).tolist()
        if not all(-values.ndim <= each < values.ndim for each in axes):
            raise KernelError(f"axis must be from {-values.ndim} to {values.ndim - 1} for this input, not {axes}")
        outputs[0][...] = np.roll(values, shift.reshape(-1).tolist(), axes)
