"""Pooling of images and volumes: the windows, maxima with or without their positions, means; and options in C."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import FLOATS, REAL, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


@dataclass(frozen=True)
class Windows:
    """The windows along one dimension. Each contains at least one position of the image.

    Attributes:
        size: The size of the image.
        ksize: The number of positions in a window.
        stride: The distance between windows.
        out: The number of windows.
        before: The padding before the image; negative if the first window starts inside it.
    """

    size: int
    ksize: int
    stride: int
    out: int
    before: int

    @classmethod
    def of(cls, size: int, ksize: int, stride: int, padding: str | bytes, *, centered: bool) -> Windows:
        """Computes the windows from the attributes of the op.

        Raises:
            KernelError: The padding is neither SAME nor VALID, or it is VALID and no window fits into the image.
        """
        match padding:
            case "SAME" | b"SAME":
                out = -(-size // stride)
                padded = (out - 1) * stride + ksize - size
                before = int(padded / 2) if padded > 0 or centered else 0  # truncated, as in C
            case "VALID" | b"VALID":
                # As in C, the division truncates.
                out = int((size - ksize + stride) / stride)
                before = 0
            case _:
                raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
        if out < 0:
            raise KernelError(f"a window of {ksize} positions does not fit into {size}, and padding is VALID")
        return cls(size, ksize, stride, out, before)

    def at(self, offset: int) -> tuple[slice, slice]:
        """Returns the windows whose position ``offset`` is inside the image, and these positions of the image."""
        first = max(0, -((offset - self.before) // self.stride))
        end = max(first, min(self.out, (self.size - 1 + self.before - offset) // self.stride + 1))
        begin = first * self.stride + offset - self.before
        return slice(first, end), slice(begin, begin + (end - first) * self.stride, self.stride)


def _pooling_windows(
    shape: Sequence[int],
    axes: Sequence[int],
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | bytes,
    centered: bool = False,
) -> list[Windows]:
    """Returns the windows along each of the dimensions ``axes``; raises a KernelError if none fits into the image.

    If ``centered``, SAME also centers windows that skip positions of the image because the stride is larger than their
    size; otherwise they start at the image's first position.
    """
    for name, value in (("ksize", ksize), ("strides", strides)):
        pooled = [axis in axes for axis in range(len(shape))]
        if len(value) != len(shape) or not all(n > 0 if p else n == 1 for n, p in zip(value, pooled, strict=True)):
            form = ", ".join("n" if p else "1" for p in pooled)
            raise KernelError(f"{name} must be [{form}] with positive numbers, not {list(value)}")
    return [Windows.of(shape[axis], int(ksize[axis]), int(strides[axis]), padding, centered=centered) for axis in axes]


def _maxima(
    images: npt.NDArray[Any],
    best: npt.NDArray[Any],
    rows: Windows,
    cols: Windows,
    placed: Callable[[int, int, tuple[slice, ...]], Any],
) -> npt.NDArray[Any]:
    """Writes the maxima of windows, all at once, to ``best``; returns the places of these maxima.

    ``placed`` returns places, given the row and the column in a window, and the pixels there.
    """
    places = np.full(best.shape, -1)
    for row, col in itertools.product(range(rows.ksize), range(cols.ksize)):
        (to_rows, from_rows), (to_cols, from_cols) = rows.at(row), cols.at(col)
        to, pixels = (slice(None), to_rows, to_cols), (slice(None), from_rows, from_cols)
        with np.errstate(invalid="ignore"):
            better = (places[to] < 0) | (best[to] < images[pixels])
        np.copyto(best[to], images[pixels], where=better)
        np.copyto(places[to], placed(row, col, pixels), where=better)
    return places


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
        Targmax: int = 4,
    ) -> list[TensorSpec]:
        if images.shape is None or len(images.shape) != 4:
            raise KernelError(f"input must be [batch, rows, cols, depth], not {images.shape}")
        if images.dtype.kind not in "iuf" and images.dtype.name != "bfloat16":
            raise KernelError(f"input must be of real numbers, not {images.dtype}")
        if Targmax not in _INDEX_TYPES:
            raise KernelError(f"Targmax must be int32 or int64, not type number {Targmax!r}")
        self._rows, self._cols = _pooling_windows(images.shape, (1, 2), ksize=ksize, strides=strides, padding=padding)
        shape = (images.shape[0], self._rows.out, self._cols.out, images.shape[3])
        return [TensorSpec(shape, images.dtype), TensorSpec(shape, _INDEX_TYPES[Targmax])]

    def invoke(self, inputs: Arrays, outputs: Outputs, *, include_batch_in_index: bool | int = False) -> None:
        images, best = inputs[0], outputs[0]
        counted = images if include_batch_in_index else images[:1]
        index = np.broadcast_to(np.arange(counted.size).reshape(counted.shape), images.shape)
        places = _maxima(images, best, self._rows, self._cols, lambda _row, _col, pixels: index[pixels])
        outputs[1][...] = places.astype(outputs[1].dtype)


_LIMITS = {"NONE": (-np.inf, np.inf), "RELU": (0, np.inf), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}
# Added to each place, so that an inexact conversion back to integers gives the same.
_MARGIN = np.float32(0.1)


@pack_kernel("MaxPoolingWithArgmax2D", native=True)
class MaxPoolingWithArgmax2D(CustomOp):
    """MediaPipe's op of this name, the first half of its encoders; ``MaxUnpooling2D`` is the second.

    Input: images [batch, in_rows, in_cols, depth], float32.

    Outputs, float32 [batch, out_rows, out_cols, depth]: the maxima; and where in its window each is,
    ``row * pool_cols + col + 0.1``, windows beginning outside of the image included. Of equal maxima, the first in
    row-major order is taken. A NaN is a maximum only if it is the first element of its window.

    Options: ``pool_size`` and ``strides``, each [rows, cols]; ``padding``, SAME or VALID; ``activation`` of the maxima,
    NONE if missing, RELU, RELU_N1_TO_1 or RELU6. Or LiteRT's C struct ``TfLitePoolParams``, as MediaPipe's models have
    it and as LiteRT's delegates read it.

    Source: MediaPipe, ``mediapipe/util/tflite/operations/max_pool_argmax.cc``. XNNPACK, which runs the op too, writes
    the bits of an integer into the second output.
    """

    dtypes = ("float32",)

    @classmethod
    def decode_options(cls, data: bytes) -> dict[str, Any]:
        return pool_options(data) or super().decode_options(data)

    def prepare(
        self,
        images: TensorSpec,
        *,
        pool_size: Sequence[int],
        strides: Sequence[int],
        padding: str | bytes,
        activation: str = "NONE",
    ) -> list[TensorSpec]:
        if images.shape is None or len(images.shape) != 4:
            raise KernelError(f"input must be [batch, rows, cols, depth], not {images.shape}")
        if images.dtype != np.float32:
            raise KernelError(f"input must be float32, not {images.dtype}")
        check_pairs(pool_size=pool_size, strides=strides)
        if activation not in _LIMITS:
            raise KernelError(f"activation must be one of {', '.join(_LIMITS)}, not {activation!r}")
        self._rows, self._cols = _pooling_windows(
            images.shape, (1, 2), ksize=[1, *pool_size, 1], strides=[1, *strides, 1], padding=padding
        )
        shape = (images.shape[0], self._rows.out, self._cols.out, images.shape[3])
        return [TensorSpec(shape, np.float32), TensorSpec(shape, np.float32)]

    def invoke(self, inputs: Arrays, outputs: Outputs, *, activation: str = "NONE") -> None:
        best, size = outputs[0], self._cols.ksize
        places = _maxima(inputs[0], best, self._rows, self._cols, lambda row, col, _pixels: row * size + col)
        if activation != "NONE":
            np.clip(best, *_LIMITS[activation], out=best)
        outputs[1][...] = places.astype(np.float32) + _MARGIN


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
        if volumes.shape is None or len(volumes.shape) != 5:
            raise KernelError(f"input must be of rank 5, not {volumes.shape}")
        if volumes.dtype.name not in self.dtypes:
            *others, last = self.dtypes
            raise KernelError(f"input must be {', '.join(others)} or {last}, not {volumes.dtype}")
        if data_format not in {"NDHWC", "NCDHW", b"NDHWC", b"NCDHW"}:
            raise KernelError(f"data_format must be NDHWC or NCDHW, not {data_format!r}")
        self._axes = (1, 2, 3) if data_format in {"NDHWC", b"NDHWC"} else (2, 3, 4)
        self._windows = _pooling_windows(
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

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
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

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Iterates over the positions in a window, for all windows at once."""
        volumes: Any = inputs[0]
        wide = np.dtype(np.float64 if volumes.dtype == np.float64 else np.float32)
        total: Any = np.zeros(outputs[0].shape, wide)
        count: Any = np.zeros([n if axis in self._axes else 1 for axis, n in enumerate(total.shape)], wide)
        for to, at in self._positions():
            total[to] += volumes[at]
            count[to] += 1
        outputs[0][...] = (total / count).astype(volumes.dtype)


_PADDINGS = {1: "SAME", 2: "VALID"}  # TfLitePadding
_ACTIVATIONS = {0: "NONE", 1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}  # TfLiteFusedActivation


def pool_options(data: bytes) -> dict[str, Any] | None:
    """Reads a ``TfLitePoolParams``: int32 padding, strides and window of columns and rows, activation.

    What follows, where the runtime keeps what it computes, is ignored, and may be missing or as short as it once was.

    Returns:
        ``padding``, ``strides`` and ``pool_size`` ([rows, columns]), ``activation``; None if this is another struct.
    """
    fields = None if 32 < len(data) < 40 else _integers(data, 5)
    if fields is None:
        return None
    padding, stride_cols, stride_rows, pool_cols, pool_rows, activation = (*fields, 0)[:6]
    return {
        "padding": _PADDINGS.get(padding, f"number {padding}"),
        "strides": [stride_rows, stride_cols],
        "pool_size": [pool_rows, pool_cols],
        "activation": _ACTIVATIONS.get(activation, f"number {activation}"),
    }


def transpose_conv_options(data: bytes) -> dict[str, Any] | None:
    """Reads a ``TfLiteTransposeConvParams``: int32 padding, strides of columns and rows; the rest is ignored.

    Returns:
        ``padding`` and ``strides`` ([rows, columns]); None if this is another struct.
    """
    fields = _integers(data, 3)
    if fields is None:
        return None
    return {"padding": _PADDINGS.get(fields[0], f"number {fields[0]}"), "strides": [fields[2], fields[1]]}


def _integers(data: bytes, least: int) -> list[int] | None:
    """Returns a struct as int32; None for a flexbuffer, which ends with a width, and not with a zero byte."""
    if len(data) < 4 * least or len(data) % 4 or data[-1]:
        return None
    return np.frombuffer(data, "<i4").tolist()


def check_pairs(**options: Sequence[int]) -> None:
    """Checks that options are [rows, cols].

    Raises:
        KernelError: One is not.
    """
    for name, value in options.items():
        if len(value) != 2 or min(value) < 1:
            raise KernelError(f"{name} must be [rows, cols] with positive numbers, not {list(value)}")


def check_padding(padding: str | bytes) -> None:
    """Checks the option of this name.

    Raises:
        KernelError: It is neither SAME nor VALID.
    """
    if padding not in {"SAME", b"SAME", "VALID", b"VALID"}:
        raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
