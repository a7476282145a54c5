"""Builds libraries of kernels in a short time: not optimized, and each source compiled once."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from litefuse.litert.cpp.compiler import build_library, find_compiler, native_sources

_FOLDER = tempfile.TemporaryDirectory()


@cache
def _compiled(text: str, options: tuple[str, ...]) -> str:
    """Returns the object file of a source."""
    source = Path(_FOLDER.name, f"{len(list(Path(_FOLDER.name).iterdir()))}.cc")
    source.write_text(text)
    native = native_sources()
    flags = ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", f"-I{native / 'include'}", f"-I{native / 'src'}"]
    subprocess.run([*find_compiler(None), *flags, *options, "-c", str(source)], cwd=_FOLDER.name, check=True)
    return str(source.with_suffix(".o"))


def build_quickly(
    output: Path, sources: Sequence[Path], *, options: Sequence[str] = (), sanitize: bool = False, **more: Any
) -> None:
    """``build_library`` without optimization, of what has not been compiled before."""
    kit = sorted((native_sources() / "src").glob("*.cc"))
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    watched = {*sources, native_sources() / "src" / "delegate.cc"} if sanitize else set[Path]()
    objects = [_compiled(path.read_text(), flags if path in watched else ()) for path in (*sources, *kit)]
    build_library(output, [], options=[*options, *objects], kit=(), sanitize=sanitize, **more)
