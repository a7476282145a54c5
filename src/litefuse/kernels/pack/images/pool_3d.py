"""``MaxPool3D`` and ``AvgPool3D``: pooling of volumes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.pooling_windows import pooling_windows
from litefuse.kernels.pack.supported import FLOATS
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["AvgPool3D", "MaxPool3D"]

_Part = tuple[slice, ...]


class _Pool3D(CustomOp):
    """Base class of both ops; computes their windows.

    With SAME padding, windows with a stride larger than their size are centered in the volume, as in TensorFlow's CPU
    kernels (according to its documentation of SAME, they start at the volume's first position).
    """

    def prepare(
        self,
        volumes: TensorSpec,
        *,
        ksize: Sequence[int],
        strides: Sequence[int],
        padding: str | bytes,
        data_format: str | bytes = "NDHWC",
    ) -> TensorSpec:
        """Computes the positions of the windows.

        Raises:
            KernelError: The input is not a batch of volumes of floats, an option is invalid, or no window fits.
        """
        if volumes.shape is None or len(volumes.shape) != 5:
            raise KernelError(f"input must be of rank 5, not {volumes.shape}")
        if volumes.dtype.name not in self.dtypes:
            *others, last = self.dtypes
            raise KernelError(f"input must be {', '.join(others)} or {last}, not {volumes.dtype}")
        if data_format not in {"NDHWC", "NCDHW", b"NDHWC", b"NCDHW"}:
            raise KernelError(f"data_format must be NDHWC or NCDHW, not {data_format!r}")
        self._axes = (1, 2, 3) if data_format in {"NDHWC", b"NDHWC"} else (2, 3, 4)
        self._windows = pooling_windows(
            volumes.shape, self._axes, ksize=ksize, strides=strides, padding=padding, centered=True
        )
        shape = list(volumes.shape)
        for axis, windows in zip(self._axes, self._windows, strict=True):
            shape[axis] = windows.out
        return TensorSpec(shape, volumes.dtype)

    def _positions(self) -> Iterator[tuple[_Part, _Part]]:
        """Yields for each position in a window the windows that have it inside the volume, and these elements."""
        before = (slice(None),) * self._axes[0]
        for offsets in itertools.product(*(range(windows.ksize) for windows in self._windows)):
            parts = [windows.at(offset) for windows, offset in zip(self._windows, offsets, strict=True)]
            yield (*before, *(to for to, _ in parts)), (*before, *(at for _, at in parts))


@pack_kernel("MaxPool3D", native=True)
class MaxPool3D(_Pool3D):
    """TensorFlow's op of the same name (``tf.nn.max_pool3d``).

    Input: ``input`` [batch, in_planes, in_rows, in_cols, depth] float16, bfloat16, float32, float64, int8 or int16.

    Output: the maxima [batch, out_planes, out_rows, out_cols, depth] of the same dtype. Padding is ignored. A window
    with a NaN gives NaN; in TensorFlow, that depends on the order of comparisons.

    Options: ``ksize`` and ``strides``, each [1, planes, rows, cols, 1]; ``padding``, VALID or SAME; ``data_format``,
    NDHWC (if missing) or NCDHW, in which input, output, ``ksize`` and ``strides`` have the channels second.

    Source: the definition of the op in TensorFlow (``nn_ops.cc``, ``pooling_ops_3d.cc``).
    """

    dtypes = (*FLOATS, "int8", "int16")
    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")
    same_scales: ClassVar[Mapping[int, int]] = {0: 0}

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Iterates over the positions in a window, for all windows at once."""
        volumes: Any = inputs[0]
        best: Any = outputs[0]
        best[...] = np.iinfo(best.dtype).min if best.dtype.kind == "i" else -np.inf
        for to, at in self._positions():
            np.maximum(best[to], volumes[at], out=best[to])


@pack_kernel("AvgPool3D", native=True)
class AvgPool3D(_Pool3D):
    """TensorFlow's op of the same name (``tf.nn.avg_pool3d``).

    Input: ``input`` [batch, in_planes, in_rows, in_cols, depth] float16, bfloat16, float32 or float64.

    Output: the means [batch, out_planes, out_rows, out_cols, depth] of the same dtype, over those elements of a window
    that are inside the volume: padding is neither summed nor counted. 16-bit floats are accumulated in float32.

    Options: ``ksize`` and ``strides``, each [1, planes, rows, cols, 1]; ``padding``, VALID or SAME; ``data_format``,
    NDHWC (if missing) or NCDHW, in which input, output, ``ksize`` and ``strides`` have the channels second.

    Source: the definition of the op in TensorFlow (``nn_ops.cc``, ``pooling_ops_3d.cc``).
    """

    dtypes = FLOATS

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Iterates over the positions in a window, for all windows at once."""
        volumes: Any = inputs[0]
        wide = np.dtype(np.float64 if volumes.dtype == np.float64 else np.float32)
        total: Any = np.zeros(outputs[0].shape, wide)
        count: Any = np.zeros([n if axis in self._axes else 1 for axis, n in enumerate(total.shape)], wide)
        for to, at in self._positions():
            total[to] += volumes[at]
            count[to] += 1
        outputs[0][...] = (total / count).astype(volumes.dtype)
