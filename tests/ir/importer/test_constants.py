from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from litert_converter.model_utils_ext import get_dense_elements_attr_bytes

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import TensorProto
from litefuse.ir.importer.constants import elements_attribute, tensor_elements_attribute
from litefuse.ir.mlir import ir, mlir_context

DTYPES = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]
ELEMENTS = {
    **{f"int{width}": f"i{width}" for width in (8, 16, 32, 64)},
    **{f"uint{width}": f"ui{width}" for width in (8, 16, 32, 64)},
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), (1, 2, 1, 2, 1, 2)])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_rank(name: str, shape: tuple[int, ...]) -> None:
    dtype = DataType[name.upper()]
    values: npt.NDArray[Any] = np.random.default_rng(0).normal(0, 50, shape)
    array: npt.NDArray[Any] = np.asarray(np.abs(values)).astype(dtype.to_numpy())
    with mlir_context():
        attribute = elements_attribute(array, dtype)
        spelled = "".join(f"{size}x" for size in shape) + ELEMENTS[name]
        assert str(ir.DenseElementsAttr(attribute).type) == f"tensor<{spelled}>"
        assert get_dense_elements_attr_bytes(attribute) == array.tobytes()


def test_booleans() -> None:
    with mlir_context():
        attribute = elements_attribute(np.array([[True, False, True]]), DataType.BOOL)
        assert str(attribute) == "dense<[[true, false, true]]> : tensor<1x3xi1>"


def test_strings_of_any_bytes() -> None:
    values = np.array([[b"plain", b'"quoted" \\ \xff\x00'], [b"", "ü".encode()]], object)
    with mlir_context():
        text = str(elements_attribute(values, DataType.STRING))
        assert text == (r'dense<[["plain", "\22quoted\22 \\ \FF\00"], ["", "\C3\BC"]]> : tensor<2x2x!tf_type.string>')
        assert str(elements_attribute(np.array(b"one", object), DataType.STRING)) == (
            'dense<"one"> : tensor<!tf_type.string>'
        )


def test_a_repeated_value_takes_no_memory() -> None:
    with mlir_context():
        # 16 GiB, if it were written out
        array: npt.NDArray[Any] = np.broadcast_to(np.full(1, 0.5, np.float32), (1 << 20, 1 << 12))
        attribute = ir.DenseElementsAttr(elements_attribute(array, DataType.FLOAT32))
        assert attribute.is_splat


def test_a_slice_is_written_in_order() -> None:
    grid: npt.NDArray[Any] = np.reshape(np.arange(12, dtype=np.float32), (3, 4))
    array: npt.NDArray[Any] = np.transpose(grid)[::2]
    with mlir_context():
        assert get_dense_elements_attr_bytes(elements_attribute(array, DataType.FLOAT32)) == array.tobytes()


def test_nan_and_infinities() -> None:
    array = np.array([np.nan, np.inf, -np.inf, -0.0], ml_dtypes.bfloat16)
    with mlir_context():
        assert get_dense_elements_attr_bytes(elements_attribute(array, DataType.BFLOAT16)) == array.tobytes()


def test_a_damaged_constant_is_an_error() -> None:
    proto = TensorProto(dtype=DataType.FLOAT32, tensor_content=b"123")
    with mlir_context(), pytest.raises(GraphError, match="3 bytes are not a float32 constant"):
        tensor_elements_attribute(proto)
