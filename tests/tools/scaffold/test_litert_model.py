from __future__ import annotations

from pathlib import Path

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.errors import InterpreterError
from litefuse.kernels.generator.op_calls import Call, bind_constants, one_op_model, read_calls
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import Scale
from tests.litert.runtime.models import unary
from tests.tools.scaffold.models import every_kind_of_option, scaled_sum


def calls(tmp_path: Path, content: bytes, op: str) -> list[Call]:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    return read_calls(path, [op])[0][op]


def test_a_composite_and_its_body(tmp_path: Path) -> None:
    (call,) = calls(tmp_path, scaled_sum(), "my.ScaledSum")

    assert [str(tensor) for tensor in call.inputs] == ["float32 [?, 3]", "float32 [?, 3]", "float32 [3]"]
    assert [tensor and tensor.name for tensor in call.inputs] == ["a", "b", "weights"]
    assert call.inputs[2] is not None
    assert call.inputs[2].data == np.array([1, 2, 3], np.float32).tobytes()
    assert [str(tensor) for tensor in call.outputs] == ["float32 [?, 3]"]
    assert call.options == {"axis": 1}
    assert call.reference is not None

    interpreter = Interpreter(bind_constants(call.reference, call))
    details = interpreter.get_input_details()
    assert len(details) == 2
    for detail in details:
        interpreter.resize_tensor_input(detail["index"], (2, 3))
    interpreter.allocate_tensors()
    for detail, value in zip(details, (1, 10), strict=True):
        interpreter.set_tensor(detail["index"], np.full((2, 3), value, np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist() == [[11, 22, 33]] * 2


def test_calls_that_differ(tmp_path: Path) -> None:
    first, second = calls(tmp_path, every_kind_of_option(), "TFEverything")

    assert [tensor and tensor.name for tensor in first.inputs] == ["x", "input_1"]
    assert second.inputs[1] is None
    assert first.options is not None
    assert first.options["sizes"] == [1, 2, 3]
    assert first.reference is None
    assert second.options is not None
    assert set(first.options) - set(second.options) == {"rate"}


def test_a_model_of_one_op_runs(tmp_path: Path) -> None:
    (call,) = calls(tmp_path, unary("Scale", {"factor": 2.0}), "Scale")
    interpreter = Interpreter(one_op_model("Scale", call), custom_ops=[Scale])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(1).tolist() == [[2, 2, 2]] * 2


def test_options_that_are_no_map(tmp_path: Path) -> None:
    assert calls(tmp_path, unary("Raw", b"\x01\x02\x03\x04"), "Raw")[0].options is None
    assert calls(tmp_path, unary("Empty", {}), "Empty")[0].options == {}
    assert calls(tmp_path, unary("None"), "None")[0].options == {}


def test_names(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(scaled_sum())
    assert read_calls(path, ["other"])[1] == ["my.ScaledSum"]


@pytest.mark.parametrize(
    ("content", "message"), [(b"text", "not a LiteRT model"), (b"\xff\xff\xff\x7fTFL3", "damaged")]
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with pytest.raises(InterpreterError, match=message):
        read_calls(path, ["Op"])
    with pytest.raises(InterpreterError, match="no such file or folder"):
        read_calls(tmp_path / "missing.tflite", ["Op"])


@pytest.mark.parametrize("place", ["opcodeIndex", "inputs"])
def test_an_index_that_leads_nowhere(tmp_path: Path, place: str) -> None:
    made = schema.ModelT.InitFromPackedBuf(bytearray(unary("Twice")), 0)
    setattr(made.subgraphs[0].operators[0], place, [99] if place == "inputs" else 99)
    builder = flatbuffers.Builder(0)
    builder.Finish(made.Pack(builder), b"TFL3")
    path = tmp_path / "model.tflite"
    path.write_bytes(bytes(builder.Output()))
    with pytest.raises(InterpreterError, match="the model is damaged"):
        read_calls(path, ["Twice"])
