"""Dynamic dimensions of a quantized model, in the file and when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from litert_quantizer.qtyping import TFLOperationName
from litert_quantizer.quantizer import Quantizer

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.quantizer_mends import restore_open_shapes
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import QuantizationParameters
from litefuse.support.options.forms import QUANTIZATIONS, QuantizationForm
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

WEIGHTS = np.random.default_rng(1).normal(size=(32, 64)).astype(np.float32)


def product(*, open_rows: bool = True) -> Graph:
    """``y = cos(x * weights.T)``, of any number of rows."""
    signature = {"signature": [-1, 64]} if open_rows else {}
    to = {"signature": [-1, 32]} if open_rows else {}
    graph = Graph()
    x, weights = graph.input("x", [1, 64], **signature), graph.tensor("w", [32, 64], value=WEIGHTS * 0.02)
    hidden, y = graph.tensor("hidden", [1, 32], **to), graph.tensor("cosine", [1, 32], **to)
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [hidden])
    graph.builtin("COS", [hidden], [y])
    graph.builtin("TANH", [y], [graph.output("y", [1, 32], **to)])
    return graph


def rows(count: int) -> Any:
    return np.random.default_rng(count).normal(size=(count, 64)).astype(np.float32)


@pytest.mark.parametrize("quantized_io", [False, True])
@pytest.mark.parametrize("form", QUANTIZATIONS)
def test_each_form_keeps_them(tmp_path: Path, form: QuantizationForm, quantized_io: bool) -> None:
    before, after = saved(tmp_path / "before.tflite", product()), tmp_path / "after.tflite"
    samples = take_samples([rows(1 + number % 3) for number in range(8)]) if form in {"int8", "int16"} else None
    quantize_model(before, after, Quantization(form, io=quantized_io and samples is not None), samples)
    computed = [each for each in inspect_litert_model(after).tensors if not each.size and each.shape != (32, 64)]
    assert {each.shape[0] for each in computed} == {None}
    interpreter, original = Interpreter(after), Interpreter(before)
    runner = interpreter.get_signature_runner()
    takes, gives = runner.get_input_details()["x"], runner.get_output_details()["y"]
    for count in (1, 5, 2):
        x = rows(count)
        expected = original.get_signature_runner()(x=x)["y"]
        for _ in range(2):
            if takes["dtype"] == np.float32:
                found = runner(x=x)["y"]
            else:
                (scale, zero), (to, zero_to) = takes["quantization"], gives["quantization"]
                taken, given = (
                    QuantizationParameters(np.array([each], np.float32), np.array([point]))
                    for each, point in ((scale, zero), (to, zero_to))
                )
                found = given.dequantize(runner(x=taken.quantize(x, form))["y"])
            np.testing.assert_allclose(found, expected, atol=0.05)


def by_the_library(path: Path, target: Path) -> None:
    quantizer = Quantizer(str(path))
    op = TFLOperationName.FULLY_CONNECTED
    quantizer.add_static_config(".*", op, activation_num_bits=8, weight_num_bits=8)
    ranges: dict[str, Any] = {
        name: {"min": np.full(1, -4, np.float32), "max": np.full(1, 4, np.float32)}
        for name in ("x", "hidden", "cosine", "y")
    }
    quantizer.quantize(ranges, serialize_to_path=str(target), enable_progress_bar=False, enable_progress_report=False)


def test_what_the_library_writes_is_mended_once(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", product()), tmp_path / "after.tflite"
    by_the_library(before, after)
    assert any(each.shape == (1, 32) for each in inspect_litert_model(after).tensors if not each.size)
    x, interpreter = rows(4), Interpreter(after)
    expected = interpreter.get_signature_runner()(x=x)["y"]
    assert edit_file(after, restore_open_shapes)
    assert not edit_file(after, restore_open_shapes)
    assert {*tmp_path.iterdir()} == {before, after}
    np.testing.assert_array_equal(Interpreter(after).get_signature_runner()(x=x)["y"], expected)


def test_a_model_of_one_size_is_left_as_it_is(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", product(open_rows=False)), tmp_path / "after.tflite"
    by_the_library(before, after)
    content = after.read_bytes()
    assert not edit_file(after, restore_open_shapes)
    assert after.read_bytes() == content


def test_buffers_behind_the_flatbuffer_move_with_it(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", product()), tmp_path / "after.tflite"
    by_the_library(before, after)
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(after.read_bytes(), 0))
    data: list[bytes] = []
    for buffer in model.buffers:
        if buffer.data is not None:
            data.append(bytes(buffer.data).ljust(-(-len(buffer.data) // 16) * 16, b"\0"))
            buffer.size, buffer.offset, buffer.data = len(buffer.data), 2, None

    def packed() -> bytes:
        import flatbuffers

        builder = flatbuffers.Builder(0)
        builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
        content = bytes(builder.Output())
        return content.ljust(-(-len(content) // 16) * 16, b"\0")

    place = len(packed())
    behind = [each for each in model.buffers if each.offset]
    for buffer, piece in zip(behind, data, strict=True):
        buffer.offset = place
        place += len(piece)
    after.write_bytes(packed() + b"".join(data))
    x = rows(4)
    expected = Interpreter(after).get_signature_runner()(x=x)["y"]
    assert edit_file(after, restore_open_shapes)
    np.testing.assert_array_equal(Interpreter(after).get_signature_runner()(x=x)["y"], expected)
    assert {each.shape[0] for each in inspect_litert_model(after).tensors if not each.size and each.shape} == {None}
