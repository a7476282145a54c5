"""Kernels for arm64: cross-compiled, and run by an emulator; see ``.ci/arm64``.

The environment variables ``ARM64_COMPILER`` and ``ARM64_EMULATOR`` name the commands, ``ARM64_WHEEL`` the wheel.
"""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

import litefuse
from litefuse.litert.cpp.compiler import native_sources
from litefuse.litert.cpp.kernel_library import build_kernels
from tests.litert.runtime.models import Graph, model
from tests.tools.cli.test_cli import run

ROOT = Path(__file__).parents[3]
COMPILER = os.environ["ARM64_COMPILER"]
EMULATOR = shlex.split(os.environ["ARM64_EMULATOR"])

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app that runs a node of a library, for arm64."""
    path = tmp_path_factory.mktemp("app") / "app"
    source = ROOT / "tests" / "cpp" / "data" / "one_node_app.cc"
    command = [*shlex.split(COMPILER), "-std=c++17", "-O1", f"-I{native_sources() / 'include'}", str(source)]
    subprocess.run([*command, "-o", str(path), "-ldl"], check=True)
    return path


def computed(app: Path, library: Path, op: str, kind: str, options: Mapping[str, Any], x: Array) -> Array:
    inputs, given = library.parent / "inputs", library.parent / "options"
    inputs.write_bytes(np.array([x.ndim, *x.shape], np.int32).tobytes() + x.tobytes())
    given.write_bytes(bytes(flexbuffers.Dumps(dict(options))))
    command = [*EMULATOR, str(app), str(library), op, kind, str(given), str(inputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rank, *numbers = done.stdout.split()
    shape = [int(size) for size in numbers[: int(rank)]]
    return np.array(numbers[int(rank) :], np.float32).reshape(shape)


def test_a_kernel_for_tensorflow_lite(app: Path, tmp_path: Path) -> None:
    library = tmp_path / "kernels.so"
    source = ROOT / "examples" / "cpp_kernel" / "row_standardize.cc"
    assert build_kernels([source], library, compiler=COMPILER) == ("RowStandardize",)
    assert library.read_bytes()[18] == 183  # EM_AARCH64
    x = np.random.default_rng(0).standard_normal((3, 7)).astype(np.float32)
    expected = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 0.5)
    found = computed(app, library, "RowStandardize", "custom", {"epsilon": 0.5}, x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_the_kernels_of_the_wheel(app: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(os.environ["ARM64_WHEEL"]) as wheel:
        library = Path(wheel.extract("litefuse/kernels/liblitefuse_kernels.so", tmp_path))
    assert library.read_bytes()[18] == 183  # EM_AARCH64
    x = np.random.default_rng(0).standard_normal((4, 9)).astype(np.float32)
    expected = np.vectorize(math.erf)(x)
    np.testing.assert_allclose(computed(app, library, "Erf", "custom", {}, x), expected, rtol=1e-6, atol=1e-6)


def test_a_generated_kernel(app: Path, tmp_path: Path) -> None:
    graph, body = Graph(), Graph()
    x = graph.input("x", (2, 33), signature=(-1, 33))
    graph.composite("TanhNorm", [x], [graph.output("y", (2, 33), signature=(-1, 33))], {"a": 1}, 1)
    x = body.input("a", (2, 33), signature=(-1, 33))
    bent, squares = (body.tensor(name, (2, 33), signature=(-1, 33)) for name in ("bent", "squares"))
    mean = body.tensor("mean", (2, 1), signature=(-1, 1))
    scale = body.tensor("scale", (2, 1), signature=(-1, 1))
    body.builtin("TANH", [x], [bent])
    body.builtin("SQUARE", [bent], [squares])
    body.builtin("MEAN", [squares, body.tensor("axis", (1,), np.int32, value=[1])], [mean])
    reducer: Any = body.operators[-1][0]
    reducer.builtinOptionsType, reducer.builtinOptions = schema.BuiltinOptions.ReducerOptions, schema.ReducerOptionsT()
    reducer.builtinOptions.keepDims = True
    body.builtin("RSQRT", [mean], [scale])
    body.builtin("MUL", [bent, scale], [body.output("b", (2, 33), signature=(-1, 33))])
    path = tmp_path / "model.tflite"
    path.write_bytes(model(graph, body, signatures={"serve": 0}))
    made = tmp_path / "made"
    done = run("kernels", "generate", path, "--always", "-o", made)
    assert done.code == 0, done
    compiler, *flags = shlex.split(COMPILER)
    build = tmp_path / "build"
    configure = [
        "cmake",
        "-S",
        str(made),
        "-B",
        str(build),
        "-DCMAKE_SYSTEM_NAME=Linux",
        f"-DCMAKE_CXX_COMPILER={compiler}",
    ]
    subprocess.run([*configure, f"-DCMAKE_CXX_FLAGS={' '.join(flags)}", "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", str(build)], check=True)
    (library,) = build.glob("*.so")
    x = (np.random.default_rng(0).standard_normal((5, 33)) * 3).astype(np.float32)
    expected = litefuse.Interpreter(path, custom_ops=[]).get_signature_runner("serve")(x=x)["y"]
    found = computed(app, library, "TanhNorm", "composite", {"a": 1}, x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
