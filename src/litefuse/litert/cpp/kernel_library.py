"""Builds libraries of kernels from C++ sources that were written for TensorFlow Lite."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.compiler import build_library, preprocessed, sanitizer_environment
from litefuse.litert.cpp.registrations import RegisteringFunction, RegistrationsInSource, find_registrations
from litefuse.litert.cpp.tflite_headers import TfliteHeaders, explained, tflite_headers
from litefuse.support.files.readable import check_file, check_there
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.files.whole_file import whole_file

_RESOLVER = "::tflite::ops::builtin::BuiltinOpResolver"

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
) -> tuple[str, ...]:
    """Compiles kernels written for TensorFlow Lite to a library that any LiteRT interpreter loads as a delegate.

    The sources need no change. They include LiteRT's headers by either of their names (``tensorflow/lite/...``,
    ``tflite/...``, ``flatbuffers/flexbuffers.h``), for which litefuse has its own. Each kernel gets the name that a
    call of ``AddCustom`` gives it; else that of the function that gives its registration: ``X`` of ``Register_X()`` and
    ``RegisterX()``. A function whose only argument is a ``MutableOpResolver`` is called for what it adds, and so is the
    constructor of a class of resolvers.

    Args:
        sources: The ``.cc`` files.
        output: The library to write, whole or not at all.
        register: Names of ops, and for each the function without arguments that gives its registration, such as
            ``{"Atan": "tflite::ops::custom::Register_ATAN"}``.
        tflite_headers_folder: A checkout of LiteRT or TensorFlow whose headers take the place of litefuse's own.
        includes: Folders to search for headers before all others.
        options: Further options of the compiler, such as ``-DNAME=VALUE``.
        compiler: The compiler's command; the default is that of ``CXX``, else the first of the system's.
        sanitize: Have it stop at the first access outside of its memory, and at undefined behavior.

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
    headers = tflite_headers(None if tflite_headers_folder is None else check_there(tflite_headers_folder))
    folders = [*(check_there(folder).resolve() for folder in includes), *headers.includes]
    # As apps compile kernels; the checks of debug builds end the process.
    flags = [*headers.options, "-w", *(("-O1",) if sanitize else ("-DNDEBUG",)), *options]
    try:
        texts = [preprocessed(file, includes=folders, options=flags, compiler=compiler) for file in files]
        registered = [
            find_registrations(text, _OwnFiles(file, headers)) for file, text in zip(files, texts, strict=True)
        ]
        explicit = _explicit(register or {}, registered)
        _check_names(registered, explicit)
        if not explicit and not any(
            source.fillers or source.resolvers or source.kit or any(getter.op for getter in source.getters)
            for source in registered
        ):
            raise _no_kernels(files, registered)
        with make_temporary_folder() as folder, whole_file(target) as library:
            written = _write_sources(Path(folder), files, registered, explicit)
            build_library(
                library,
                [*written, *headers.sources_for(texts)],
                includes=folders,
                options=flags,
                compiler=compiler,
                sanitize=sanitize,
                kit=["*.cc"] if any("litefuse/options.h" in text for text in texts) else ["delegate.cc", "trial.cc"],
            )
            names = _names_in_text(registered, explicit)
            if runs_here(library):
                names = _names(library, compiler, sanitize=sanitize)
            if not names:
                raise _no_kernels(files, registered)
    except KernelError as error:
        raise explained(error, headers, files) from error
    except OSError as error:
        raise LitefuseError(f"the library cannot be written: {error.strerror or error}", where=str(output)) from error
    return names


class _OwnFiles:
    """Whether a file is of the user's sources: in the folder of one, but no header of LiteRT."""

    def __init__(self, source: Path, headers: TfliteHeaders) -> None:
        self._folder = source.parent
        self._others = headers.includes

    def __call__(self, path: Path) -> bool:
        return path.is_relative_to(self._folder) and not any(
            path.is_relative_to(folder) and not self._folder.is_relative_to(folder) for folder in self._others
        )


def _source(source: str | os.PathLike[str]) -> Path:
    path = check_file(source).resolve()
    if set('"\n\\') & set(path.as_posix()):
        raise LitefuseError("C++ cannot name this file", where=str(source), hint="Give it a name without quotes.")
    return path


def _explicit(register: Mapping[str, str], registered: Sequence[RegistrationsInSource]) -> dict[str, str]:
    """Returns the functions that users named, with the names of their ops; those of AddCustom in the text as well."""
    there = {getter.path for source in registered for getter in source.getters}
    explicit: dict[str, str] = {}
    for source in registered:
        for op, function in source.named:
            matching = [getter.path for getter in source.getters if getter.name == function]
            if len(matching) == 1:
                explicit[op] = matching[0]
    for op, given in register.items():
        path = given.replace(" ", "").removeprefix("::").removesuffix("()")
        if path not in there:
            raise KernelError(
                f"no source defines a function {path}() that gives a TfLiteRegistration",
                where=f"--register {op}={given}",
                hint=f"The functions are {', '.join(sorted(there)) or 'none'}.",
            )
        explicit[op] = path
    return explicit


def _check_names(registered: Sequence[RegistrationsInSource], explicit: Mapping[str, str]) -> None:
    """Checks that no two functions are named after one op."""
    ops: dict[str, str] = {}
    for getter in (function for source in registered for function in source.getters):
        if not getter.op or getter.path in explicit.values() or getter.op in explicit:
            continue
        other = ops.setdefault(getter.op, getter.path)
        if other != getter.path:
            raise KernelError(
                f"{other}() and {getter.path}() are named after one op",
                hint=f"Name their ops: --register OP={other} --register OP={getter.path}.",
            )


def _no_kernels(files: Sequence[Path], registered: Sequence[RegistrationsInSource]) -> KernelError:
    getters = [getter.path for source in registered for getter in source.getters]
    hint = "A kernel has a function such as TfLiteRegistration* Register_MyOp(), or void RegisterMyOps("
    hint += "tflite::MutableOpResolver* resolver) calls AddCustom."
    if getters:
        hint = f"Name their ops: {' '.join(f'--register OP={path}' for path in getters)}."
    return KernelError("registers no kernel", where=", ".join(path.name for path in files), hint=hint)


def _write_sources(
    folder: Path, files: Sequence[Path], registered: Sequence[RegistrationsInSource], explicit: Mapping[str, str]
) -> list[Path]:
    """Writes one source for each of the user's, which includes it, so that its static functions can be called too.

    The last has the table of them all.
    """
    written: list[Path] = []
    declared, called = "", ""
    for number, (file, registrations) in enumerate(zip(files, registered, strict=True)):
        own = {getter.path: getter for getter in registrations.getters}
        first, last = "", ""
        for op, path in explicit.items():
            if path in own:
                first += f"  all.Add({_quoted(op)}, ::{path}());\n"
        for filler in registrations.fillers:
            argument = "&resolver" if filler.argument == "*" else "resolver"
            first += (
                f"  {{\n    {_RESOLVER} resolver;\n    ::{filler.path}({argument});\n    all.AddAll(resolver);\n  }}\n"
            )
        for path in registrations.resolvers:
            first += f"  all.AddResolver<::{path}>();\n"
        for op in registrations.kit:
            first += f"  all.Add({_quoted(op)}, ::litefuse_register_{op}());\n"
        for getter in _named_after_function(registrations.getters, explicit):
            last += f"  all.AddFunction({_quoted(getter.op)}, ::{getter.path}());\n"
        resolver = '#include "tflite/kernels/register.h"\n' if registrations.fillers else ""
        source = folder / f"kernels_{number}.cc"
        source.write_text(
            f'#include "{file.as_posix()}"\n\n#include "litefuse/registrations.h"\n{resolver}\n'
            f"void litefuse_add_named_{number}(litefuse::Registrations& all) {{\n  (void)all;\n{first}}}\n"
            f"void litefuse_add_others_{number}(litefuse::Registrations& all) {{\n  (void)all;\n{last}}}\n",
            encoding="utf-8",
        )
        written.append(source)
        for part in ("named", "others"):
            declared += f"void litefuse_add_{part}_{number}(litefuse::Registrations& all);\n"
    for part in ("named", "others"):
        called += "".join(f"    litefuse_add_{part}_{number}(*made);\n" for number in range(len(files)))
    table = (
        f"\n{declared}\nconst litefuse::RegisteredKernel* litefuse::RegisteredKernels() {{\n"
        f"  static const RegisteredKernel* const table = [] {{\n    auto* made = new Registrations;\n{called}"
        "    return made->Table();\n  }();\n  return table;\n}\n"
    )
    with written[-1].open("a", encoding="utf-8") as source:
        source.write(table)
    return written


def _named_after_function(
    getters: Iterable[RegisteringFunction], explicit: Mapping[str, str]
) -> list[RegisteringFunction]:
    return [
        getter for getter in getters if getter.op and getter.path not in explicit.values() and getter.op not in explicit
    ]


def _quoted(text: str) -> str:
    """Returns a literal of C++: what is not plain ASCII as octal numbers, which end after three digits."""
    plain = set(range(0x20, 0x7F)) - {*b'"\\?'}
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


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


def _names_in_text(registered: Sequence[RegistrationsInSource], explicit: Mapping[str, str]) -> tuple[str, ...]:
    names = list(explicit)
    for source in registered:
        names += [op for op, _ in source.named] if source.fillers or source.resolvers else []
        names += [*source.kit, *(getter.op for getter in _named_after_function(source.getters, explicit))]
    return tuple(dict.fromkeys(names))


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
