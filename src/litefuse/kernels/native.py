"""Where the kernel pack's native library is."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

__all__ = ["native_library"]

_NAMES = ("liblitefuse_kernels.so", "liblitefuse_kernels.dylib")


@functools.cache
def native_library() -> Path | None:
    """The shared library with the pack's native kernels; None where litefuse was installed without a C++ compiler.

    It has no dependencies, and can be given to ``ai_edge_litert.interpreter.load_delegate`` as well. The environment
    variable ``LITEFUSE_KERNELS_LIBRARY`` names another build of it; empty, it stands for none.
    """
    chosen = os.environ.get("LITEFUSE_KERNELS_LIBRARY")
    if chosen is not None:
        return Path(chosen) if chosen else None
    # An editable install has it in another folder than the sources.
    folders = sys.modules[__name__.rpartition(".")[0]].__path__
    paths = (Path(folder, name) for folder in folders for name in _NAMES)
    return next((path for path in paths if path.is_file()), None)
