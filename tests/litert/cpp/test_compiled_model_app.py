"""An app in C++ that gives LiteRT's ``CompiledModel`` the native kernels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

import litefuse
from litefuse.kernels import native_library
from litefuse.litert.cpp.compiler import find_compiler, native_sources
from litefuse.litert.runtime import litert_library
from tests.litert.runtime.models import Graph, model

SOURCE = Path(__file__).parent / "data" / "compiled_model_app.cc"


def test_an_app_runs_custom_ops_in_compiled_model(tmp_path: Path) -> None:
    kernels = native_library()
    assert kernels is not None
    litert = Path(litert_library.library()._name)  # noqa: SLF001  ctypes has no other way to tell
    app = tmp_path / "app"
    folders = [f"-Wl,-rpath,{path.parent}" for path in (litert, kernels)]
    command = [*find_compiler(), "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{native_sources() / 'include'}"]
    subprocess.run([*command, str(SOURCE), str(litert), str(kernels), *folders, "-o", str(app)], check=True)
    graph = Graph()
    x, twice, y = graph.input("x", (8,)), graph.tensor("twice", (8,)), graph.output("y", (8,))
    graph.builtin("ADD", [x, x], [twice])
    graph.custom("Erf", [twice], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(model(graph, signatures={"serve": 0}))
    done = subprocess.run([str(app), str(path), "8"], capture_output=True, text=True, check=True)
    values = np.arange(8, dtype=np.float32) / 8
    expected = litefuse.Interpreter(path).get_signature_runner("serve")(x=values)["y"]
    np.testing.assert_array_equal(np.array(done.stdout.split(), np.float32).reshape(2, 8), np.stack([expected] * 2))
