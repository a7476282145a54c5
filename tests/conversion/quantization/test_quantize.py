"""Models that litert-quantizer quantizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.quantization.dataset import Samples
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import Quantization
from tests.conversion.quantization.models import dense, masked_scores, saved, take_samples
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(32, 64)).astype(np.float32)


def samples() -> Samples:
    random = np.random.default_rng(2)
    return take_samples([{"x": random.normal(size=(1, 64)).astype(np.float32)} for _ in range(4)])


def output(path: Path, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.array(Interpreter(path).get_signature_runner("serve")(x=x)["y"])


@pytest.mark.parametrize(("form", "size"), [("dynamic", 0.4), ("weights", 0.4), ("float16", 0.65)])
def test_weights(tmp_path: Path, form: Quantization, size: float) -> None:
    before, after = saved(tmp_path / "before.tflite", dense(WEIGHTS)), tmp_path / "after.tflite"
    found = quantize_model(before, after, form)
    assert found.unchecked is None
    assert found.error is not None
    assert 0 < found.error < (0.001 if form == "float16" else 0.03)
    assert after.stat().st_size < size * before.stat().st_size
    x = np.random.default_rng(3).normal(size=(1, 64)).astype(np.float32)
    expected = output(before, x)
    np.testing.assert_allclose(output(after, x), expected, atol=0.03 * np.abs(expected).max())


@pytest.mark.parametrize("quantized_io", [False, True])
@pytest.mark.parametrize("form", ["int8", "int16"])
def test_integers(tmp_path: Path, form: Quantization, quantized_io: bool) -> None:
    before, after = saved(tmp_path / "before.tflite", dense(WEIGHTS)), tmp_path / "after.tflite"
    found = quantize_model(before, after, form, samples(), quantized_io=quantized_io)
    assert found.error is not None
    assert 0 < found.error < 0.05
    counts = inspect_litert_model(after).op_counts
    assert (counts.get("QUANTIZE", 0) == 0) == quantized_io
    details = Interpreter(after).get_signature_runner("serve").get_input_details()["x"]
    assert np.dtype(details["dtype"]).name == (form if quantized_io else "float32")


def test_masks_stay_in_floating_point(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", masked_scores([0, 0, -1e9])), tmp_path / "after.tflite"
    rows = [np.array([row], np.float32) for row in ([1, -2, 3], [-3, 2, 1])]
    found = quantize_model(before, after, "int8", take_samples(rows))
    assert found.error is not None
    assert found.error < 0.05
    np.testing.assert_allclose(output(after, rows[1])[0, 2], 0, atol=0.01)


def test_a_constant_first_factor_stays_a_number(tmp_path: Path) -> None:
    graph = Graph()
    factor = graph.tensor("factor", [1, 64], value=WEIGHTS[:1])
    x, y = graph.input("x", [32, 64]), graph.output("y", [1, 32])
    graph.builtin("FULLY_CONNECTED", [factor, x, -1], [y])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    assert quantize_model(before, after, "dynamic").error == 0


def test_samples_of_another_model(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", dense(WEIGHTS, input_name="z"))
    with pytest.raises(InterpreterError, match="has no input 'x'"):
        quantize_model(before, tmp_path / "after.tflite", "int8", samples())


def test_what_litert_quantizer_raises_says_what_to_do(tmp_path: Path) -> None:
    before = tmp_path / "before.tflite"
    before.write_bytes(b"no model")
    with pytest.raises(LitefuseError, match="litert-quantizer refused the model") as raised:
        quantize_model(before, tmp_path / "after.tflite", "weights")
    assert "Convert it without quantization" in raised.value.hint
