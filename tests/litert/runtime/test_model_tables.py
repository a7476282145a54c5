"""The names of ops, types and activations are the schema's, and objects of the schema are made by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime.flatbuffer import root
from litefuse.litert.runtime.model_tables import (
    ACTIVATIONS,
    BUILTIN_OPS,
    CALLEES,
    DTYPE_NUMBERS,
    OP_NUMBERS,
    TENSOR_TYPES,
    names_of,
)
from litefuse.litert.runtime.schema_objects import dtype_of, made, op_name, set_options


def test_names_are_the_schema_s() -> None:
    assert names_of(schema.BuiltinOperator) == BUILTIN_OPS
    assert names_of(schema.TensorType) == TENSOR_TYPES
    assert names_of(schema.ActivationFunctionType) == ACTIVATIONS


def test_numbers_are_those_of_the_names() -> None:
    assert OP_NUMBERS["CUSTOM"] == schema.BuiltinOperator.CUSTOM
    assert DTYPE_NUMBERS["bfloat16"] == schema.TensorType.BFLOAT16


@pytest.mark.parametrize(
    ("union", "callees"), [*zip((schema.BuiltinOptions, schema.BuiltinOptions2), CALLEES, strict=True)]
)
def test_the_fields_that_name_subgraphs_are_the_schema_s(union: type, callees: Mapping[int, Sequence[int]]) -> None:
    suffix, numbers = "SubgraphIndex", set[int]()
    for name, number in vars(union).items():
        options: Any = made(name) if hasattr(schema, f"{name}T") else None
        if fields := [field for field in getattr(options, "__dict__", ()) if field.endswith(suffix)]:
            for index, field in enumerate(fields, 5):
                setattr(options, field, index)
            builder: Any = flatbuffers.Builder()
            builder.Finish(options.Pack(builder))
            table = root(builder.Output())
            assert sorted(table.number(field, "i") for field in callees[number]) == [*range(5, 5 + len(fields))], name
            numbers.add(number)
    assert numbers == {*callees}


def test_an_object_is_made_with_its_fields() -> None:
    tensor: Any = made("Tensor", name="x", type=DTYPE_NUMBERS["int8"])
    assert type(tensor) is schema.TensorT
    assert (tensor.name, dtype_of(tensor), tensor.shape) == ("x", "int8", None)
    with pytest.raises(AttributeError, match="Tensor has no field typ"):
        made("Tensor", typ=1)


def test_options_go_into_the_union_that_has_them() -> None:
    op: Any = made("Operator")
    set_options(op, made("AddOptions"))
    assert op.builtinOptionsType == schema.BuiltinOptions.AddOptions
    set_options(op, made("StableHLOCompositeOptions"))
    assert op.builtinOptions2Type == schema.BuiltinOptions2.StableHLOCompositeOptions
    assert type(op.builtinOptions) is schema.AddOptionsT


@pytest.mark.parametrize(("number", "name"), [(0, "ADD"), (25, "SOFTMAX"), (9999, "BUILTIN_9999")])
def test_an_op_code_has_a_name(number: int, name: str) -> None:
    assert op_name(made("OperatorCode", builtinCode=number)) == name
    assert op_name(made("OperatorCode", builtinCode=0, deprecatedBuiltinCode=number)) == name
