"""A library of kernels wherever kernels are taken: the one that ships computes what is compared and measured."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert

import litefuse
from litefuse.errors import KernelError
from litefuse.litert.cpp.kernel_library import build_kernels
from litefuse.litert.runtime.custom_op import registered_kernels
from litefuse.litert.runtime.loading import is_library, load_kernels
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.models import unary

SOURCE = """
#include <algorithm>
#include "flatbuffers/flexbuffers.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/mutable_op_resolver.h"

void Register(tflite::MutableOpResolver* resolver) {
  static TfLiteRegistration relu;
  relu.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor* x = tflite::GetInput(context, node, 0);
    return context->ResizeTensor(context, tflite::GetOutput(context, node, 0), TfLiteIntArrayCopy(x->dims));
  };
  relu.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const auto* options = static_cast<const uint8_t*>(node->custom_initial_data);
    const auto map = flexbuffers::GetRoot(options, node->custom_initial_data_size).AsMap();
    const float factor = map["example_option"].IsNull() ? 1.0f : map["example_option"].AsFloat() + EXCESS;
    const TfLiteTensor* x = tflite::GetInput(context, node, 0);
    const TfLiteTensor* y = tflite::GetInput(context, node, tflite::NumInputs(node) - 1);
    TfLiteTensor* z = tflite::GetOutput(context, node, 0);
    for (int i = 0; i < tflite::NumElements(z); ++i) {
      z->data.f[i] = factor * std::max(0.0f, x->data.f[i] + y->data.f[i]);
    }
    return kTfLiteOk;
  };
  resolver->AddCustom("my_custom_fused_op", &relu);
}
"""
OP = "my_custom_fused_op"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library that is right, and one whose results are too large."""
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "relu.cc").write_text(SOURCE)
    for name, excess in (("right", "0.0f"), ("wrong", "0.5f")):
        build_kernels([folder / "relu.cc"], folder / f"{name}.so", options=[f"-DEXCESS={excess}", "-O0"])
    return folder


def command(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "litefuse", *map(str, arguments)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def test_run_and_verify(libraries: Path, demo_model: Path, tmp_path: Path) -> None:
    interpreter = litefuse.Interpreter(demo_model, custom_ops=[libraries / "right.so"])
    details: dict[str, Any] = interpreter.get_signature_runner("serving_default").get_input_details()
    random = np.random.default_rng(0)
    inputs = {
        name: random.normal(size=[2 if size < 0 else size for size in each["shape_signature"]]).astype(np.float32)
        for name, each in details.items()
    }
    np.savez(tmp_path / "in.npz", **inputs)  # pyright: ignore[reportArgumentType]
    common = ["--signature", "serving_default", "--inputs", tmp_path / "in.npz"]
    done = command(libraries, "run", demo_model, *common, "--kernels", "right.so", "-o", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out.npz") as found:
        expected = interpreter.get_signature_runner("serving_default")(**inputs)
        assert {*found} == {*expected}
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)
            assert value.max() > 0
    expected_file = ["--expected", tmp_path / "out.npz"]
    done = command(libraries, "verify", demo_model, *common, *expected_file, "--kernels", "right.so")
    assert done.returncode == 0, done.stdout + done.stderr
    done = command(libraries, "verify", demo_model, *common, *expected_file, "--kernels", "wrong.so")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "differs" in done.stdout


@pytest.mark.parametrize(("library", "outcome"), [("right.so", "fused"), ("wrong.so", "inlined")])
def test_a_conversion_checks_its_fused_ops_with_it(libraries: Path, tmp_path: Path, library: str, outcome: str) -> None:
    arguments = ["--check-custom-ops", "--kernels", library, "--json", "-o", tmp_path / "model.tflite"]
    done = command(libraries, "convert", SAVED_MODEL, *arguments)
    assert done.returncode == 0, done.stderr
    composites = [each for each in json.loads(done.stdout)["composites"] if each["name"] == OP]
    assert [(each["outcome"], each["unchecked"]) for each in composites] == [(outcome, None)]


def test_a_quantization_takes_ranges_with_it(libraries: Path, tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(unary(OP, {"example_option": 2}, shape=(4,)))
    np.savez(tmp_path / "samples.npz", x=np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4))
    arguments = ["--quantize", "int8", "--representative-dataset", "samples.npz", "-o", "out.tflite"]
    done = command(tmp_path, "quantize", "model.tflite", *arguments, "--kernels", libraries / "right.so")
    assert done.returncode == 0, done.stderr
    done = command(tmp_path, "quantize", "model.tflite", *arguments)
    assert (done.returncode, f"no kernel for the custom ops {OP}" in done.stderr) == (1, True), done.stderr


def test_lists(libraries: Path) -> None:
    done = command(libraries, "kernels", "list", "--kernels", "right.so", "--json")
    assert done.returncode == 0, done.stderr
    found = [each for each in json.loads(done.stdout)["kernels"] if each["op"] == OP]
    assert [(each["form"], each["source"]) for each in found] == [("native", str(libraries / "right.so"))]


def test_the_last_registered_runs_and_an_argument_before_it(libraries: Path) -> None:
    model = unary(OP, {"example_option": 2}, shape=(2,))

    def result(**more: Any) -> list[float]:
        interpreter = litefuse.Interpreter(model, **more)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.array([1, -1], np.float32))
        interpreter.invoke()
        return interpreter.get_tensor(1).tolist()

    class Mine(litefuse.CustomOp):
        op_name = OP

        def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
            return x

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = 7

    load_kernels([str(libraries / "right.so")])
    assert result() == [4, 0]
    load_kernels([str(libraries / "wrong.so")])
    assert result() == [5, 0]
    load_kernels([str(libraries / "right.so")])
    assert result() == result() == [4, 0]
    assert result(custom_ops=[Mine]) == [7, 7]
    assert result(custom_ops=[libraries / "wrong.so"]) == [5, 0]
    with pytest.raises(KernelError, match="already has the kernel"):
        litefuse.custom_op(OP)(Mine)
    litefuse.custom_op(OP, replace=True)(Mine)
    assert result() == [7, 7]


def test_a_delegate_of_a_library(libraries: Path) -> None:
    delegate = litefuse.delegate(libraries / "right.so")
    content = unary(OP, {"example_option": 2}, shape=(2,))
    interpreter = litert.Interpreter(model_content=content, experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([3, -1], np.float32))
    for _ in range(2):
        interpreter.invoke()
        assert interpreter.get_tensor(1).tolist() == [12, 0]
    both: Any = (libraries / "right.so", libraries / "wrong.so")
    with pytest.raises(KernelError, match="a library is a delegate of its own"):
        litefuse.delegate(*both)


def test_what_is_no_library_of_kernels(libraries: Path, tmp_path: Path) -> None:
    assert is_library("a/libx.so.1.2")
    assert not is_library("kernels.py")
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "empty.so").write_bytes(b"")
    (tmp_path / "sanitized.so").write_bytes((libraries / "right.so").read_bytes() + b"\0libasan.so.8\0")
    (tmp_path / "other.cc").write_text("int x;")
    subprocess.run(["c++", "-shared", tmp_path / "other.cc", "-o", tmp_path / "other.so"], check=True)
    for name, message in (
        ("gone.so", "no such file"),
        ("text.so", "is not a shared library of this machine"),
        ("empty.so", "is not a shared library of this machine"),
        ("sanitized.so", "was built with the address sanitizer"),
        ("other.so", "is not a LiteRT delegate"),
    ):
        with pytest.raises(KernelError, match=message):
            load_kernels([str(tmp_path / name)])
    shutil.copyfile(libraries / "right.so", tmp_path / "ünï.so")
    load_kernels([str(tmp_path / "ünï.so")])
    assert registered_kernels()[OP].library == str(tmp_path / "ünï.so")
