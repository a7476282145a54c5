from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType, is_array_shape, shape_from_proto
from litefuse.frontends.saved_model.messages import TensorShapeProto


def test_names_are_those_of_tensorflow() -> None:
    assert [str(DataType(number)) for number in (1, 2, 3, 7, 14, 19, 20, 25)] == [
        "float32",
        "float64",
        "int32",
        "string",
        "bfloat16",
        "float16",
        "resource",
        "float8_e4m3fn",
    ]


def test_each_number_is_one_type() -> None:
    """The numbers of tensorflow/core/framework/types.proto have no gaps, and those of float8 are in this order."""
    assert [each.value for each in DataType] == [*range(1, 34)]
    assert [str(DataType(number)) for number in range(23, 34)] == [
        "uint64",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e4m3b11fnuz",
        "float8_e5m2fnuz",
        "int4",
        "uint4",
        "int2",
        "uint2",
        "float4_e2m1fn",
    ]


def test_numpy_types() -> None:
    assert DataType.FLOAT32.to_numpy() == np.float32
    assert DataType.BFLOAT16.to_numpy() == ml_dtypes.bfloat16
    assert DataType.QINT32.to_numpy() == np.int32
    assert DataType.STRING.to_numpy() == np.object_
    assert DataType.INT4.to_numpy().itemsize == 1
    for dtype in DataType:
        assert dtype.has_numpy == (dtype not in (DataType.RESOURCE, DataType.VARIANT))
        if str(dtype).startswith(("int", "uint", "float", "bfloat", "complex", "bool")):
            assert str(dtype.to_numpy()) == str(dtype)


@pytest.mark.parametrize("dtype", [DataType.RESOURCE, DataType.VARIANT], ids=str)
def test_types_without_values(dtype: DataType) -> None:
    with pytest.raises(SavedModelError, match=f"type {dtype}"):
        dtype.to_numpy()


def test_reference_types_become_value_types() -> None:
    assert DataType.from_proto(101) is DataType.FLOAT32
    assert DataType.from_proto(120) is DataType.RESOURCE


@pytest.mark.parametrize("value", [0, -1, 34, 100, 134, 2**31 - 1])
def test_unknown_types(value: int) -> None:
    with pytest.raises(SavedModelError, match=f"unknown element type {value}") as caught:
        DataType.from_proto(value, "here")
    assert caught.value.where == "here"


def test_shapes() -> None:
    dim = TensorShapeProto.Dim
    assert shape_from_proto(TensorShapeProto()) == ()
    assert shape_from_proto(TensorShapeProto(dim=[dim(size=-1), dim(size=0), dim(size=3)])) == (None, 0, 3)
    assert shape_from_proto(TensorShapeProto(unknown_rank=True)) is None


@pytest.mark.parametrize("shape", [(), (0,), (2**58,), (2**58, 0), (1,) * 32])
def test_array_shapes(shape: tuple[int, ...]) -> None:
    assert is_array_shape(shape)
    assert np.ndarray(shape, np.complex128, b"", strides=(0,) * len(shape)).shape == shape if 0 in shape else True


@pytest.mark.parametrize("shape", [(-1,), (2**59,), (2**59, 0), (2**40, 2**40), (1,) * 33])
def test_shapes_that_no_array_has(shape: tuple[int, ...]) -> None:
    assert not is_array_shape(shape)
