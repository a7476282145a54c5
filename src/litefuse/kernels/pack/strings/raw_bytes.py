"""``DecodeRaw`` and ``DecodePaddedRaw``: the bytes of strings as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import check_dtype, check_scalar, check_strings
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["DecodePaddedRaw", "DecodeRaw"]

# The values of LiteRT's TensorType, which the ops' options use.
_DTYPES: dict[int, np.dtype[Any]] = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float16),
    2: np.dtype(np.int32),
    3: np.dtype(np.uint8),
    4: np.dtype(np.int64),
    6: np.dtype(np.bool_),
    7: np.dtype(np.int16),
    8: np.dtype(np.complex64),
    9: np.dtype(np.int8),
    10: np.dtype(np.float64),
    11: np.dtype(np.complex128),
    16: np.dtype(np.uint16),
    18: np.dtype(ml_dtypes.bfloat16),
}


def _dtype(out_type: int) -> np.dtype[Any]:
    if out_type not in _DTYPES:
        names = ", ".join(map(str, _DTYPES.values()))
        raise KernelError(f"out_type must be one of {names}, not number {out_type}")
    return _DTYPES[out_type]


def _numbers(
    rows: Sequence[bytes], shape: Sequence[int], dtype: np.dtype[Any], *, little_endian: bool
) -> npt.NDArray[Any]:
    """Returns strings of one length as rows of numbers; the byte order applies to each half of a complex number."""
    width = dtype.itemsize
    size = len(rows[0]) // width if rows else 0
    parts = width // 2 if dtype.kind == "c" else width
    data = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, parts)
    ordered = data if little_endian else data[:, ::-1]
    # In TensorFlow, a boolean may be any byte; in LiteRT and numpy, it is 0 or 1.
    values = ordered != 0 if dtype == np.bool_ else np.frombuffer(ordered.tobytes(), dtype)
    return values.reshape(*shape, size)


@pack_kernel("DecodeRaw", native=True)
class DecodeRaw(CustomOp):
    """TensorFlow's op of the same name (``tf.io.decode_raw``).

    Input: ``bytes``, strings of any shape ``[...]`` and of one length.

    Output: their bytes as numbers, ``[..., length / width]``.

    Options: ``out_type``, the dtype as LiteRT's TensorType: bool, complex numbers, floats, signed integers, uint8 or
    uint16; ``little_endian``, true if missing: whether the lowest byte of a number comes first.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_raw.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, out_type: int) -> TensorSpec:
        """Checks the input; the number of elements is known only once its bytes are.

        Raises:
            KernelError: The input is not of strings, or the dtype is not supported.
        """
        check_strings("bytes", text)
        return TensorSpec(None, _dtype(out_type))

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, out_type: int, little_endian: bool = True
    ) -> None:
        """Reads one string after the other.

        Raises:
            KernelError: The strings differ in length, or it is not a multiple of the dtype's width.
        """
        (text,), dtype = inputs, _dtype(out_type)
        rows: list[bytes] = text.ravel().tolist()
        lengths = sorted({len(row) for row in rows})
        if len(lengths) > 1:
            raise KernelError(f"all strings must have one length, not {', '.join(map(str, lengths))} bytes")
        if lengths and lengths[0] % dtype.itemsize:
            raise KernelError(f"{lengths[0]} bytes are no whole number of {dtype}")
        outputs[0] = _numbers(rows, text.shape, dtype, little_endian=little_endian)


@pack_kernel("DecodePaddedRaw", native=True)
class DecodePaddedRaw(CustomOp):
    """TensorFlow's op of the same name (``tf.io.decode_raw`` with ``fixed_length``).

    Inputs: ``input_bytes``, strings of any shape ``[...]``; ``fixed_length``, the number of bytes used of each, a
    scalar of int32 and a multiple of the dtype's width. Shorter strings are padded with zeros.

    Output: the bytes as numbers, ``[..., fixed_length / width]``.

    Options: those of ``DecodeRaw``.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_raw.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, length: TensorSpec, *, out_type: int) -> TensorSpec:
        """Returns the shape, if the length is a constant.

        Raises:
            KernelError: The inputs are not strings and a number, or the dtype is not supported.
        """
        shape = check_strings("input_bytes", text)
        check_dtype("fixed_length", length, "int32")
        check_scalar("fixed_length", length)
        dtype = _dtype(out_type)
        if length.value is None:
            return TensorSpec(None, dtype)
        return TensorSpec((*shape, _count(length.value, dtype)), dtype)

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, out_type: int, little_endian: bool = True
    ) -> None:
        """Reads one string after the other.

        Raises:
            KernelError: The length is not a positive multiple of the dtype's width.
        """
        (text, length), dtype = inputs, _dtype(out_type)
        size = _count(length, dtype) * dtype.itemsize
        rows = [row[:size].ljust(size, b"\0") for row in text.ravel().tolist()]
        values = _numbers(rows, text.shape, dtype, little_endian=little_endian) if rows else np.zeros(0, dtype)
        outputs[0] = values.reshape(*text.shape, size // dtype.itemsize)


def _count(length: npt.NDArray[Any], dtype: np.dtype[Any]) -> int:
    """Returns the number of elements for each string."""
    size = int(length.item())
    if size <= 0 or size % dtype.itemsize:
        raise KernelError(
            f"fixed_length must be a positive multiple of {dtype.itemsize}, the width of {dtype}, not {size}"
        )
    return size // dtype.itemsize
