"""The attributes of composites in a model's file: the bytes that the options of a custom op would be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from flatbuffers import flexbuffers

from litefuse.ir.call_graph import functions
from litefuse.ir.custom_options import encode_options
from litefuse.ir.engine.lowering import flatbuffer, set_signature, write_flatbuffer
from litefuse.ir.mlir import ir, mlir_context
from litefuse.litert.runtime.options import decode_map
from litefuse.passes.legalize.composite_ops import create_composite_op

TEXTS = ("", "a", "ä, 日本", 'with "quotes" and \\', "x" * 300, "two\nlines\0", b"\xff\xfe")


def written(attributes: list[dict[str, Any]], path: Path | None = None) -> list[bytes]:
    """The attributes of composites as a model has them."""
    with mlir_context():
        module = ir.Module.parse("""
          func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
            %0 = "tfl.abs"(%x) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          }
          func.func private @body(%x: tensor<2xf32>) -> tensor<2xf32> {
            %0 = "tfl.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          }""")
        function = functions(module)["main"]
        set_signature(function, "main", ["x"], ["y"])
        op = next(iter(function.entry_block.operations))
        for each in attributes:
            create_composite_op(op, "my.op", "body", each)
        if path is not None:
            write_flatbuffer(module, path)
        content = flatbuffer(module) if path is None else path.read_bytes()
    Interpreter(model_content=content).allocate_tensors()
    model = schema.ModelT.InitFromPackedBuf(content)
    options = [op.builtinOptions2 for graph in model.subgraphs for op in graph.operators]
    return [bytes(bytearray(each.compositeAttributes)) for each in options if each is not None]


def test_lists_have_their_types(tmp_path: Path) -> None:
    texts = [each for each in TEXTS if isinstance(each, str)]
    attributes = {"ints": [1, -300], "floats": [0.5], "bools": [True, False], "texts": texts, "none": [], "k": 7}
    for path in (None, tmp_path / "modèle.tflite"):
        (data,) = written([attributes], path)
        assert data == encode_options(attributes)
        entries = flexbuffers.GetRoot(data).AsMap
        assert flexbuffers.GetRoot(data).Value == attributes
        typed = {key.Value for key, value in zip(entries.Keys, entries.Values, strict=True) if value.IsTypedVector}
        assert typed == {"bools", "floats", "ints", "none"}


def test_a_string_that_is_not_utf8_is_a_string() -> None:
    attributes = {"s": b"\xff\xfe", "t": [b"\xff", "ä"]}
    (data,) = written([attributes])
    assert data == encode_options(attributes)
    entry = flexbuffers.GetRoot(data).AsMap["s"]
    assert entry.IsString
    assert entry.AsStringBytes == b"\xff\xfe"
    assert decode_map(data) == attributes


def test_strings_in_typed_vectors() -> None:
    """As in custom ops that were TensorFlow ops: keys, which end at a zero byte; a list with such a byte is untyped."""
    data = encode_options({"a": ["x", "ä" * 200, b"\xff"], "b": ["x\0y"]}, typed_strings=True)
    entries = flexbuffers.GetRoot(data).AsMap
    assert (entries["a"].IsTypedVector, entries["b"].IsTypedVector) == (True, False)
    assert decode_map(data) == {"a": ["x", "ä" * 200, b"\xff"], "b": ["x\0y"]}


def drawn(random: Random) -> dict[str, Any]:
    """Some attributes of any kinds, and lists of them."""
    draws: list[Callable[[], Any]] = [
        lambda: random.randrange(-(2 ** random.randrange(64)), 2 ** random.randrange(64)),
        lambda: float(np.float32(random.choice((0.0, -0.1, 1e30, 3.5, random.gauss(0, 1))))),
        lambda: random.random() < 0.5,
        lambda: random.choice(TEXTS),
    ]
    attributes: dict[str, Any] = {}
    for number in range(random.randrange(6)):
        draw = random.choice(draws)
        key = random.choice(("", "ключ", "k")) + str(number)
        count = random.choice((0, 1, 2, 3, 300))
        attributes[key] = [draw() for _ in range(count)] if random.random() < 0.7 else draw()
    return attributes


@pytest.mark.parametrize("seed", range(20))
def test_any_attributes(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    attributes = [drawn(random) for _ in range(20)]
    expected = [encode_options(each) for each in attributes]
    assert written(attributes) == written(attributes, tmp_path / "model.tflite") == expected
    assert [decode_map(each) for each in expected] == attributes  # as kernels get them
