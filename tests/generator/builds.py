"""Builds libraries of kernels in a short time: not optimized, and with the kit compiled once."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from litefuse.cpp.compiler import build_library, find_compiler
from litefuse.cpp.sources import native_sources

__all__ = ["build_quickly"]

_FOLDER = tempfile.TemporaryDirectory()


@cache
def _kit() -> tuple[str, ...]:
    """Compiles the kit."""
    native = native_sources()
    sources = [str(path) for path in sorted((native / "src").glob("*.cc"))]
    flags = ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", f"-I{native / 'include'}"]
    subprocess.run([*find_compiler(None), *flags, "-c", *sources], cwd=_FOLDER.name, check=True)
    return tuple(str(path) for path in sorted(Path(_FOLDER.name).glob("*.o")))


def build_quickly(output: Path, sources: Sequence[Path], *, options: Sequence[str] = (), **more: Any) -> None:
    """``build_library`` without optimization, with the compiled kit."""
    build_library(output, sources, options=[*options, "-O0", *_kit()], kit=(), **more)
