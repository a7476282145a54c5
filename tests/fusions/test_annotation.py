"""What ``litefuse.annotation`` writes: TensorFlow's attributes of each kind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from google.protobuf import text_format

import litefuse
from litefuse.errors import FusionError
from litefuse.frontends.saved_model.dtypes import DataType, shape_from_proto
from litefuse.frontends.saved_model.messages import NameAttrList
from litefuse.frontends.saved_model.tensor_proto import tensor_value


def read(annotation: str) -> NameAttrList:
    assert "\n" not in annotation
    return text_format.Parse(annotation, NameAttrList())


def attribute(value: Any) -> Any:
    """The attribute that a value becomes."""
    return read(litefuse.annotation("X", value=value)).attr["value"]


@pytest.mark.parametrize("name", ["X", "tftext:Ngrams", 'a "quote" and a \\', "Größe", "name: x"])
def test_names(name: str) -> None:
    message = read(litefuse.annotation(name, **{"name": 1, "data-format": "NHWC"}))
    assert message.name == name
    assert (message.attr["name"].i, message.attr["data-format"].s) == (1, b"NHWC")


@pytest.mark.parametrize(
    ("value", "kind", "stored"),
    [
        (True, "b", True),
        (np.bool_(False), "b", False),
        (-(2**63), "i", -(2**63)),
        (np.uint8(255), "i", 255),
        (1e-3, "f", float(np.float32(1e-3))),
        (np.float32(0.1), "f", float(np.float32(0.1))),
        (float(np.finfo(np.float32).max), "f", float(np.finfo(np.float32).max)),
        (float("-inf"), "f", float("-inf")),
        ("Größe\n", "s", "Größe\n".encode()),
        (b"\xff\x00", "s", b"\xff\x00"),
        (np.float32, "type", DataType.FLOAT32),
        (np.dtype("int64"), "type", DataType.INT64),
        (ml_dtypes.bfloat16, "type", DataType.BFLOAT16),
        (np.str_, "type", DataType.STRING),
        (SimpleNamespace(as_datatype_enum=10), "type", DataType.BOOL),  # a dtype of TensorFlow's
    ],
)
def test_values(value: Any, kind: str, stored: Any) -> None:
    attr = attribute(value)
    assert attr.WhichOneof("value") == kind
    assert getattr(attr, kind) == stored
    attr = attribute([value, value])
    assert list(getattr(attr.list, kind)) == [stored, stored]
    assert len(attr.list.ListFields()) == 1


def test_lists() -> None:
    assert attribute([]).WhichOneof("value") == "list"
    assert list(attribute((1, 2.5, -0.0)).list.f) == [1.0, 2.5, -0.0]
    shapes = attribute([(None, 2), (1, None)]).list.shape
    assert [shape_from_proto(shape) for shape in shapes] == [(None, 2), (1, None)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((None, 3), (None, 3)),
        ([2, None], (2, None)),
        (SimpleNamespace(as_proto=None, rank=None), None),  # shapes of TensorFlow's
        (SimpleNamespace(as_proto=None, rank=0, as_list=list), ()),
        (SimpleNamespace(as_proto=None, rank=2, as_list=lambda: [None, 4]), (None, 4)),
    ],
)
def test_shapes(value: Any, expected: Any) -> None:
    assert shape_from_proto(attribute(value).shape) == expected


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.arange(3, dtype=">i8"),
        np.zeros((0, 2), np.float32),
        np.array(1.5, ml_dtypes.bfloat16),
        np.array([["a", "Größe"]]),
        np.array([b"\xff", b""], object),
        np.array([True, False]),
    ],
)
def test_arrays(array: Any) -> None:
    stored = tensor_value(attribute(array).tensor)
    expected = np.char.encode(array).astype(object) if array.dtype.kind == "U" else array
    assert stored.shape == array.shape
    assert stored.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "no attribute holds a NoneType"),
        ({"a": 1}, "no attribute holds a dict"),
        (1 + 2j, "no attribute holds a complex"),
        (float, "no attribute holds a type"),
        (2**63, "Value out of range"),
        (1e39, "float32 does not hold it"),
        ([1, "a"], "the elements of a list are of one kind"),
        ([True, 1], "the elements of a list are of one kind"),
        ([[1]], "the elements of a list are of one kind, and no lists"),
        ((None, "a"), "cannot be"),
        (np.datetime64, "TensorFlow has no dtype datetime64"),
        (np.array([None]), "no attribute holds a NoneType"),
    ],
)
def test_what_no_attribute_holds(value: Any, reason: str) -> None:
    with pytest.raises(FusionError, match=r"the annotation 'X': the attribute 'axes' cannot be") as error:
        litefuse.annotation("X", epsilon=1.0, axes=value)
    assert reason in str(error.value)


@pytest.mark.parametrize("name", ["", None, 3])
def test_without_a_name(name: Any) -> None:
    with pytest.raises(FusionError, match="does not name a composite"):
        litefuse.annotation(name)
