"""Models as the schema's objects: read from files, and written, here alone.

Data and options of ops may stand behind the flatbuffer, as in files of more than 2 GB. Objects have them inside.
"""

from __future__ import annotations

from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime.flatbuffer import Table
from litefuse.litert.runtime.model_tables import BUILTIN_OPS, IDENTIFIER, OP_NUMBERS, dtype_name


def objects_of(content: Any) -> Any:
    """Returns a model as the schema's objects, which have what is stored behind the flatbuffer as if it were inside.

    Args:
        content: The content of a valid ``.tflite`` file, bytes or a memory map, of which large data are views.
    """
    model: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    for buffer in model.buffers or ():
        if buffer.offset > 1:  # an offset of 1 stands for a buffer without data
            buffer.data = np.frombuffer(content, np.uint8, buffer.size, buffer.offset)
        buffer.offset = buffer.size = 0
    for graph in model.subgraphs:
        for op in graph.operators or ():
            if op.largeCustomOptionsSize:
                options = np.frombuffer(content, np.uint8, op.largeCustomOptionsSize, op.largeCustomOptionsOffset)
                op.customOptions = options
            op.largeCustomOptionsOffset = op.largeCustomOptionsSize = 0
    return model


def made(kind: str, **values: Any) -> Any:
    """Returns a new object of the schema.

    Args:
        kind: The name of its class in the schema, such as ``Tensor``.
        **values: Its fields that are not as in an empty one.
    """
    new = getattr(schema, f"{kind}T")()
    for name, value in values.items():
        if not hasattr(new, name):
            raise AttributeError(f"{kind} has no field {name}")
        setattr(new, name, value)
    return new


def custom_code(name: str) -> Any:
    """Returns a new operator code of a custom op."""
    number = OP_NUMBERS["CUSTOM"]
    return made("OperatorCode", builtinCode=number, deprecatedBuiltinCode=number, customCode=name, version=1)


def tensor_like(tensor: Any) -> Any:
    """Returns a new tensor of the type and shape of another one, without a name, a value or scales."""
    fields = ("type", "shape", "shapeSignature", "hasRank")
    return made("Tensor", name=b"", buffer=0, **{field: getattr(tensor, field) for field in fields})


def set_options(op: Any, options: Any) -> None:
    """Gives an op builtin options, of either union."""
    name = type(options).__name__.removesuffix("T")
    if (number := getattr(schema.BuiltinOptions, name, None)) is not None:
        op.builtinOptionsType, op.builtinOptions = number, options
    else:
        op.builtinOptions2Type, op.builtinOptions2 = getattr(schema.BuiltinOptions2, name), options


def object_of(kind: str, table: Table) -> Any:
    """Returns a table as an object of the schema.

    Args:
        kind: The name of its class in the schema, such as ``AddOptions``.
        table: The table.
    """
    reader = getattr(schema, kind)()
    reader.Init(table.data, table.position)
    return getattr(schema, f"{kind}T").InitFromObj(reader)


def bytes_of(data: Any) -> bytes:
    """Returns a copy of a vector of bytes of an object; empty if it has none."""
    return b"" if data is None else np.asarray(data, np.uint8).tobytes()


def flatbuffer_of(model: Any) -> bytearray:
    """Returns the flatbuffer of a model of the schema's objects, with all of its data inside."""
    builder: Any = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=IDENTIFIER)
    return builder.Output()


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
    entry = made("Metadata", name=name.encode(), buffer=len(model.buffers))
    model.buffers, model.metadata = [*model.buffers, made("Buffer", data=data)], [*entries, entry]


def op_code(code: Any) -> int:
    """Returns the builtin operator of an operator code: older files have it in another field."""
    return max(code.builtinCode, code.deprecatedBuiltinCode)


def op_name(code: Any) -> str:
    """Returns the name of an operator code's op in the schema; CUSTOM for custom ops."""
    number = op_code(code)
    return BUILTIN_OPS.get(number, f"BUILTIN_{number}")


def op_names(model: Any) -> list[str]:
    """Returns the names of the ops of a model's operator codes, to which ops refer by their index."""
    return [op_name(code) for code in model.operatorCodes]


def dtype_of(tensor: Any) -> str:
    """Returns the name of a tensor's type, such as ``float32``."""
    return dtype_name(tensor.type)


def tensor_name(tensor: Any) -> str:
    """Returns the name of a tensor."""
    return tensor.name.decode()
