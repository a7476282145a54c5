"""Values of ``TensorProto`` messages: the constants of graphs and functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType, is_array_shape
from litefuse.support.options.limits import check_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.messages import TensorProto


def tensor_value(proto: TensorProto, where: str = "") -> NDArray[Any]:
    """Returns the value of a constant as a read-only array.

    A message holds raw little-endian bytes, or a list of elements whose last one is repeated for all omitted ones (an
    empty list means zeros). A constant with one listed element is a broadcast view of that element.

    Returns:
        The array; of ``bytes`` objects for a string tensor.

    Raises:
        SavedModelError: The type has no value that can be read (resource, variant), or data and shape do not match.
        LimitError: The message lists only some of the elements, and the constant is larger than the limit.
    """
    dtype = DataType.from_proto(proto.dtype, where)
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_shape.unknown_rank or not is_array_shape(shape):
        raise SavedModelError(f"a constant cannot have the shape {list(shape)}", where=where)
    if not dtype.has_numpy:
        raise SavedModelError(f"a constant of type {dtype} has no value that can be read", where=where)
    count = math.prod(shape)
    numpy_dtype = dtype.to_numpy()
    if proto.tensor_content and dtype != DataType.STRING:
        if len(proto.tensor_content) != count * numpy_dtype.itemsize:
            size = len(proto.tensor_content)
            raise SavedModelError(f"{size} bytes are not a {dtype} constant of shape {list(shape)}", where=where)
        return np.ndarray(shape, numpy_dtype, proto.tensor_content)
    try:
        values = _listed_values(proto, dtype)
    except OverflowError:
        raise SavedModelError(f"an element of a {dtype} constant is out of range", where=where) from None
    if values.size > count:
        raise SavedModelError(f"{values.size} elements for a constant of shape {list(shape)}", where=where)
    listed = values.size * numpy_dtype.itemsize
    check_constant(count * numpy_dtype.itemsize, listed, f"a {dtype} constant of shape {list(shape)}", where)
    if values.size == count:
        result = np.reshape(values, shape)
    elif values.size <= 1:
        if not values.size:
            values = np.zeros(1, numpy_dtype)
            if dtype == DataType.STRING:
                values[0] = b""
        result = np.broadcast_to(np.reshape(values, ()), shape)
    else:
        # Repeating the last element keeps a bytes object as it is; numpy would strip its trailing zero bytes.
        result = np.reshape(np.concatenate([values, np.repeat(values[-1:], count - values.size)]), shape)
    result.flags.writeable = False
    return result


def _listed_values(proto: TensorProto, dtype: DataType) -> NDArray[Any]:
    """Returns the elements that the message lists, from the field for its type."""
    numpy_dtype = dtype.to_numpy()
    if dtype == DataType.STRING:
        strings = np.empty(len(proto.string_val), np.object_)
        strings[:] = list(proto.string_val)
        return strings
    if dtype in _BIT_PATTERNS:  # 16 bits in each int32
        return np.frombuffer(np.array(proto.half_val, np.int32).astype(np.uint16).tobytes(), numpy_dtype)
    if dtype in _BYTES:
        return np.frombuffer(proto.float8_val, numpy_dtype)
    if dtype in _COMPLEX:  # real and imaginary parts alternate
        parts = np.array(proto.scomplex_val if dtype == DataType.COMPLEX64 else proto.dcomplex_val, np.float64)
        return (parts[::2][: parts.size // 2] + 1j * parts[1::2]).astype(numpy_dtype)
    fields: dict[DataType, Sequence[float]] = {
        DataType.BOOL: proto.bool_val,
        DataType.FLOAT32: proto.float_val,
        DataType.FLOAT64: proto.double_val,
        DataType.INT64: proto.int64_val,
        DataType.UINT32: proto.uint32_val,
        DataType.UINT64: proto.uint64_val,
    }
    listed = fields.get(dtype, proto.int_val)
    if listed is not proto.int_val:
        return np.array(listed, numpy_dtype)
    return np.array(proto.int_val, np.int32).astype(numpy_dtype)


_BIT_PATTERNS = frozenset({DataType.FLOAT16, DataType.BFLOAT16})
_BYTES = frozenset(
    {
        DataType.FLOAT8_E5M2,
        DataType.FLOAT8_E4M3FN,
        DataType.FLOAT8_E4M3FNUZ,
        DataType.FLOAT8_E4M3B11FNUZ,
        DataType.FLOAT8_E5M2FNUZ,
    }
)
_COMPLEX = frozenset({DataType.COMPLEX64, DataType.COMPLEX128})
