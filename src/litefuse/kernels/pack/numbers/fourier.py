"""``IRFFT`` and ``IRFFT2D``: inverse Fourier transforms with real results."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import COMPLEX, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


class _InverseRealTransform(CustomOp):
    """Base class of IRFFT and IRFFT2D; ``axes`` is the number of transformed dimensions."""

    axes: int

    def prepare(self, spectrum: TensorSpec, fft_length: TensorSpec) -> TensorSpec:
        if spectrum.shape is None or len(spectrum.shape) < self.axes:
            raise KernelError(f"input must have {self.axes} dimensions or more, not the shape {spectrum.shape}")
        if spectrum.dtype.kind != "c":
            raise KernelError(f"input must be of complex numbers, not {spectrum.dtype}")
        if fft_length.shape != (self.axes,) or fft_length.dtype != np.int32:
            raise KernelError(f"fft_length must be int32 [{self.axes}], not {fft_length.dtype} {fft_length.shape}")
        real = np.dtype(np.float32 if spectrum.dtype == np.complex64 else np.float64)
        if fft_length.value is None:
            return TensorSpec(None, real)
        return TensorSpec(self._shape(spectrum.shape, fft_length.value), real)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Transforms the needed part of the spectrum."""
        spectrum: Any = inputs[0]
        shape = self._shape(spectrum.shape, inputs[1])
        real = spectrum.real.dtype
        if 0 in shape:
            outputs[0] = np.zeros(shape, real)
        else:
            result: Any = np.fft.irfftn(spectrum, shape[-self.axes :], range(-self.axes, 0))
            outputs[0] = result.astype(real, copy=False)

    def _shape(self, spectrum: tuple[int, ...], fft_length: npt.NDArray[Any]) -> tuple[int, ...]:
        lengths: list[int] = fft_length.tolist()
        if min(lengths) < 0:
            raise KernelError(f"fft_length must not be negative, as it is in {lengths}")
        needed = [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0]
        if any(there < least for there, least in zip(spectrum[-self.axes :], needed, strict=True)):
            raise KernelError(
                f"an fft_length of {lengths} needs {needed} numbers of the spectrum, and input has the shape {spectrum}"
            )
        return (*spectrum[: -self.axes], *lengths)


@pack_kernel("IRFFT", native=True)
class IRFFT(_InverseRealTransform):
    """TensorFlow's op of the same name (``tf.signal.irfft``, which also pads).

    Inputs: ``input`` [..., m], complex64 or complex128: the nonnegative frequencies of the Fourier transform of real
    numbers; ``fft_length`` [1] int32: n. m must be at least n // 2 + 1; higher frequencies are dropped.

    Output: [..., n], float32 or float64: the real numbers. Its shape is known once ``fft_length`` is.

    Source: the definition of the op in TensorFlow (``spectral_ops.cc``, ``fft_ops.cc``).
    """

    dtypes = COMPLEX
    axes = 1


@pack_kernel("IRFFT2D", native=True)
class IRFFT2D(_InverseRealTransform):
    """TensorFlow's op of the same name (``tf.signal.irfft2d``, which also pads).

    Inputs: ``input`` [..., rows, m], complex64 or complex128: the Fourier transform of real numbers, with the
    nonnegative frequencies only along the columns; ``fft_length`` [2] int32: the size of the result. The spectrum must
    have at least that many rows and ``fft_length[1] // 2 + 1`` columns; the rest is dropped.

    Output: [..., *fft_length], float32 or float64: the real numbers. Its shape is known once ``fft_length`` is.

    Source: the definition of the op in TensorFlow (``spectral_ops.cc``, ``fft_ops.cc``).
    """

    dtypes = COMPLEX
    axes = 2
