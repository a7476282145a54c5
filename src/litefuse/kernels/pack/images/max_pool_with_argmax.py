"""``MaxPoolWithArgmax``: maximum pooling of images that also returns the position of each maximum."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.pooling_windows import pooling_windows
from litefuse.kernels.pack.supported import REAL
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["MaxPoolWithArgmax"]

# int32 and int64 as values of LiteRT's TensorType and of TensorFlow's DataType; the four values are distinct.
_INDEX_TYPES = {2: np.int32, 4: np.int64, 3: np.int32, 9: np.int64}


@pack_kernel("MaxPoolWithArgmax", native=True)
class MaxPoolWithArgmax(CustomOp):
    """TensorFlow's op of the same name (``tf.nn.max_pool_with_argmax``).

    Input: ``input`` [batch, in_rows, in_cols, depth], of any real dtype.

    Outputs: the maxima [batch, out_rows, out_cols, depth] of the same dtype; and their positions, of the same shape,
    int32 or int64: ``(row * in_cols + col) * depth + channel``, plus the batch index times
    ``in_rows * in_cols * depth`` if they include the batch. Of equal maxima, the first in row-major order is taken. A
    NaN is a maximum only if it is the first element of its window, since comparisons with it are false.

    Options: ``ksize`` and ``strides``, each [1, rows, cols, 1]; ``padding``, VALID or SAME; ``include_batch_in_index``,
    false if missing; ``Targmax``, the type of the positions, int64 if missing.

    Source: the definition of the op in TensorFlow (``nn_ops.cc``, ``maxpooling_op.cc``).
    """

    dtypes = REAL
    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")
    same_scales: ClassVar[Mapping[int, int]] = {0: 0}

    def prepare(
        self,
        images: TensorSpec,
        *,
        ksize: Sequence[int],
        strides: Sequence[int],
        padding: str | bytes,
        Targmax: int = 4,  # noqa: N803 - the attribute's name
    ) -> list[TensorSpec]:
        """Computes the positions of the windows.

        Raises:
            KernelError: The input is not a batch of images of real numbers, an option is invalid, or no window fits.
        """
        if images.shape is None or len(images.shape) != 4:
            raise KernelError(f"input must be [batch, rows, cols, depth], not {images.shape}")
        if images.dtype.kind not in "iuf" and images.dtype.name != "bfloat16":
            raise KernelError(f"input must be of real numbers, not {images.dtype}")
        if Targmax not in _INDEX_TYPES:
            raise KernelError(f"Targmax must be int32 or int64, not type number {Targmax!r}")
        self._rows, self._cols = pooling_windows(images.shape, (1, 2), ksize=ksize, strides=strides, padding=padding)
        shape = (images.shape[0], self._rows.out, self._cols.out, images.shape[3])
        return [TensorSpec(shape, images.dtype), TensorSpec(shape, _INDEX_TYPES[Targmax])]

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, include_batch_in_index: bool | int = False
    ) -> None:
        """Iterates over the positions in a window, for all windows at once."""
        images, best = inputs[0], outputs[0]
        counted = images if include_batch_in_index else images[:1]
        index = np.broadcast_to(np.arange(counted.size).reshape(counted.shape), images.shape)
        argmax = np.full(best.shape, -1)
        for row, col in itertools.product(range(self._rows.ksize), range(self._cols.ksize)):
            (to_rows, from_rows), (to_cols, from_cols) = self._rows.at(row), self._cols.at(col)
            to, at = (slice(None), to_rows, to_cols), (slice(None), from_rows, from_cols)
            with np.errstate(invalid="ignore"):
                better = (argmax[to] < 0) | (best[to] < images[at])
            np.copyto(best[to], images[at], where=better)
            np.copyto(argmax[to], index[at], where=better)
        outputs[1][...] = argmax.astype(outputs[1].dtype)
