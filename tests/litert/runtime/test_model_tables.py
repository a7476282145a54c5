"""The names of ops and types are the schema's."""

from __future__ import annotations

from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime.model_tables import BUILTIN_OPS, TENSOR_TYPES, names_of


def test_names_are_the_schema_s() -> None:
    assert names_of(schema.BuiltinOperator) == BUILTIN_OPS
    assert names_of(schema.TensorType) == TENSOR_TYPES
