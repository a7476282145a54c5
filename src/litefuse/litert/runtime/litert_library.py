"""The C interface of LiteRT's ``CompiledModel``: functions that its shared library exports, and their structs.

Source of the layouts: ``litert/c/litert_layout.h``, ``litert_model_types.h``, ``litert_any.h`` and
``litert_environment_options.h`` of LiteRT, which assert the same sizes.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Sequence
from ctypes import c_char_p, c_int, c_int32, c_int64, c_uint32, c_void_p
from pathlib import Path
from typing import Any

from litefuse.errors import InterpreterError

#: ``LITERT_TENSOR_MAX_RANK``.
_MAX_RANK = 8
#: ``LiteRtHwAccelerators``.
ACCELERATORS = {"cpu": 1, "gpu": 2, "npu": 4}
# ``LiteRtStatus``, of which the library exports no texts.
_STATUSES = {
    1: "an argument is invalid",
    2: "out of memory",
    3: "the runtime failed",
    4: "an input tensor is missing",
    5: "it is not supported",
    6: "it is not found",
    500: "the file cannot be read",
    501: "the flatbuffer is invalid",
    502: "a library cannot be loaded",
    504: "it does not compile",
    1000: "an index is out of bounds",
}
_NAMES = ("libLiteRt.so", "libLiteRt.dylib", "libLiteRt.dll")

GET_NAME = ctypes.CFUNCTYPE(c_int, c_void_p, ctypes.POINTER(c_char_p))
GET_VERSION = ctypes.CFUNCTYPE(c_int, c_void_p, ctypes.POINTER(c_int * 3))
GET_HARDWARE = ctypes.CFUNCTYPE(c_int, c_void_p, ctypes.POINTER(c_int))
CREATE_DELEGATE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p, ctypes.POINTER(c_void_p))
DELETE_DELEGATE = ctypes.CFUNCTYPE(None, c_void_p)


class LiteRtError(RuntimeError):
    """A function of LiteRT returned a status that is not OK; ``status`` is its number."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Layout(ctypes.Structure):
    """``LiteRtLayout``: the rank is in the lower seven bits of ``rank_and_strides``."""

    rank_and_strides: int
    dimensions: Any

    _fields_ = (("rank_and_strides", c_uint32), ("dimensions", c_int32 * _MAX_RANK), ("strides", c_uint32 * _MAX_RANK))

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes; -1 for one that is dynamic."""
        return tuple(self.dimensions[: self.rank_and_strides & 0x7F])


class TensorType(ctypes.Structure):
    """``LiteRtRankedTensorType``; the numbers of ``element_type`` are those of ``TfLiteType``."""

    element_type: int
    layout: Layout

    _fields_ = (("element_type", c_int), ("layout", Layout))


class EnvironmentOption(ctypes.Structure):
    """``LiteRtEnvOption`` with an integer, for which ``type`` is 2; it is aligned as an option with a pointer is."""

    _fields_ = (("tag", c_int), ("_", c_int), ("type", c_int), ("_of_type", c_int), ("value", c_int64))


def new_layout(shape: Sequence[int]) -> Layout:
    """Makes a dense layout.

    Raises:
        InterpreterError: The rank is above 8, LiteRT's limit.
    """
    if len(shape) > _MAX_RANK:
        raise InterpreterError(f"an input is of rank {len(shape)}; CompiledModel takes ranks up to {_MAX_RANK}")
    made = Layout(len(shape))
    made.dimensions[: len(shape)] = shape
    return made


def file_of_package(names: Sequence[str]) -> Path | None:
    """Returns the file of one of some names that comes with ``ai_edge_litert``; None if there is none."""
    spec = importlib.util.find_spec("ai_edge_litert")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    return next((file for folder in folders for name in names if (file := Path(folder, name)).is_file()), None)


@functools.cache
def library() -> ctypes.CDLL:
    """Loads the library that comes with ``ai_edge_litert``.

    Raises:
        InterpreterError: This release of it has no such library.
    """
    path = file_of_package(_NAMES)
    if path is None:
        raise InterpreterError(
            "the installed ai-edge-litert has no library for CompiledModel",
            hint="Install a release that has: pip install -U ai-edge-litert.",
        )
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise InterpreterError(f"LiteRT's library cannot be loaded: {error}", where=str(path)) from error
    return loaded


def call(function: str, *arguments: Any) -> None:
    """Calls a function that returns a status.

    Raises:
        LiteRtError: The status is not OK.
        InterpreterError: The library has no such function.
    """
    loaded = library()
    called = getattr(loaded, function, None)
    if called is None:
        raise InterpreterError(f"the installed ai-edge-litert does not export {function}")
    called.restype = c_int
    status = called(*arguments)
    if status:
        raise LiteRtError(f"{function} failed: {_STATUSES.get(status, f'status {status}')}", status)


def create(function: str, *arguments: Any) -> c_void_p:
    """Calls a function whose last parameter takes the handle that it makes, and returns that.

    Raises:
        LiteRtError: The status is not OK.
    """
    made = c_void_p()
    call(function, *arguments, ctypes.byref(made))
    return made


def release(function: str, handle: c_void_p) -> None:
    """Calls a function that destroys what a handle stands for, which is null afterwards."""
    if handle:
        destroy = getattr(library(), function)
        destroy.restype = None
        destroy(handle)
        handle.value = None
