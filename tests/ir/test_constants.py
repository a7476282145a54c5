"""Elements of constants."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.ir.constants import elements_of
from litefuse.ir.importer.constants import constant, mapped_attribute
from litefuse.ir.mlir import COUNTS, ir, mlir_context


@pytest.mark.parametrize(
    ("array", "dtype", "readable"),
    [
        (np.array([[1, -2]], np.int64), DataType.INT64, True),
        (np.array([True, False, True]), DataType.BOOL, True),
        (np.full((2, 3), 4, np.int32), DataType.INT32, True),
        (np.array([255], np.uint8), DataType.UINT8, True),
        (np.zeros((0, 3), np.float32), DataType.FLOAT32, True),
        (np.array(1.5, np.float16), DataType.FLOAT16, True),
        (np.array([1, 2], ml_dtypes.bfloat16), DataType.BFLOAT16, False),
        (np.array([b"a", b"bc"], np.object_), DataType.STRING, False),
    ],
)
def test_elements(array: npt.NDArray[Any], dtype: DataType, readable: bool) -> None:
    with mlir_context(), ir.Location.unknown(), ir.InsertionPoint(ir.Module.create().body):
        elements = elements_of(constant(array, dtype))
    assert (elements is not None) == readable
    if elements is not None:
        assert (elements.shape, elements.dtype) == (array.shape, array.dtype)
        assert (elements == array).all()


def test_other_values() -> None:
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.parse(
            "func.func @f(%x: tensor<2xf32>) {\n"
            '%c = "tf.Const"() {value = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>} : () -> tensor<2xcomplex<f32>>\n'
            '%y = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn\n}'
        )
        (block,) = module.body.operations[0].regions[0].blocks
        values = [*block.arguments, *(op.results[0] for op in [*block.operations][:2])]
        assert [elements_of(value) for value in values] == [None, None, None]


def test_a_weight_is_read_and_not_passed_to_the_engine() -> None:
    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    before = COUNTS["copied_bytes"]
    with mlir_context(), ir.Location.unknown(), ir.InsertionPoint(ir.Module.create().body):
        kind = ir.RankedTensorType.get([3, 4], ir.F32Type.get())
        attribute = mapped_attribute(weight, DataType.FLOAT32)
        assert attribute is not None
        op = ir.Operation.create("tf.Const", [kind], [], {"value": attribute})
        assert (elements_of(op.result) == weight).all()
    assert COUNTS["copied_bytes"] == before
