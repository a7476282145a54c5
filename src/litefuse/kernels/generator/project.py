"""The folder of generated kernels: sources, what builds them, and the library for this machine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.kernels.generator.kernel import class_name
from litefuse.litert.cpp.compiler import LOOP_OPTIONS, build_library
from litefuse.litert.cpp.folders import copy_kit, filled
from litefuse.support.files.whole_file import write_new
from litefuse.support.processes.limits import process_limits

#: The compiler's options for generated loops: those of loops, and the pragmas that vectorize sums.
OPTIONS = ("-fopenmp-simd", *LOOP_OPTIONS)

_TEMPLATES = Path(__file__).with_name("templates")


def _library_name() -> str:
    names = {"darwin": "libgenerated_kernels.dylib", "win32": "generated_kernels.dll"}
    return names.get(sys.platform, "libgenerated_kernels.so")


def identifiers(names: list[str]) -> dict[str, str]:
    """Returns a class's name for each composite, no two of which are the same."""
    classes: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        own, count = class_name(name), 1
        while own.lower() in taken:  # also the names of files
            count += 1
            own = f"{class_name(name)}{count}"
        taken.add(own.lower())
        classes[name] = own
    return classes


def build_kernels(
    folder: Path, sources: Mapping[str, str], *, options: Sequence[str] = (), sanitize: bool = False
) -> Path:
    """Writes the sources of kernels into a folder and compiles them.

    Args:
        folder: A folder that exists.
        sources: The sources by the composites' names.
        options: Further options of the compiler.
        sanitize: Have the library stop at any access outside of its memory.

    Returns:
        The library.

    Raises:
        KernelError: They do not compile.
        LimitError: The time is over.
        LitefuseError: No C++ compiler found.
    """
    paths = _write_sources(folder, sources)
    library = folder / _library_name()
    limits = process_limits()
    limits.check_time("compile")
    try:
        build_library(library, paths, options=[*OPTIONS, *options], sanitize=sanitize, timeout=limits.remaining)
    except LitefuseError:
        limits.check_time("compile")
        raise
    return library


def _write_sources(folder: Path, sources: Mapping[str, str]) -> list[Path]:
    texts = {f"{own}.cc": sources[name] for name, own in identifiers(list(sources)).items()}
    texts["registry.cc"] = registry_source(identifiers(list(sources)))
    for name, text in texts.items():
        write_new(folder / name, text.encode())
    return [folder / name for name in texts]


def write_project(folder: Path, sources: Mapping[str, str], model: str, library: Path | None = None) -> Path:
    """Writes kernels, all that builds them elsewhere, and the library for this machine into a folder that exists.

    Returns:
        The library.

    Raises:
        KernelError: They do not compile.
        LitefuseError: No C++ compiler found.
    """
    if library is None:
        made = build_kernels(folder, sources)
    else:
        _write_sources(folder, sources)
        made = folder / library.name
        shutil.copyfile(library, made)
    kernels = "\n".join(f"- `{own}.cc`: {name}" for name, own in identifiers(list(sources)).items())
    names = {"MODEL": model, "KERNELS": kernels, "LIBRARY": made.name, "OPTIONS": " ".join(OPTIONS)}
    for name, template in (("CMakeLists.txt", "CMakeLists.txt.in"), ("README.md", "readme.md.in")):
        write_new(folder / name, filled((_TEMPLATES / template).read_text("utf-8"), names).encode())
    copy_kit(folder / "kit")
    return made


def registry_source(found: Mapping[str, str]) -> str:
    """Returns the source of the table of kernels, given the names of their classes by those of the composites."""
    declared = "\n".join(
        f'extern "C" const TfLiteRegistration* litefuse_register_{own}(void);' for own in found.values()
    )
    rows = "\n".join(f"      {{{_text(name)}, litefuse_register_{own}}}," for name, own in found.items())
    return f"""// The kernels that the library's delegate runs, by the names of the composites.
#include "litefuse/registry.h"

{declared}

const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {{
  static const RegisteredKernel kernels[] = {{
{rows}
      {{nullptr, nullptr}},
  }};
  return kernels;
}}
"""


def _text(name: str) -> str:
    """Returns a string literal in C++: letters as they are, all other bytes by their numbers."""
    pieces = [chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"\\{byte:03o}" for byte in name.encode()]
    return '"' + "".join(pieces) + '"'
