"""Kernels in shared libraries: external delegates of LiteRT."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from pathlib import Path

from ai_edge_litert import interpreter as litert

from litefuse.errors import KernelError
from litefuse.litert.cpp.compiler import can_load, is_sanitized, sanitizer_environment
from litefuse.litert.runtime.kernel_pack import native_library
from litefuse.litert.runtime.layout import check_layout
from litefuse.support.files.readable import check_file
from litefuse.support.logs.events import silent_by_default

logger = logging.getLogger("litefuse.runtime")
silent_by_default()

_PLUGIN = ("tflite_plugin_create_delegate", "tflite_plugin_destroy_delegate")


class NativeKernels:
    """The kernels of a shared library, as a delegate of any number of interpreters.

    Attributes:
        path: The library.
        names: The ops that it has kernels for; empty if it does not list them (only libraries built with litefuse's kit
            do).

    Args:
        path: A library that exports ``tflite_plugin_create_delegate`` and ``tflite_plugin_destroy_delegate``.

    Raises:
        KernelError: No such file, or it is not such a library.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        check_file(self.path, KernelError)
        if not can_load() and is_sanitized(self.path):
            preloaded = sanitizer_environment()["LD_PRELOAD"]
            raise KernelError(
                "was built with the address sanitizer, which this process was not started with",
                where=str(path),
                hint=f"litefuse kernels test and verify run it; or start the process with LD_PRELOAD='{preloaded}'.",
            )
        # A bare name would be searched for in the system's library folders.
        absolute = str(self.path.resolve())
        try:
            library = ctypes.CDLL(absolute)
        except OSError as error:
            raise KernelError(f"is not a shared library of this machine: {error}", where=str(path)) from error
        missing = [name for name in _PLUGIN if not hasattr(library, name)]
        if missing:
            raise KernelError(
                f"is not a LiteRT delegate: it does not export {' and '.join(missing)}",
                where=str(path),
                hint="litefuse kernels build makes such a library of kernels written for TensorFlow Lite, and "
                "litefuse kernels new writes the sources of one.",
            )
        self._delegate = litert.load_delegate(absolute)
        self.names = _names(library)

    def _get_native_delegate_pointer(self) -> int:
        """Returns the pointer that the interpreter asks every delegate for."""
        check_layout()
        return self._delegate._get_native_delegate_pointer()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the runtime's protocol


def _names(library: ctypes.CDLL) -> frozenset[str]:
    if not hasattr(library, "litefuse_kernel_names"):
        return frozenset()
    function = library.litefuse_kernel_names
    function.restype = ctypes.POINTER(ctypes.c_char_p)
    names: list[str] = []
    for name in function():
        if name is None:
            break
        names.append(name.decode())
    return frozenset(names)


@functools.cache
def pack() -> NativeKernels | None:
    """Returns the native kernels of litefuse's pack; None if it was installed without a C++ compiler."""
    path = native_library()
    if path is None:
        logger.info("litefuse was installed without its native kernels: its pack runs in numpy, which is slower")
        return None
    return NativeKernels(path)
