from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import ResourceHandleProto, TensorProto, TensorShapeProto
from litefuse.frontends.saved_model.tensor_proto import tensor_value


def proto(dtype: DataType, shape: tuple[int, ...], **values: Any) -> TensorProto:
    dims = [TensorShapeProto.Dim(size=size) for size in shape]
    return TensorProto(dtype=dtype, tensor_shape=TensorShapeProto(dim=dims), **values)


@pytest.mark.parametrize("dtype", [d for d in DataType if d.has_numpy and d != DataType.STRING], ids=str)
def test_raw_bytes(dtype: DataType) -> None:
    expected = np.array([[0, 1, 1], [1, 0, 0]]).astype(dtype.to_numpy())
    value = tensor_value(proto(dtype, (2, 3), tensor_content=expected.tobytes()))
    assert value.dtype == expected.dtype
    assert value.shape == (2, 3)
    assert value.tobytes() == expected.tobytes()
    assert not value.flags.writeable


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        (DataType.FLOAT32, {"float_val": [0.5, -1]}, [0.5, -1]),
        (DataType.FLOAT64, {"double_val": [0.1, 2]}, [0.1, 2]),
        (DataType.INT32, {"int_val": [1, -2]}, [1, -2]),
        (DataType.INT8, {"int_val": [1, -2]}, [1, -2]),
        (DataType.UINT8, {"int_val": [1, 255]}, [1, 255]),
        (DataType.INT16, {"int_val": [1, -300]}, [1, -300]),
        (DataType.UINT16, {"int_val": [1, 65535]}, [1, 65535]),
        (DataType.QINT8, {"int_val": [1, -2]}, [1, -2]),
        (DataType.INT4, {"int_val": [7, -8]}, [7, -8]),
        (DataType.INT64, {"int64_val": [2**60, -1]}, [2**60, -1]),
        (DataType.UINT32, {"uint32_val": [1, 2**32 - 1]}, [1, 2**32 - 1]),
        (DataType.UINT64, {"uint64_val": [1, 2**64 - 1]}, [1, 2**64 - 1]),
        (DataType.BOOL, {"bool_val": [True, False]}, [True, False]),
        (DataType.FLOAT16, {"half_val": [0x3C00, 0xC000]}, [1, -2]),
        (DataType.BFLOAT16, {"half_val": [0x3F80, 0xBFC0]}, [1, -1.5]),
        (DataType.FLOAT8_E5M2, {"float8_val": b"\x3c\xc0"}, [1, -2]),
        (DataType.COMPLEX64, {"scomplex_val": [1, 2, 3, -4]}, [1 + 2j, 3 - 4j]),
        (DataType.COMPLEX128, {"dcomplex_val": [0.1, 0.2, 3, -4]}, [0.1 + 0.2j, 3 - 4j]),
        (DataType.STRING, {"string_val": [b"a", b"\xff\0"]}, [b"a", b"\xff\0"]),
    ],
    ids=str,
)
def test_listed_elements(dtype: DataType, values: dict[str, Any], expected: list[Any]) -> None:
    value = tensor_value(proto(dtype, (2,), **values))
    assert value.dtype == dtype.to_numpy()
    assert value.tolist() == expected
    assert not value.flags.writeable
    filled = tensor_value(proto(dtype, (2, 2), **values))
    assert filled.tolist() == [expected, [expected[1]] * 2]


def test_single_string_keeps_its_zero_bytes() -> None:
    value = tensor_value(proto(DataType.STRING, (2,), string_val=[b"a\0\0"]))
    assert value.tolist() == [b"a\0\0"] * 2


def test_single_element_stands_for_all_without_taking_memory() -> None:
    value = tensor_value(proto(DataType.FLOAT32, (1000, 1000, 10, 6), float_val=[2.5]))
    assert value.shape == (1000, 1000, 10, 6)
    assert value[3, 4, 5, 5] == 2.5
    assert value.strides == (0,) * 4


@pytest.mark.parametrize(
    ("dtype", "expected"), [(DataType.INT32, 0), (DataType.BOOL, False), (DataType.STRING, b""), (DataType.BFLOAT16, 0)]
)
def test_no_element_stands_for_zeros(dtype: DataType, expected: object) -> None:
    assert tensor_value(proto(dtype, (2, 2))).tolist() == [[expected] * 2] * 2
    assert tensor_value(proto(dtype, ())).item() == expected


def test_scalar_and_empty() -> None:
    assert tensor_value(proto(DataType.FLOAT32, (), float_val=[3])).shape == ()
    assert tensor_value(proto(DataType.FLOAT32, (0, 5))).shape == (0, 5)
    assert tensor_value(proto(DataType.STRING, (0,))).tolist() == []


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (proto(DataType.FLOAT32, (3,), tensor_content=b"1234"), r"4 bytes are not a float32 constant of shape \[3\]"),
        (proto(DataType.FLOAT32, (1,), float_val=[1, 2]), "2 elements for a constant of shape"),
        (proto(DataType.FLOAT32, (-1,), float_val=[1]), r"cannot have the shape \[-1\]"),
        (proto(DataType.FLOAT32, (2**40, 2**40), float_val=[1]), "cannot have the shape"),
        (proto(DataType.RESOURCE, (), resource_handle_val=[ResourceHandleProto()]), "type resource"),
        (proto(DataType.VARIANT, ()), "type variant"),
        (TensorProto(dtype=77), "unknown element type 77"),
        (TensorProto(dtype=1, tensor_shape=TensorShapeProto(unknown_rank=True)), "cannot have the shape"),
    ],
)
def test_malformed_constants(message: TensorProto, error: str) -> None:
    with pytest.raises(SavedModelError, match=error) as caught:
        tensor_value(message, "node 'c'")
    assert caught.value.where == "node 'c'"
