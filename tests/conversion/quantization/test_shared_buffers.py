"""Equal constants are in a quantized file once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.quantizer_mends import share_buffers
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.schema_objects import tensor_name
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph


def twice(*, equal: bool) -> Graph:
    """``y = x + a + b``, of constants of 400 bytes."""
    graph = Graph()
    x, y = graph.input("x", [100]), graph.output("y", [100])
    a = graph.tensor("a", [100], value=np.arange(100))
    b = graph.tensor("b", [100], value=np.arange(100) if equal else np.arange(100)[::-1])
    hidden = graph.tensor("hidden", [100])
    graph.builtin("ADD", [x, a], [hidden])
    graph.builtin("ADD", [hidden, b], [y])
    return graph


def test_equal_constants_are_shared(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", twice(equal=True))
    size = path.stat().st_size
    assert edit_file(path, share_buffers)
    assert path.stat().st_size <= size - 300
    (graph,) = read_model(path).subgraphs
    buffers = {tensor_name(each): each.buffer for each in graph.tensors}
    assert buffers["a"] == buffers["b"]
    runner = Interpreter(path).get_signature_runner("serve")
    for _ in range(2):
        np.testing.assert_array_equal(runner(x=np.ones(100, np.float32))["y"], 1 + 2 * np.arange(100))
    assert [each.name for each in tmp_path.iterdir()] == ["model.tflite"]


def test_others_stay_as_they_are(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", twice(equal=False))
    before = path.read_bytes()
    assert not edit_file(path, share_buffers)
    assert path.read_bytes() == before
