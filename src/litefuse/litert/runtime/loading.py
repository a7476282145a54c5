"""Loads the kernels that users name: Python code that registers them, and libraries of native ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, register_kernel
from litefuse.support.plug_ins.entry_points import GROUP, PlugIn, find_plug_ins
from litefuse.support.plug_ins.modules import import_kernels, name_code

_SUFFIXES = frozenset({".so", ".dylib", ".dll"})


def is_library(source: str) -> bool:
    """Whether a name of kernels is that of a shared library, also of one with a version: ``libkernels.so.1``."""
    path = Path(source)
    return path.suffix in _SUFFIXES or ".so." in path.name


def library_of_package(name: str) -> Path | None:
    """Returns the library of kernels of an installed package, by the package's name; None if it has none.

    Raises:
        LitefuseError: It was installed without its library.
    """
    plug_ins = [plug_in for plug_in in find_plug_ins(GROUP) if plug_in.is_library]
    return next((plug_in.load() for plug_in in plug_ins if name in (plug_in.package, plug_in.module)), None)


def load_kernels(sources: Iterable[str]) -> None:
    """Loads kernels: imports ``.py`` files and modules, and registers the ops of libraries.

    Raises:
        KernelError: No such file or module, it cannot be loaded, or it is not a library of kernels.
        LitefuseError: Its registration is rejected.
    """
    for source in sources:
        if is_library(source):
            register_library(source)
        else:
            import_kernels([source])


def name_plug_ins(sources: Iterable[str]) -> None:
    """Notes the Python code among what the user named, which Keras files may need; see :func:`name_code`."""
    name_code(source for source in sources if not is_library(source))


def register_library(source: str, plug_in: PlugIn | None = None) -> None:
    """Registers the ops of a library of native kernels, which run in the place of all others that were registered.

    Args:
        source: The library.
        plug_in: The installed plug-in that has it; None: the running program loads it.

    Raises:
        KernelError: It is not such a library, or does not say which ops it has kernels for.
    """
    from litefuse.litert.runtime.native import NativeKernels

    library = NativeKernels(source)
    if not library.names:
        raise KernelError(
            "the library does not say which ops it has kernels for",
            where=source,
            hint="litefuse kernels build makes one that does; Interpreter(custom_ops=[PATH]) takes this one.",
        )
    path = str(library.path.resolve())
    for op in sorted(library.names):
        # Without a module, so that it is sent to other processes by value.
        fields = {"library": path, "op_name": op, "__module__": f"kernels of {path}"}
        register_kernel(type("NativeOp", (_NativeOp,), fields), plug_in, replace=plug_in is None)


class _NativeOp(CustomOp):
    """Stands for a native kernel, which its library's delegate runs."""

    form = "native"

    def prepare(self, *_: Any, **__: Any) -> NoReturn:
        raise KernelError("this kernel runs in its library", where=self.library)

    def invoke(self, *_: Any, **__: Any) -> NoReturn:
        raise KernelError("this kernel runs in its library", where=self.library)
