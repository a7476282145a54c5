"""The kernels of one source in runtimes that show nodes in other forms: LiteRT's opaque C interface and tflite-micro.

Both are replaced by the functions that the kit calls, over tensors of the test. The libraries trap at undefined
behavior, whose sanitizer needs nothing preloaded.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from flatbuffers import flexbuffers

from litefuse.kernels.pack.images.extract_image_patches import ExtractImagePatches
from litefuse.litert.cpp.compiler import build_library, native_sources
from litefuse.litert.runtime.tensors import NUMBERS

DATA = Path(__file__).parent / "data" / "runtimes"
KERNELS = ("counting", "erf", "extract_image_patches", "roll")

Array = npt.NDArray[Any]


class Tensor(NamedTuple):
    """A tensor of the driver: its value, and its scale and zero point; a scale of 0 says that it has none."""

    value: Array
    is_constant: bool = False
    scale: float = 0.0
    zero_point: int = 0


class Driven:
    """A node in one of the runtimes."""

    def __init__(self, library: ctypes.CDLL, op: str, options: Mapping[str, Any] | bytes) -> None:
        self.library = library
        self.options = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(dict(options)))
        self.name = op.encode()  # the runtimes keep pointers to it
        self.node = library.driven_new(self.name, self.options, len(self.options))

    def close(self) -> None:
        self.library.driven_delete(self.node)

    def add(self, tensor: Tensor | None, *, output: bool = False) -> None:
        if tensor is None:
            self.library.driven_add(self.node, output, 0, 0, None, None, 0, 0.0, 0)
            return
        value = tensor.value
        assert value.flags.c_contiguous
        sizes = (ctypes.c_int * value.ndim)(*value.shape)
        number = NUMBERS[value.dtype]
        data = value.ctypes.data_as(ctypes.c_void_p)
        scale = ctypes.c_float(tensor.scale)
        self.library.driven_add(
            self.node, output, number, value.ndim, sizes, data, tensor.is_constant, scale, tensor.zero_point
        )

    def resize(self, index: int, value: Array) -> None:
        sizes = (ctypes.c_int * value.ndim)(*value.shape)
        self.library.driven_resize(self.node, index, value.ndim, sizes, value.ctypes.data_as(ctypes.c_void_p))

    def prepare(self) -> bool:
        return bool(self.library.driven_prepare(self.node))

    def invoke(self) -> bool:
        return bool(self.library.driven_invoke(self.node))

    @property
    def errors(self) -> str:
        text: bytes = self.library.driven_errors(self.node)
        return str(text, "utf-8")

    def output(self, dtype: npt.DTypeLike = np.float32) -> Array:
        dims = self.library.driven_dims(self.node, 0)
        shape: list[int] = dims[1 : dims[0] + 1]
        count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        found: Array = np.empty(shape, dtype)
        ctypes.memmove(found.ctypes.data, self.library.driven_data(self.node, 0), count)
        return found


def _built(folder: Path, runtime: str) -> ctypes.CDLL:
    path = folder / f"{runtime}.so"
    kernels = [native_sources() / "kernels" / f"{name}.cc" for name in KERNELS]
    sources = [DATA / f"{runtime}_runtime.cc", DATA / "doubled.cc", DATA / "registry.cc", *kernels]
    options = ["-O0", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-Werror"]
    build_library(path, sources, includes=[DATA], options=options)
    library = ctypes.CDLL(str(path))
    library.driven_new.restype = ctypes.c_void_p
    library.driven_errors.restype = ctypes.c_char_p
    library.driven_dims.restype = ctypes.POINTER(ctypes.c_int)
    library.driven_data.restype = ctypes.c_void_p
    handle, number, pointer = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
    library.driven_new.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.driven_add.argtypes = [handle, number, number, number, pointer, pointer, number, ctypes.c_float, number]
    library.driven_resize.argtypes = [handle, number, number, pointer, pointer]
    for name in ("prepare", "invoke", "delete", "errors"):
        getattr(library, f"driven_{name}").argtypes = [handle]
    for name in ("dims", "data"):
        getattr(library, f"driven_{name}").argtypes = [handle, number]
    return library


@pytest.fixture(scope="module", params=["operator", "micro"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return _built(tmp_path_factory.mktemp("runtimes"), request.param)


def is_micro(library: ctypes.CDLL) -> bool:
    return library._name.endswith("micro.so")  # noqa: SLF001  ctypes has no other way to tell


def test_options_constants_and_shapes_reach_the_kernel(library: ctypes.CDLL) -> None:
    images = np.random.default_rng(0).standard_normal((1, 6, 5, 2)).astype(np.float32)
    options = {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
    expected = [np.empty((1, 2, 4, 12), np.float32)]
    kernel: Any = ExtractImagePatches()
    from litefuse import TensorSpec

    kernel.prepare(TensorSpec(images.shape, images.dtype), **options)
    kernel.invoke([images], expected)
    node = Driven(library, "ExtractImagePatches", options)
    node.add(Tensor(images))
    node.add(Tensor(np.zeros_like(expected[0])), output=True)
    assert node.prepare(), node.errors
    for _ in range(2):
        assert node.invoke(), node.errors
        np.testing.assert_array_equal(node.output(), expected[0])
    node.close()


def test_temporaries_of_a_kernel_without_the_kit_last_and_are_resized(library: ctypes.CDLL) -> None:
    node = Driven(library, "Doubled", b"")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    node.add(Tensor(x))
    node.add(Tensor(np.zeros_like(x)), output=True)
    for _ in range(2):
        assert node.prepare(), node.errors
        assert node.invoke(), node.errors
        np.testing.assert_array_equal(node.output(), x * 2)
    longer = np.arange(10, dtype=np.float32).reshape(5, 2)
    node.resize(0, longer)
    if is_micro(library):
        assert not node.prepare()
        assert "another shape in the model's file" in node.errors
    else:
        assert node.prepare(), node.errors
        assert node.invoke(), node.errors
        np.testing.assert_array_equal(node.output(), longer * 2)
    node.close()


@pytest.mark.parametrize("zero_point", [3, 4])
def test_scales_are_told(library: ctypes.CDLL, zero_point: int) -> None:
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    node = Driven(library, "Roll", b"")
    node.add(Tensor(x, scale=0.5, zero_point=3))
    node.add(Tensor(np.array([2], np.int32), is_constant=True))
    node.add(Tensor(np.array([1], np.int32), is_constant=True))
    node.add(Tensor(np.zeros_like(x), scale=0.5, zero_point=zero_point), output=True)
    if zero_point == 3:
        assert node.prepare(), node.errors
        assert node.invoke(), node.errors
        np.testing.assert_array_equal(node.output(np.int8), np.roll(x, 2, 1))
    else:
        assert not node.prepare()
        assert "must have the scale and the zero point of input 0" in node.errors
    node.close()


def test_a_shape_that_depends_on_values(library: ctypes.CDLL) -> None:
    node = Driven(library, "Bincount", b"")
    node.add(Tensor(np.array([0, 2, 2, 1], np.int32)))
    node.add(Tensor(np.array(4, np.int32)))
    node.add(Tensor(np.zeros(0, np.float32)))
    node.add(Tensor(np.zeros(4, np.float32)), output=True)
    if is_micro(library):
        assert not node.prepare()
        assert "depends on values" in node.errors
    else:
        assert node.prepare(), node.errors
        for size, expected in ((4, [1, 1, 2, 0]), (6, [1, 1, 2, 0, 0, 0]), (2, [1, 1])):
            node.resize(1, np.array(size, np.int32))
            assert node.invoke(), node.errors
            np.testing.assert_array_equal(node.output(), expected)
    node.close()


def test_what_does_not_fit_is_told_and_nothing_crashes(library: ctypes.CDLL) -> None:
    for op, options, tensors, message in (
        ("Erf", b"", [Tensor(np.zeros(2, np.int32))], "is of int32"),
        ("Erf", b"", [None], "absent"),
        ("Erf", b"", [], "has 0 inputs"),
        ("ExtractImagePatches", b"", [Tensor(np.zeros((1, 2, 2, 1), np.float32))], "the option ksizes must be a list"),
        (
            "ExtractImagePatches",
            b"\xff" * 40,
            [Tensor(np.zeros((1, 2, 2, 1), np.float32))],
            "the option ksizes must be a list",
        ),
    ):
        node = Driven(library, op, options)
        for tensor in tensors:
            node.add(tensor)
        node.add(Tensor(np.zeros(2, np.float32)), output=True)
        assert not node.prepare()
        assert message in node.errors, node.errors
        node.close()


def test_an_op_without_a_kernel_fails_when_it_is_prepared(library: ctypes.CDLL) -> None:
    if is_micro(library):  # its registrations are made for ops with kernels
        return
    node = Driven(library, "NoSuchOp", b"")
    node.add(Tensor(np.zeros(2, np.float32)))
    node.add(Tensor(np.zeros(2, np.float32)), output=True)
    assert not node.prepare()
    assert "no kernel" in node.errors
    node.close()
