from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError

from litefuse.frontends.saved_model import DataType, messages
from litefuse.frontends.saved_model.messages import (
    AttrValue,
    NodeDef,
    SavedModel,
    StructuredValue,
    TensorProto,
    TensorShapeProto,
)


def test_round_trip() -> None:
    node = NodeDef(
        name="n",
        op="Const",
        input=["a:0", "^b"],
        attr={
            "dtype": AttrValue(type=DataType.FLOAT32),
            "list": AttrValue(list=AttrValue.ListValue(i=[1, -1], s=[b"\xff"])),
            "value": AttrValue(tensor=TensorProto(dtype=DataType.INT4, tensor_content=b"\0\1")),
        },
    )
    again = NodeDef.FromString(node.SerializeToString())
    assert again == node
    assert again.attr["value"].WhichOneof("value") == "tensor"
    assert list(again.attr["list"].list.i) == [1, -1]


# A field's tag is its number times 8 plus the wire type; the numbers are TensorFlow's.
@pytest.mark.parametrize(
    ("message", "data"),
    [
        (AttrValue(type=1), b"\x30\x01"),
        (AttrValue(s=b"x"), b"\x12\x01x"),
        (NodeDef(op="X"), b"\x12\x01X"),
        (TensorShapeProto(dim=[TensorShapeProto.Dim(size=3)]), b"\x12\x02\x08\x03"),
        (TensorProto(tensor_content=b"z"), b"\x22\x01z"),
        (StructuredValue(int64_value=-2), b"\x60\x03"),
        (SavedModel(saved_model_schema_version=1), b"\x08\x01"),
    ],
)
def test_wire_format(message: NodeDef, data: bytes) -> None:
    assert message.SerializeToString() == data


def test_unknown_fields_are_kept() -> None:
    data = b"\x12\x01X" + b"\xfa\x7f\x03new"
    node = NodeDef.FromString(data)
    assert node.op == "X"
    assert node.SerializeToString() == data


def test_unknown_enum_value_is_kept() -> None:
    assert AttrValue.FromString(b"\x30\x65").type == 101


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    data = b""
    for _ in range(5000):  # each level is field 51 (list_value) around field 1 (values)
        data = b"\x0a" + _length(data) + data
        data = b"\x9a\x03" + _length(data) + data
    with pytest.raises(DecodeError):
        StructuredValue.FromString(data)


def _length(data: bytes) -> bytes:
    length = len(data)
    encoded = bytearray()
    while length >= 0x80:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes(encoded) + bytes([length])


def test_enum_of_element_types_is_that_of_the_messages() -> None:
    enum = TensorProto.DESCRIPTOR.fields_by_name["dtype"].enum_type
    assert enum is not None
    numbers = {value.name.removeprefix("DT_"): value.number for value in enum.values}
    renamed = {"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64", "HALF": "FLOAT16"}
    assert {renamed.get(name, name): number for name, number in numbers.items() if number} == {
        dtype.name: dtype.value for dtype in DataType
    }


def test_stub_lists_the_classes_and_fields() -> None:
    stub = ast.parse(Path(messages.__file__).with_suffix(".pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert sorted(classes) == sorted(messages.__all__)
    for name, node in classes.items():
        declared = {
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        declared |= {item.name for item in node.body if isinstance(item, ast.FunctionDef) and item.decorator_list}
        assert declared == {field.name for field in getattr(messages, name).DESCRIPTOR.fields}, name


def test_messages_are_not_in_the_default_pool() -> None:
    code = (
        "from google.protobuf import descriptor_pool\n"
        "import litefuse.frontends.saved_model.messages\n"
        "try:\n"
        "    descriptor_pool.Default().FindFileByName('litefuse.proto')\n"
        "except KeyError:\n"
        "    print('absent')\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "absent\n"
