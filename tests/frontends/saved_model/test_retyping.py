from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.errors import GraphError
from litefuse.frontends.saved_model import DataType, SavedModel, op_registry, tensor_value
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NameAttrList, TensorProto
from litefuse.frontends.saved_model.retyping import NARROWED, WIDENED, Retyping


def model_of(function: FunctionDef) -> SavedModel:
    nothing: dict[Any, Any] = {}
    return SavedModel(
        path=Path(),
        tags=frozenset(),
        tensorflow_version="",
        functions={"f": function},
        op_definitions=(),
        signatures=nothing,
        variables=nothing,
        constants=nothing,
        assets=nothing,
        tables=nothing,
        resources=nothing,
        unusable_signatures=nothing,
        bound_inputs=nothing,
    )


def narrowed(function: FunctionDef) -> tuple[FunctionDef, Retyping]:
    narrowing = Retyping(op_registry(), NARROWED)
    return narrowing.model(model_of(function), ()).functions["f"], narrowing


def with_node(op: str, **attributes: AttrValue) -> FunctionDef:
    function = FunctionDef()
    function.signature.name = "f"
    node = function.node_def.add(name="n", op=op)
    for name, value in attributes.items():
        node.attr[name].CopyFrom(value)
    return function


def constant(values: npt.ArrayLike, dtype: DataType) -> AttrValue:
    array = np.array(values, dtype.to_numpy())
    tensor = TensorProto(dtype=dtype, tensor_content=array.tobytes())
    for size in array.shape:
        tensor.tensor_shape.dim.add(size=size)
    return AttrValue(tensor=tensor)


def test_dtypes_wherever_they_are() -> None:
    function = with_node(
        "SomeOp",
        T=AttrValue(type=DataType.FLOAT64),
        reference=AttrValue(type=DataType.COMPLEX128 + 100),
        Tout=AttrValue(list=AttrValue.ListValue(type=[DataType.INT64, DataType.FLOAT64])),
        f=AttrValue(func=NameAttrList(name="g", attr={"T": AttrValue(type=DataType.FLOAT64)})),
        other=AttrValue(type=DataType.INT64),
    )
    function.signature.input_arg.add(name="x", type=DataType.FLOAT64)
    function.signature.output_arg.add(name="y", type=DataType.INT32)
    before = function.SerializeToString(deterministic=True)
    result, narrowing = narrowed(function)
    attributes = result.node_def[0].attr
    assert attributes["T"].type == DataType.FLOAT32
    assert attributes["reference"].type == DataType.COMPLEX64 + 100
    assert list(attributes["Tout"].list.type) == [DataType.INT64, DataType.FLOAT32]
    assert attributes["f"].func.attr["T"].type == DataType.FLOAT32
    assert attributes["other"].type == DataType.INT64
    assert [result.signature.input_arg[0].type, result.signature.output_arg[0].type] == [1, 3]
    assert function.SerializeToString(deterministic=True) == before
    ((found, count),) = narrowing.counts.items()
    assert (found.what, found.name, count) == ("op", "SomeOp", 1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, -2.5, 0.0], [0.1, -2.5, 0.0]),
        (3.25, 3.25),
        ([np.inf, -np.inf, np.nan], [np.inf, -np.inf, np.nan]),
        ([np.finfo(np.float64).max, 1], [np.finfo(np.float32).max, 1]),
        (np.finfo(np.float64).min, np.finfo(np.float32).min),
        (np.finfo(np.float64).tiny, np.finfo(np.float32).tiny),
        ([1e-60, 1.0], [0.0, 1.0]),  # a weight as good as zero
        ([], []),
    ],
)
def test_constants(values: Any, expected: Any) -> None:
    result, _ = narrowed(with_node("Const", value=constant(values, DataType.FLOAT64)))
    value = tensor_value(result.node_def[0].attr["value"].tensor)
    assert value.dtype == np.float32
    np.testing.assert_array_equal(value, np.array(expected, np.float32))


@pytest.mark.parametrize("dtype", [DataType.FLOAT16, DataType.BFLOAT16])
@pytest.mark.parametrize("values", [[0.1, -2.5, 0.0], 3.25, [np.inf, -np.inf, np.nan], [6e-8, 60000.0], []])
def test_constants_are_widened(dtype: DataType, values: Any) -> None:
    function = with_node("Const", dtype=AttrValue(type=dtype), value=constant(values, dtype))
    widening = Retyping(op_registry(), WIDENED)
    (node,) = widening.model(model_of(function), ()).functions["f"].node_def
    assert node.attr["dtype"].type == DataType.FLOAT32
    value = tensor_value(node.attr["value"].tensor)
    assert value.dtype == np.float32
    np.testing.assert_array_equal(value, np.array(values, dtype.to_numpy()).astype(np.float32))
    assert {(found.what, found.dtype) for found in widening.counts} == {("op", dtype)}


def test_what_is_not_asked_for_stays() -> None:
    function = with_node("SomeOp", T=AttrValue(type=DataType.FLOAT64), U=AttrValue(type=DataType.FLOAT16))
    (node,) = Retyping(op_registry(), WIDENED).model(model_of(function), ()).functions["f"].node_def
    assert (node.attr["T"].type, node.attr["U"].type) == (DataType.FLOAT64, DataType.FLOAT32)


def test_constant_of_one_value_for_all_elements() -> None:
    tensor = TensorProto(dtype=DataType.FLOAT64, double_val=[0.5])
    tensor.tensor_shape.dim.add(size=1000)
    result, _ = narrowed(with_node("Const", value=AttrValue(tensor=tensor)))
    small = result.node_def[0].attr["value"].tensor
    assert len(small.SerializeToString()) < 50
    np.testing.assert_array_equal(tensor_value(small), np.full(1000, 0.5, np.float32))


def test_complex_constant() -> None:
    result, _ = narrowed(with_node("Const", value=constant([[1 + 2j], [0.1 - 3j]], DataType.COMPLEX128)))
    value = tensor_value(result.node_def[0].attr["value"].tensor)
    np.testing.assert_array_equal(value, np.array([[1 + 2j], [0.1 - 3j]], np.complex64))


@pytest.mark.parametrize("values", [[1.0, 1e39], [-1e300], 1e-300, [1e-60]])
def test_constant_that_does_not_fit(values: Any) -> None:
    with pytest.raises(GraphError, match="out of float32's range") as caught:
        narrowed(with_node("Const", value=constant(values, DataType.FLOAT64)))
    assert caught.value.where == "function f, node n (Const)"


def test_op_that_is_of_float64_by_definition() -> None:
    with pytest.raises(GraphError, match="Timestamp of float64 has no form in float32"):
        narrowed(with_node("Timestamp"))


def test_functions_are_narrowed_when_they_are_asked_for() -> None:
    narrowing = Retyping(op_registry(), NARROWED)
    model = narrowing.model(model_of(with_node("Bitcast", T=AttrValue(type=DataType.FLOAT64))), ())
    assert list(model.functions) == ["f"]
    assert "f" in model.functions
    assert len(model.functions) == 1
    with pytest.raises(GraphError, match="Bitcast of float64"):
        model.functions["f"]
