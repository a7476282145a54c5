"""Where the kernel pack's native library is."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from pathlib import Path

__all__ = ["native_library"]

_NAMES = {"darwin": "liblitefuse_kernels.dylib", "win32": "litefuse_kernels.dll"}


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
