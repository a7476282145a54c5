"""Tensors of the runtime as numpy arrays."""

from __future__ import annotations

import ctypes
import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.litert.runtime.abi import (
    AFFINE_QUANTIZATION,
    NO_QUANTIZATION,
    TfLiteAffineQuantization,
    TfLiteTensor,
    TfLiteType,
    read_float_array,
    read_int_array,
)
from litefuse.litert.runtime.scales import QuantizationParameters, are_scales

STRING = np.dtype(object)

MOST_STRINGS = 2**29 - 3
"""How many strings a tensor can hold: their offsets take four bytes each, and everything together less than 2 GiB."""

_OTHER_NAMES: dict[TfLiteType, Any] = {TfLiteType.STRING: object, TfLiteType.BFLOAT16: ml_dtypes.bfloat16}
_WITHOUT_DTYPE = {TfLiteType.RESOURCE, TfLiteType.VARIANT, TfLiteType.INT4}
_DTYPES: dict[int, np.dtype[Any]] = {
    number: np.dtype(_OTHER_NAMES.get(number, number.name.lower()))
    for number in TfLiteType
    if number not in _WITHOUT_DTYPE
}

#: The numbers of ``TfLiteType`` by numpy dtypes.
NUMBERS: dict[np.dtype[Any], int] = {dtype: number for number, dtype in _DTYPES.items()}

# The types whose numbers may be quantized real numbers.
_INTEGERS = frozenset(
    {TfLiteType.INT4, *(getattr(TfLiteType, f"{sign}INT{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64))}
)


def dtype_of(tensor: TfLiteTensor, *, where: str) -> np.dtype[Any]:
    """Returns the numpy dtype of the tensor's elements; ``object`` for strings.

    Raises:
        KernelError: Its type is packed (int4 and smaller), a resource or a variant, which kernels do not support.
    """
    dtype = _DTYPES.get(tensor.type)
    if dtype is None:
        known = TfLiteType._value2member_map_.get(tensor.type)
        type_name = known.name.lower() if isinstance(known, TfLiteType) else f"number {tensor.type}"
        raise KernelError(
            f"tensor {name_of(tensor)!r} is of type {type_name}, which Python kernels cannot take", where=where
        )
    return dtype


def name_of(tensor: TfLiteTensor) -> str:
    """Returns the tensor's name in the model."""
    return (tensor.name or b"").decode("utf-8", "replace")


def quantization_of(tensor: TfLiteTensor) -> QuantizationParameters | None:
    """Returns the scales of a tensor.

    None if its numbers stand for themselves, or are of floating point, if it has scales in blocks, and if what it has
    holds no sense: a scale that is not positive and finite, an axis or a number of zero points that do not fit.
    """
    if tensor.type not in _INTEGERS:
        return None
    axis, scales, zeros = 0, (tensor.scale,), (tensor.zero_point,)
    if tensor.quantization_type == AFFINE_QUANTIZATION and tensor.quantization_params:
        parameters = TfLiteAffineQuantization.from_address(tensor.quantization_params)
        scales, zeros = read_float_array(parameters.scale), read_int_array(parameters.zero_point)
        axis = parameters.quantized_dimension if len(scales) > 1 else 0
    elif tensor.quantization_type != NO_QUANTIZATION:
        return None
    if len(scales) > 1 and not 0 <= axis < len(shape_of(tensor)):
        return None
    if len(zeros) not in {1, len(scales)} or not are_scales(scales):
        return None
    zero_points = np.broadcast_to(np.array(zeros, np.int64), len(scales))
    return QuantizationParameters(np.array(scales, np.float32), zero_points, axis)


def shape_of(tensor: TfLiteTensor) -> tuple[int, ...]:
    """Returns the tensor's current sizes."""
    return read_int_array(tensor.dims)


def signature_of(tensor: TfLiteTensor) -> tuple[int, ...]:
    """Returns the sizes that the model declares, -1 for those that may change; empty if it declares none."""
    return read_int_array(tensor.dims_signature)


def array_view(
    address: int | None, shape: tuple[int, ...], dtype: np.dtype[Any], *, writable: bool
) -> npt.NDArray[Any]:
    """Returns an array over the runtime's memory, which it neither owns nor keeps alive.

    Raises:
        KernelError: The tensor has no memory, or numpy does not support arrays of such sizes, even empty ones.
    """
    count = math.prod(shape)
    if count == 0:
        try:
            array = np.empty(shape, dtype)
        except ValueError as error:
            raise KernelError(f"a tensor {dtype}{list(shape)} of the node is not an array: {error}") from error
    elif address:
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        array = np.ndarray(shape, dtype, buffer=memoryview(memory))
    else:
        raise KernelError(f"the runtime has no memory for a tensor {dtype}{list(shape)} of the node")
    array.flags.writeable = writable
    return array


def read_strings(tensor: TfLiteTensor) -> npt.NDArray[Any]:
    """Copies a string tensor into a read-only object array of ``bytes``; see :func:`decode_strings`."""
    shape = shape_of(tensor)
    strings: npt.NDArray[Any] = np.full(math.prod(shape), b"", STRING)
    if tensor.data and tensor.bytes:
        decoded = decode_strings(ctypes.string_at(tensor.data, tensor.bytes))
        strings[: decoded.size] = decoded
    strings = np.reshape(strings, shape)
    strings.flags.writeable = False
    return strings


def decode_strings(data: bytes) -> npt.NDArray[Any]:
    """Decodes strings in the runtime's format into a vector of ``bytes`` objects.

    The runtime keeps strings in one buffer: an int32 count, that many and one more int32 offsets from the buffer's
    start, then the bytes (``tflite/string_util.h``).
    """
    offsets: list[int] = np.frombuffer(data, "<i4", int.from_bytes(data[:4], "little") + 1, 4).tolist()
    strings: npt.NDArray[Any] = np.empty(len(offsets) - 1, STRING)
    strings[:] = [data[start:end] for start, end in itertools.pairwise(offsets)]
    return strings


def are_strings(data: bytes, count: int) -> bool:
    """Whether the bytes are that many strings in the runtime's format; see ``decode_strings``."""
    if len(data) < 4 * (count + 2) or int.from_bytes(data[:4], "little") != count:
        return False
    offsets = np.frombuffer(data, "<i4", count + 1, 4)
    return bool(offsets[0] >= 4 * (count + 2) and offsets[-1] <= len(data) and np.all(offsets[:-1] <= offsets[1:]))


def encode_strings(array: npt.NDArray[Any]) -> bytes:
    """Encodes an array of ``bytes`` or ``str`` (as UTF-8) in the runtime's format; see ``read_strings``.

    Raises:
        TypeError: An element is neither.
        OverflowError: They take more than 2 GiB together.
    """
    strings: list[bytes] = []
    for element in array.ravel().tolist():
        if isinstance(element, str):
            strings.append(element.encode())
        elif isinstance(element, bytes):
            strings.append(element)
        else:
            raise TypeError(f"{element!r} is neither bytes nor str")
    first = 4 * (len(strings) + 2)
    offsets = first + np.cumsum([0, *map(len, strings)], dtype=np.int64)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise OverflowError(f"the strings take {offsets[-1]} bytes; a string tensor holds at most 2 GiB")
    return np.int32(len(strings)).tobytes() + offsets.astype("<i4").tobytes() + b"".join(strings)
