"""Builds libraries of kernels from C++ sources that were written for TensorFlow Lite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.compiler import build_library, sanitizer_environment
from litefuse.litert.cpp.lacking import preprocessed_with_root, sources_defining
from litefuse.litert.cpp.library_sources import Registrations
from litefuse.litert.cpp.tflite_headers import explained, tflite_headers
from litefuse.support.files.readable import check_file, check_there
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.files.whole_file import whole_file

# What the compiler says of sources, not of headers that are not there: they may be in a newer standard.
_MAY_BE_NEWER = re.compile(r"(?<!fatal) error: (?!ld returned|linker)")

_LISTING = """
import ctypes, sys
names = ctypes.CDLL(sys.argv[1]).litefuse_kernel_names
names.restype = ctypes.POINTER(ctypes.c_char_p)
for name in names():
    if name is None:
        break
    sys.stdout.buffer.write(name + b"\\0")
"""


def build_kernels(
    sources: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    register: Mapping[str, str] | None = None,
    tflite_headers_folder: str | os.PathLike[str] | None = None,
    includes: Iterable[str | os.PathLike[str]] = (),
    options: Iterable[str] = (),
    compiler: str | None = None,
    sanitize: bool = False,
    ops: Iterable[str] = (),
) -> tuple[str, ...]:
    """Compiles kernels written for TensorFlow Lite to a library that any LiteRT interpreter loads as a delegate.

    The sources need no change. They include LiteRT's headers by either of their names (``tensorflow/lite/...``,
    ``tflite/...``, ``flatbuffers/flexbuffers.h``), for which litefuse has its own. Each kernel gets the name that a
    call of ``AddCustom`` or the registration gives it; else that of the function that gives its registration: ``X`` of
    ``Register_X()``, ``RegisterX()`` and ``X::Register()``, with ``GridSample`` besides ``GRID_SAMPLE``. A function
    whose only argument is a ``MutableOpResolver`` is called for what it adds, and so is the constructor of a class of
    resolvers. Further arguments may have defaults.

    What the sources lack is looked for around them: headers from the folders that they are in, and sources that define
    what headers declare, beside these. Sources that are not in C++17 are compiled as C++20.

    Args:
        sources: The ``.cc`` files, and ``.c`` files that these call.
        output: The library to write, whole or not at all.
        register: Names of ops, and for each the function without arguments that gives its registration, such as
            ``{"Atan": "tflite::ops::custom::Register_ATAN"}``.
        tflite_headers_folder: A checkout of LiteRT or TensorFlow whose headers take the place of litefuse's own.
        includes: Folders to search for headers before all others.
        options: Further options of the compiler, such as ``-DNAME=VALUE``.
        compiler: The compiler's command; the default is that of ``CXX``, else the first of the system's.
        sanitize: Have it stop at the first access outside of its memory, and at undefined behavior.
        ops: The ops that a model calls: a kernel whose name differs by capitals and underscores alone serves them.

    Returns:
        The names of the ops, in the order of the registrations; of a library for another machine, which cannot be asked
        here, those that the sources have as text.

    Raises:
        KernelError: A source does not compile, or none of them registers a kernel.
        LitefuseError: A file is missing or cannot be written, or no C++ compiler found.
    """
    files = [_source(source) for source in sources]
    if not files:
        raise LitefuseError("no sources", hint="Name the .cc files of the kernels.")
    if len(set(files)) < len(files):
        raise LitefuseError("one source is named twice", where=", ".join(str(path) for path in files))
    target = Path(output).absolute()
    if not target.parent.is_dir():
        raise LitefuseError("no such folder", where=str(target.parent))
    checkout = None if tflite_headers_folder is None else check_there(tflite_headers_folder)
    first = [check_there(folder).resolve() for folder in includes]
    with make_temporary_folder() as folder, whole_file(target) as library:
        headers = tflite_headers(checkout, first, Path(folder))
        folders = [*first, *headers.includes]
        # As apps compile kernels; the checks of debug builds end the process. The part of flatbuffers that is there for
        # locales would need a source of its own.
        flags = [*headers.options, "-w", "-DFLATBUFFERS_LOCALE_INDEPENDENT=0"]
        flags += ["-O1" if sanitize else "-DNDEBUG", *options]
        texts: list[str] = []
        more: list[Path] = []
        names: tuple[str, ...] | None = None
        refused: KernelError | None = None
        while names is None:
            try:
                texts = [preprocessed_with_root(file, folders, flags, compiler) for file in (*files, *more)]
                kit = ["*.cc"] if any("litefuse/options.h" in text for text in texts) else ["delegate.cc", "trial.cc"]
                registrations = Registrations.of(files, texts, headers, register or {}, tuple(ops))
                build_library(
                    library,
                    [*registrations.write_sources(Path(folder)), *headers.sources, *more],
                    includes=folders,
                    options=flags,
                    compiler=compiler,
                    sanitize=sanitize,
                    kit=kit,
                )
                runs = runs_here(library)
                names = _names(library, compiler, sanitize=sanitize) if runs else registrations.names_in_text()
                if not names:
                    raise registrations.no_kernels()
            except KernelError as error:
                lacking = sources_defining(error, texts, {*files, *headers.sources, *more})
                more += lacking
                if _MAY_BE_NEWER.search(error.message) and not any(flag.startswith("-std=") for flag in flags):
                    flags.append("-std=c++20")
                    refused = error
                elif not lacking:
                    raise explained(refused or error, headers, files) from error
            except OSError as error:
                reason = error.strerror or error
                raise LitefuseError(f"the library cannot be written: {reason}", where=str(output)) from error
    return names


def _source(source: str | os.PathLike[str]) -> Path:
    path = check_file(source).resolve()
    if set('"\n\\') & set(path.as_posix()):
        raise LitefuseError("C++ cannot name this file", where=str(source), hint="Give it a name without quotes.")
    return path


def runs_here(library: Path) -> bool:
    """Whether a library is for this machine, not for that of a cross compiler."""
    return _machine(library) == _machine(Path(sys.executable))


def _machine(path: Path) -> bytes:
    """Returns for what machine a program or a library is.

    It is the class and the machine of an ELF header, the machine of a header of Windows, or another magic number.
    """
    with path.open("rb") as file:
        header = file.read(64)
        if header.startswith(b"MZ"):
            file.seek(int.from_bytes(header[60:64], "little"))
            return file.read(6)
    return header[4:5] + header[18:20] if header.startswith(b"\x7fELF") else header[:8]


def _names(library: Path, compiler: str | None, *, sanitize: bool) -> tuple[str, ...]:
    """Loads the library in a process of its own, since it is the user's code that runs then."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", _LISTING, str(library)],
        capture_output=True,
        env={**os.environ, **sanitizer_environment(compiler)} if sanitize else None,
        check=False,
    )
    if done.returncode != 0:
        printed = done.stderr.decode(errors="replace").strip()
        ended = f"the process was ended by signal {-done.returncode}" if done.returncode < 0 else ""
        raise KernelError(f"the library cannot be loaded, or its registrations fail: {printed or ended}")
    return tuple(name.decode(errors="replace") for name in done.stdout.split(b"\0")[:-1])
