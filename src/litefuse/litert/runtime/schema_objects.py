"""Models as the schema's objects: what they say of their ops and tensors, and their metadata."""

from __future__ import annotations

from typing import Any

from ai_edge_litert import schema_py_generated as schema

__all__ = ["add_metadata", "op_code", "op_codes", "tensor_name"]


def add_metadata(model: Any, name: str, data: Any) -> None:
    """Adds metadata of a name, unless there are some.

    Args:
        model: The model.
        name: The name.
        data: The bytes, an array of uint8.
    """
    entries: list[Any] = list(model.metadata or ())
    if any(entry.name == name.encode() for entry in entries):
        return
    buffer: Any = schema.BufferT()
    entry: Any = schema.MetadataT()
    buffer.data = data
    entry.name, entry.buffer = name.encode(), len(model.buffers)
    model.buffers, model.metadata = [*model.buffers, buffer], [*entries, entry]


def op_code(code: Any) -> int:
    """Returns the builtin operator of an operator code: older files have it in another field."""
    return max(code.builtinCode, code.deprecatedBuiltinCode)


def op_codes(model: Any) -> list[int]:
    """Returns the builtin operators of a model's operator codes, to which ops refer by their index."""
    return [op_code(each) for each in model.operatorCodes]


def tensor_name(tensor: Any) -> str:
    """Returns the name of a tensor."""
    return tensor.name.decode()
