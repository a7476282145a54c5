"""A kernel of a user, in Python and in C++, that reads scales: in a model that is quantized with it."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter as StockInterpreter
from ai_edge_litert.interpreter import load_delegate

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.kernels.generator.op_calls import read_calls
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime import custom_op as registry
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph
from tests.tools.scaffold.test_project import edit, needs_compiler, project, run_tests

RANDOM = np.random.default_rng(4)
WEIGHTS = RANDOM.normal(size=(6, 6)).astype(np.float32)
ROWS = [RANDOM.normal(size=(1, 6)).astype(np.float32) for _ in range(16)]
# Of each channel, with scales and zero points of their own.
GAINS = np.array([5, -7, 100, -128, 127, 3], np.int8)
GAIN_SCALES, GAIN_ZEROS = [0.5, 0.25, 0.01, 0.01, 0.02, 1.0], [0, 1, -3, 0, 127, 2]

IN_PYTHON = """
        x, gains = inputs
        real = x if self.takes is None else self.takes.dequantize(x)
        y = real / (1 + abs(real)) * self.gains.dequantize(gains)
        outputs[0][...] = y if self.gives is None else self.gives.quantize(y, x.dtype)"""

IN_CPP = """
    const Tensor x = node.input(0), gains = node.input(1), y = node.output(0);
    const litefuse::Quantization takes = x.quantization(), of_gains = gains.quantization(), gives = y.quantization();
    for (int64_t i = 0; i < x.size(); ++i) {
      const int channel = static_cast<int>(i % x.dim(1));
      const float gain = of_gains.Dequantize(gains.data<int8_t>()[channel], channel);
      const float real = takes ? takes.Dequantize(x.data<int8_t>()[i]) : x.data<float>()[i];
      const float result = real / (1 + (real < 0 ? -real : real)) * gain;
      if (gives) {
        y.mutable_data<int8_t>()[i] = gives.Quantize<int8_t>(result);
      } else {
        y.mutable_data<float>()[i] = result;
      }
    }
    return true;"""


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    return iter(())


def soft_gains() -> Graph:
    """A product, the op, and another product."""
    graph = Graph()
    x = graph.input("x", [1, 6], signature=[-1, 6])
    weights = graph.tensor("weights", [6, 6], value=WEIGHTS)
    gains = graph.tensor("gains", [6], np.int8, value=GAINS)
    graph.tensors[gains][0].quantization = parameters = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint = GAIN_SCALES, GAIN_ZEROS
    first, soft = (graph.tensor(name, [1, 6], signature=[-1, 6]) for name in ("first", "soft"))
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [first])
    graph.custom("SoftGains", [first, gains], [soft])
    graph.builtin("FULLY_CONNECTED", [soft, weights, -1], [graph.output("y", [1, 6], signature=[-1, 6])])
    return graph


def outputs(interpreter: Any, x: Any) -> Any:
    """The output of two calls, which must be the same."""
    runner = interpreter.get_signature_runner()
    first, second = (np.array(runner(x=x)["y"]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    return first


def built(folder: Path, build: Path) -> Path:
    for command in (["cmake", "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Debug"], ["cmake", "--build", build]):
        subprocess.run(command, check=True, capture_output=True)
    return next(build.glob("lib*"))


@needs_compiler
def test_a_kernel_in_cpp_reads_scales(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", soft_gains()), tmp_path / "after.tflite"
    folder = project(tmp_path, before.read_bytes(), "SoftGains").folder
    python, cpp = folder / "soft_gains.py", folder / "soft_gains.cc"
    edit(python, "    def prepare(", '    quantized_dtypes = ("int8",)\n\n    def prepare(')
    edit(python, '"float32")', "first.dtype)")
    edit(
        python,
        "        return ",
        "        self.takes, self.gains = first.quantization, gains.quantization\n"
        "        self.gives = self.output_specs[0].quantization\n        return ",
    )
    edit(python, "        outputs[0][...] = 0", IN_PYTHON)
    edit(cpp, "{kTfLiteFloat32}", "{kTfLiteFloat32, kTfLiteInt8}")
    edit(cpp, "    return true;\n  }\n\n private", f"{IN_CPP}\n  }}\n\n private")
    counts, printed = run_tests(folder)
    assert counts == {"passed": 2}, printed

    spec = importlib.util.spec_from_file_location("soft_gains", python)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = quantize_model(before, after, "int8", take_samples(ROWS))
    assert found.floats == ()
    counts = inspect_litert_model(after).op_counts
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"]) == (1, 1)
    delegate = load_delegate(str(built(folder, tmp_path / "build")))
    largest = max(float(np.abs(outputs(Interpreter(before), each)).max()) for each in ROWS)
    for count in (1, 3, 2):
        x = np.concatenate(ROWS[count : 2 * count])
        real = outputs(Interpreter(before), x)
        in_integers = outputs(Interpreter(after), x)
        assert np.abs(in_integers - real).max() < 0.04 * largest
        for path, expected in ((before, real), (after, in_integers)):
            stock = StockInterpreter(str(path), experimental_delegates=[delegate])
            np.testing.assert_array_equal(outputs(stock, x), expected)
            both = Interpreter(path, custom_ops=[], experimental_delegates=[delegate])
            np.testing.assert_array_equal(outputs(both, x), expected)

    # A kernel begun from the quantized model has its scales in its test.
    (call,) = read_calls(after, ["SoftGains"])[0]["SoftGains"]
    assert [each and each.dtype for each in (*call.inputs, *call.outputs)] == ["int8", "int8", "int8"]
    (other := tmp_path / "other").mkdir()
    begun = project(other, after.read_bytes(), "SoftGains").folder
    for each in (python, cpp):
        (begun / each.name).write_text(each.read_text())
    counts, printed = run_tests(begun)
    assert counts == {"passed": 2}, printed
