"""TensorFlow's element types and their numpy counterparts."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from litefuse.errors import SavedModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.frontends.saved_model.messages import TensorShapeProto

Shape: TypeAlias = "tuple[int | None, ...]"
"""The shape that a tensor's type states, of known rank: None for an unknown size."""

# numpy 1 supports 32 dimensions, numpy 2 supports 64; no tensor of a model has nearly as many.
_MAX_RANK = 32
_MAX_ITEM_SIZE = 16


class DataType(enum.IntEnum):
    """An element type, numbered as in TensorFlow's ``DataType`` protobuf enum.

    ``str(DataType.FLOAT32)`` is TensorFlow's name of the type, ``"float32"``.
    """

    FLOAT32 = 1
    FLOAT64 = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 5
    INT8 = 6
    STRING = 7
    COMPLEX64 = 8
    INT64 = 9
    BOOL = 10
    QINT8 = 11
    QUINT8 = 12
    QINT32 = 13
    BFLOAT16 = 14
    QINT16 = 15
    QUINT16 = 16
    UINT16 = 17
    COMPLEX128 = 18
    FLOAT16 = 19
    RESOURCE = 20
    VARIANT = 21
    UINT32 = 22
    UINT64 = 23
    FLOAT8_E5M2 = 24
    FLOAT8_E4M3FN = 25
    FLOAT8_E4M3FNUZ = 26
    FLOAT8_E4M3B11FNUZ = 27
    FLOAT8_E5M2FNUZ = 28
    INT4 = 29
    UINT4 = 30
    INT2 = 31
    UINT2 = 32
    FLOAT4_E2M1FN = 33

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def from_proto(cls, value: int, where: str = "") -> DataType:
        """Returns the type for a protobuf enum value; a reference type (value + 100) becomes its value type.

        Raises:
            SavedModelError: No such type; ``where`` says where it was found.
        """
        try:
            return cls(value - 100 if value > 100 else value)
        except ValueError:
            raise SavedModelError(f"unknown element type {value}", where=where) from None

    @property
    def has_numpy(self) -> bool:
        """Whether a numpy array can hold the elements: false for resources and variants."""
        return self in _NUMPY or self in _OF_ML_DTYPES

    def to_numpy(self) -> np.dtype[Any]:
        """Returns the numpy type, ``object`` (holding bytes) for strings; quantized types are their storage integers.

        Types below 8 bits take one byte per element, in numpy as in TensorFlow's files.

        Raises:
            SavedModelError: The type is resource or variant.
        """
        if self in _OF_ML_DTYPES:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, str(self)))
        try:
            return _NUMPY[self]
        except KeyError:
            raise SavedModelError(f"a tensor of type {self} has no value that can be read") from None


_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_OTHERS = ("bool", "float16", "float32", "float64", "complex64", "complex128")
_NUMPY: dict[DataType, np.dtype[Any]] = {
    **{DataType[name.upper()]: np.dtype(name) for name in (*_INTEGERS, *_OTHERS)},
    **{DataType[f"Q{name.upper()}"]: np.dtype(name) for name in ("int8", "int16", "int32", "uint8", "uint16")},
    DataType.STRING: np.dtype(np.object_),
}

# Types that numpy lacks; ml_dtypes has them under TensorFlow's names. It is imported late since few models need it.
_OF_ML_DTYPES = frozenset(
    {
        DataType.BFLOAT16,
        DataType.FLOAT8_E5M2,
        DataType.FLOAT8_E4M3FN,
        DataType.FLOAT8_E4M3FNUZ,
        DataType.FLOAT8_E4M3B11FNUZ,
        DataType.FLOAT8_E5M2FNUZ,
        DataType.FLOAT4_E2M1FN,
        DataType.INT2,
        DataType.INT4,
        DataType.UINT2,
        DataType.UINT4,
    }
)


def shape_from_proto(proto: TensorShapeProto) -> Shape | None:
    """Returns the shape of a message, in which -1 is an unknown dimension; None for an unknown rank."""
    return None if proto.unknown_rank else tuple(dim.size if dim.size >= 0 else None for dim in proto.dim)


def is_array_shape(shape: Sequence[int]) -> bool:
    """Whether numpy can have an array of this shape, whatever its type: rank at most 32, no overflow."""
    volume = math.prod(max(size, 1) for size in shape) * _MAX_ITEM_SIZE
    return len(shape) <= _MAX_RANK and all(size >= 0 for size in shape) and volume < 2**63
