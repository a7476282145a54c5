"""Libraries that were built with the address sanitizer, which load only into processes that were started for that."""

from __future__ import annotations

import mmap
import os
import subprocess
from pathlib import Path

from litefuse.litert.cpp.compiler import find_compiler

__all__ = ["can_load", "is_sanitized", "sanitizer_environment"]

# What GCC's libraries need, and what those of other compilers call.
_MARKS = (b"\0libasan.so", b"\0__asan_init\0")
_RUNTIME = "libasan"


def is_sanitized(library: str | os.PathLike[str]) -> bool:
    """Whether a library was built with the address sanitizer; False if it cannot be read."""
    try:
        with Path(library).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(mark) >= 0 for mark in _MARKS)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False


def can_load() -> bool:
    """Whether this process was started with the sanitizer's library; otherwise, loading such a library ends it."""
    return _RUNTIME in os.environ.get("LD_PRELOAD", "")


def sanitizer_environment(compiler: str | None = None) -> dict[str, str]:
    """Returns the environment variables with which a process has to be started to load such a library.

    Args:
        compiler: The compiler that built it; see ``find_compiler``.

    Raises:
        LitefuseError: No C++ compiler found that has the sanitizer's library.
    """
    ask = [*find_compiler(compiler), "-print-file-name="]
    found = [
        subprocess.run([*ask[:-1], ask[-1] + name], capture_output=True, text=True, check=False).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    return {"LD_PRELOAD": " ".join(found), "ASAN_OPTIONS": "detect_leaks=0"}
