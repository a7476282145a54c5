"""The native library: how it is found, loaded and used, and that no options make it read outside of them."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert
from flatbuffers import flexbuffers
from hypothesis import given
from hypothesis import strategies as st

import litefuse
from litefuse.errors import KernelError
from litefuse.kernels import PACK, PYTHON_ONLY, native_library
from litefuse.litert.runtime.native import NativeKernels, pack
from tests.litert.runtime.models import Graph, model, unary

LIBRARY = native_library()
needs_library = pytest.mark.skipif(LIBRARY is None, reason="litefuse was installed without its native kernels")
OPTIONS = {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
IMAGES = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
PATCHES = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]


def invoke(interpreter: Any, images: Any = IMAGES) -> list[float]:
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, images)
    interpreter.invoke()
    return interpreter.get_tensor(1).ravel().tolist()


# Their dtypes are those of what they make of strings.
NUMBERS_OF_STRINGS = {
    *("DecodeBmp", "DecodeImage", "DecodeJpeg", "DecodePng"),
    *("UnicodeEncode", "UnicodeScript", "UnicodeScriptTokenizeWithOffsets"),
}


@needs_library
def test_the_stock_interpreter_loads_it() -> None:
    delegate = litert.load_delegate(str(LIBRARY))
    interpreter = litert.Interpreter(
        model_content=unary("ExtractImagePatches", OPTIONS, shape=IMAGES.shape), experimental_delegates=[delegate]
    )

    assert invoke(interpreter) == PATCHES
    assert invoke(interpreter) == PATCHES


@needs_library
def test_it_has_a_kernel_for_every_op_of_the_pack_but_those_of_strings_and_no_other() -> None:
    library = pack()

    assert library is not None
    assert library.names == PACK.keys() - PYTHON_ONLY
    assert {op for op, kernel in PACK.items() if "string" in kernel.dtypes} >= PYTHON_ONLY - NUMBERS_OF_STRINGS


@needs_library
def test_a_composite_and_a_resized_batch() -> None:
    main, body = Graph(), Graph()
    x = main.input("x", IMAGES.shape, signature=[-1, 4, 4, 1])
    y = main.output("y", (1, 2, 2, 4), signature=[-1, 2, 2, 4])
    main.composite("ExtractImagePatches", [x], [y], OPTIONS, 1)
    body.builtin("ADD", [body.input("x", IMAGES.shape)] * 2, [body.output("y", IMAGES.shape)])
    interpreter = litefuse.Interpreter(model(main, body))

    assert invoke(interpreter) == PATCHES
    interpreter.resize_tensor_input(0, (3, 4, 4, 1))
    assert invoke(interpreter, np.concatenate([IMAGES, IMAGES + 16, IMAGES])) == [
        *PATCHES,
        *(value + 16 for value in PATCHES),
        *PATCHES,
    ]


@needs_library
def test_a_library_given_as_a_path() -> None:
    assert LIBRARY is not None
    content = unary("ExtractImagePatches", OPTIONS, shape=IMAGES.shape)

    assert invoke(litefuse.Interpreter(content, custom_ops=[LIBRARY])) == PATCHES
    assert invoke(litefuse.Interpreter(content, custom_ops=[str(LIBRARY)])) == PATCHES


def test_what_is_no_library(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="no such file"):
        NativeKernels(tmp_path / "absent.so")
    text = tmp_path / "text.so"
    text.write_text("this is no library")
    with pytest.raises(KernelError, match="is not a shared library of this machine"):
        NativeKernels(text)
    with pytest.raises(KernelError, match="does not export tflite_plugin_create_delegate"):
        NativeKernels(str(importlib.import_module("_ctypes").__file__))


def test_without_the_library_numpy_serves() -> None:
    code = (
        "from tests.kernels.pack.test_native import *; import logging; logging.basicConfig(level=logging.INFO)\n"
        "content = unary('ExtractImagePatches', OPTIONS, shape=IMAGES.shape)\n"
        "assert LIBRARY is None\n"
        "assert invoke(litefuse.Interpreter(content)) == PATCHES\n"
        "assert invoke(litefuse.Interpreter(content)) == PATCHES\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"LITEFUSE_KERNELS_LIBRARY": "", "PATH": ""},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("without its native kernels") == 1


GOOD: bytes = bytes(flexbuffers.Dumps(OPTIONS))


@needs_library
@given(st.binary(max_size=80))
def test_any_bytes_as_options(options: bytes) -> None:
    with pytest.raises(KernelError):
        litefuse.Interpreter(unary("ExtractImagePatches", options, shape=IMAGES.shape)).allocate_tensors()


@needs_library
@given(
    st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, len(GOOD)),
)
def test_damaged_options(damages: list[tuple[int, int]], length: int) -> None:
    data = bytearray(GOOD)
    for place, value in damages:
        data[place] = value
    content = unary("ExtractImagePatches", bytes(data[len(GOOD) - length :]), shape=IMAGES.shape)
    try:
        values = invoke(litefuse.Interpreter(content))
    except (KernelError, MemoryError):
        return
    assert set(values) <= {*PATCHES, 0.0}


@needs_library
@pytest.mark.parametrize(
    "ksizes",
    [[1, 2, 2, 1], [1, 200, 2, 1], [1, 70_000, 2, 1], [True, 2, 2, True]],
    ids=["int8", "int16", "int32", "bools"],
)
def test_numbers_of_every_width(ksizes: list[int]) -> None:
    options = {**OPTIONS, "ksizes": ksizes, "padding": "SAME"}
    native = litefuse.Interpreter(unary("ExtractImagePatches", options, shape=IMAGES.shape))
    numpy = litefuse.Interpreter(
        unary("ExtractImagePatches", options, shape=IMAGES.shape), custom_ops=[PACK["ExtractImagePatches"]]
    )

    assert invoke(native) == invoke(numpy)


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_the_kit_compiles_without_exceptions_as_apps_may() -> None:
    native = Path(__file__).parents[3] / "native"
    flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    sources = [*(native / "src").glob("*.cc"), native / "kernels" / "erf.cc"]
    done = subprocess.run(["c++", *flags, f"-I{native / 'include'}", *sources], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
