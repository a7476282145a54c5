"""Index of the pack's kernels: the classes of ``litefuse.kernels.pack`` that are decorated with ``pack_kernel``.

It is built from their source, without importing their modules. The kernels in C++ are in a library.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Literal, Protocol, TypeVar

from litefuse.support.plug_ins.own_classes import OwnClass, own_classes

__all__ = ["kernel_classes", "native_library", "pack_kernel"]


class _OfOneOp(Protocol):
    op_name: ClassVar[str]


_Kernel = TypeVar("_Kernel", bound=_OfOneOp)
_NAMES = {"darwin": "liblitefuse_kernels.dylib", "win32": "litefuse_kernels.dll"}


def pack_kernel(
    op: str,
    *,
    native: bool | Literal["partly"] = False,  # noqa: ARG001  read from the source
    limited: bool = False,  # noqa: ARG001
) -> Callable[[type[_Kernel]], type[_Kernel]]:
    """Class decorator that makes a class the pack's kernel of an op. Its arguments are literals.

    Args:
        op: The op's name.
        native: Whether the pack also has the kernel in C++; ``partly`` if that does not support all attributes, in
            which case the class is a ``PartlyNativeKernel``.
        limited: Whether the kernel does not support all forms of the op; then the class is a ``LimitedKernel``.
    """

    def named(kernel: type[_Kernel]) -> type[_Kernel]:
        kernel.op_name = op
        return kernel

    return named


@functools.cache
def kernel_classes() -> Mapping[str, OwnClass]:
    """Returns the decorated classes by the names of their ops."""
    kernels = own_classes("litefuse.kernels.pack", "pack_kernel")
    return {kernel.arguments[0]: kernel for kernel in sorted(kernels, key=lambda kernel: kernel.name)}


@functools.cache
def native_library() -> Path | None:
    """The shared library with the pack's native kernels; None where litefuse was installed without a C++ compiler.

    It has no dependencies, and can be given to ``ai_edge_litert.interpreter.load_delegate`` as well. The environment
    variable ``LITEFUSE_KERNELS_LIBRARY`` names another build of it; empty, it stands for none.
    """
    chosen = os.environ.get("LITEFUSE_KERNELS_LIBRARY")
    if chosen is not None:
        return Path(chosen) if chosen else None
    # It lies beside the kernels in Python, none of which is imported to look; an editable install has it in another
    # folder than the sources.
    spec = importlib.util.find_spec("litefuse.kernels")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    name = _NAMES.get(sys.platform, "liblitefuse_kernels.so")
    paths = (Path(folder, name) for folder in folders)
    return next((path for path in paths if path.is_file()), None)
