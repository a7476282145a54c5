# /// script
# requires-python = ">=3.10"
# dependencies = ["grpcio-tools>=1.66", "ruff>=0.9"]
# ///
"""Compile the ``.proto`` files of ``frontends/saved_model`` into the data and the type stub of ``messages.py``.

Run it after editing a ``.proto`` file: ``uv run --no-project scripts/compile_protos.py``. It writes ``messages.binpb``
(one serialized FileDescriptorProto with the messages of all files, from which the classes are built at import) and
``messages.pyi`` (their fields, for type checkers).
Only the compiler is taken from grpcio-tools: no generated Python code is shipped, so that no version of the protobuf
runtime can refuse it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOM = Path(__file__).resolve().parent.parent / "src" / "litefuse" / "frontends" / "saved_model"

HEADER = """\
# Made by scripts/compile_protos.py from proto/*.proto: do not edit.
# ruff: noqa: A002, N802  (the names are those of the wire format and of protobuf)

from collections.abc import Iterable, Mapping
from typing import Literal

from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.message import Message

"""

PYTHON_TYPES = {
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
    FieldDescriptorProto.TYPE_DOUBLE: "float",
    FieldDescriptorProto.TYPE_FLOAT: "float",
    FieldDescriptorProto.TYPE_STRING: "str",
}


def compile_descriptors() -> FileDescriptorProto:
    """Run protoc over the folder and merge what it makes into one file, which can be registered in one call."""
    sources = sorted(path.name for path in (ROOM / "proto").glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "set.binpb"
        options = [f"-I{ROOM / 'proto'}", f"--descriptor_set_out={output}"]
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *options, *sources], check=True)
        files = FileDescriptorSet.FromString(output.read_bytes()).file
    merged = FileDescriptorProto(name="litefuse.proto", package="litefuse.proto", syntax="proto3")
    for file in files:
        merged.message_type.extend(file.message_type)
        merged.enum_type.extend(file.enum_type)
    return merged


def local_name(type_name: str) -> str:
    return type_name.removeprefix(".litefuse.proto.")


def map_entry(message: DescriptorProto, field: FieldDescriptorProto) -> DescriptorProto | None:
    name = field.type_name.rpartition(".")[2]
    return next((nested for nested in message.nested_type if nested.name == name and nested.options.map_entry), None)


def value_type(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_MESSAGE:
        return local_name(field.type_name)
    return PYTHON_TYPES.get(field.type, "int")  # enums are open: any int may come


def field_types(message: DescriptorProto, field: FieldDescriptorProto) -> tuple[str, str, bool]:
    """Return the field's type, the type that the constructor takes for it, and whether it can be assigned."""
    is_message = field.type == FieldDescriptorProto.TYPE_MESSAGE
    entry = map_entry(message, field)
    if entry is not None:
        key, value = (value_type(part) for part in entry.field)
        container = "MessageMap" if entry.field[1].type == FieldDescriptorProto.TYPE_MESSAGE else "ScalarMap"
        return f"{container}[{key}, {value}]", f"Mapping[{key}, {value}] | None", False
    value = value_type(field)
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        container = "RepeatedCompositeFieldContainer" if is_message else "RepeatedScalarFieldContainer"
        return f"{container}[{value}]", f"Iterable[{value}] | None", False
    return value, f"{value} | None", not is_message


def literal(names: list[str]) -> str:
    return f"Literal[{', '.join(repr(name) for name in names)}]"


def stub(message: DescriptorProto, indent: str = "") -> Iterator[str]:
    """Yield the lines of one message's class."""
    yield f"{indent}class {message.name}(Message):"
    inner = indent + "    "
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield from stub(nested, inner)
    arguments: list[str] = []
    for field in message.field:
        annotation, argument, assignable = field_types(message, field)
        arguments.append(f"{field.name}: {argument} = ...")
        if assignable:
            yield f"{inner}{field.name}: {annotation}"
        else:
            yield f"{inner}@property"
            yield f"{inner}def {field.name}(self) -> {annotation}: ..."
    yield f"{inner}def __init__(self{', *, ' if arguments else ''}{', '.join(arguments)}) -> None: ..."
    present = [
        field.name
        for field in message.field
        if field.label != FieldDescriptorProto.LABEL_REPEATED
        and (field.type == FieldDescriptorProto.TYPE_MESSAGE or field.HasField("oneof_index"))
    ]
    if present:
        yield f"{inner}def HasField(self, field_name: {literal(present)}) -> bool: ..."
    for index, oneof in enumerate(message.oneof_decl):
        members = [
            field.name for field in message.field if field.HasField("oneof_index") and field.oneof_index == index
        ]
        yield f"{inner}def WhichOneof(self, oneof_group: Literal[{oneof.name!r}]) -> {literal(members)} | None: ..."


def main() -> None:
    compiled = compile_descriptors()
    (ROOM / "messages.binpb").write_bytes(compiled.SerializeToString(deterministic=True))
    messages = sorted(compiled.message_type, key=lambda message: message.name)
    names = "\n".join(f"    {message.name!r}," for message in messages)
    body = "\n".join(line for message in messages for line in stub(message))
    path = ROOM / "messages.pyi"
    path.write_text(f"{HEADER}\n__all__ = [\n{names}\n]\n\n{body}\n")
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "check", "--fix", "--quiet", "--select", "F401,I,PYI", str(path)], check=True)
    subprocess.run([*ruff, "format", "--quiet", str(path)], check=True)


if __name__ == "__main__":
    main()
