"""What the wheel for Windows does there: in a CPython for Windows, which Wine runs; see ``.ci/windows``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import interpreter as litert

import litefuse
from litefuse.kernels import PACK, PYTHON_ONLY, native_library
from litefuse.litert.runtime.native import NativeKernels
from litefuse.tools.benchmarking.clocks import NativeClock, PythonClock, new_clock
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import Graph, model, unary

PATCHES = {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
IMAGES = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
OF_IMAGES = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
ROW = np.array([[1, 2, 3], [4, 5, 6]], np.float32)

Array = npt.NDArray[Any]


def computed(interpreter: Any, x: Array) -> Array:
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    return interpreter.get_tensor(1)


def patches() -> bytes:
    return unary("ExtractImagePatches", PATCHES, shape=IMAGES.shape)


def command(*arguments: object, code: int = 0) -> str:
    """Runs litefuse in a process of its own; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "litefuse", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_it_has_the_kernels_of_the_pack() -> None:
    assert sys.platform == "win32"
    library = native_library()
    assert library is not None
    assert library.parent == Path(litefuse.__file__).parent / "kernels"
    assert library.name == "litefuse_kernels.dll"
    assert NativeKernels(library).names == PACK.keys() - PYTHON_ONLY


def test_a_kernel_in_cpp() -> None:
    interpreter = litefuse.Interpreter(patches())
    assert computed(interpreter, IMAGES).ravel().tolist() == OF_IMAGES
    stock = litert.Interpreter(
        model_content=patches(), experimental_delegates=[litert.load_delegate(str(native_library()))]
    )
    assert computed(stock, IMAGES).ravel().tolist() == OF_IMAGES


def test_strings_in_cpp_are_freed_by_the_runtime() -> None:
    interpreter = litefuse.Interpreter(unary("StringUpper", shape=(2,), dtype=object))
    for count in range(200):
        words = np.array([b"a" * count, b"bc"], object)
        assert computed(interpreter, words).tolist() == [b"A" * count, b"BC"]


def test_a_kernel_in_python() -> None:
    interpreter = litefuse.Interpreter(unary("Double"), custom_ops=[Double])
    assert computed(interpreter, ROW).tolist() == (2 * ROW).tolist()
    stock = litert.Interpreter(model_content=unary("Double"), experimental_delegates=[litefuse.delegate(Double)])
    assert computed(stock, ROW).tolist() == (2 * ROW).tolist()


def test_an_error_of_a_kernel_in_python() -> None:
    class Failing(Double):
        def invoke(self, inputs: Any, outputs: Any) -> None:
            raise ArithmeticError("too large")

    with pytest.raises(ArithmeticError, match="too large"):
        computed(litefuse.Interpreter(unary("Double"), custom_ops=[Failing]), ROW)


def test_a_compiled_model() -> None:
    graph = Graph()
    x, y = graph.input("x", IMAGES.shape), graph.output("y", (1, 2, 2, 4))
    graph.custom("ExtractImagePatches", [x], [y], PATCHES)
    with litefuse.CompiledModel(model(graph, signatures={"serve": 0})) as compiled:
        assert compiled.run({"x": IMAGES}, "serve")["y"].ravel().tolist() == OF_IMAGES


def test_both_clocks() -> None:
    assert isinstance(new_clock([0], [0]), NativeClock)
    assert PythonClock([0], [0]).within > 0


def test_commands(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(patches())
    assert "ExtractImagePatches" in command("inspect", path)
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(inputs, x=IMAGES)
    command("run", path, "--inputs", inputs, "-o", outputs)
    with np.load(outputs) as found:
        assert found["y"].ravel().tolist() == OF_IMAGES
    assert "ExtractImagePatches" in command("kernels", "list")
    command("benchmark", path, "--seconds", 0.1)
    report = command("doctor")
    assert "Traceback" not in report
    assert "litefuse_kernels.dll" in report


def test_quantized(tmp_path: Path) -> None:
    graph = Graph()
    weights: Any = np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32)
    x, y = graph.input("x", [1, 64]), graph.output("y", [1, 64])
    graph.builtin("FULLY_CONNECTED", [x, graph.tensor("w", [64, 64], value=weights), -1], [y])
    path, made = tmp_path / "model.tflite", tmp_path / "quantized.tflite"
    path.write_bytes(model(graph, signatures={"serve": 0}))
    command("quantize", path, "--quantize", "dynamic", "-o", made)
    assert made.stat().st_size < path.stat().st_size
    row: Any = np.random.default_rng(2).normal(size=(1, 64)).astype(np.float32)
    found = litefuse.Interpreter(made).get_signature_runner("serve")(x=row)["y"]
    np.testing.assert_allclose(found, np.matmul(row, weights.T), atol=0.3)


def test_convert_says_why_it_is_not_possible(tmp_path: Path) -> None:
    said = command("convert", SAVED_MODEL, "-o", tmp_path / "model.tflite", code=1)
    assert "the lowering engine, litert-converter, " in said
    assert "Traceback" not in said
