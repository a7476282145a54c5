"""Compiles C++ sources to a shared library of kernels, which any LiteRT interpreter loads as an external delegate."""

from __future__ import annotations

import mmap
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.watched import run_watched
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.limits import process_limits

# For kernels whose loops are to become vector instructions (litefuse/vector_math.h). They change no result;
# contractions of multiplications and additions would, where it is rounded to an integer, by one.
LOOP_OPTIONS = ("-fno-math-errno", "-fno-trapping-math")

_CANDIDATES = (["c++"], ["g++"], ["clang++"], ["zig", "c++"])
_SECONDS = 600.0
_INSTALL = "Install g++ or clang++ (apt install g++, xcode-select --install), or name one by the variable CXX."
_INSTALL_ON_WINDOWS = (
    "Microsoft's compiler does not compile these sources. Install g++ or clang++ of MinGW-w64, or Zig, or name one by "
    "the variable CXX: pip install ziglang brings Zig, whose command is python -m ziglang c++."
)
# Libraries that were built with the address sanitizer load only into processes that were started for that.
# What GCC's libraries need, and what those of other compilers call.
_MARKS = (b"\0libasan.so", b"\0__asan_init\0")
_RUNTIME = "libasan"


def native_sources() -> Path:
    """Returns the folder ``native`` with the kernel pack's sources, in the installed package or else the checkout.

    Raises:
        LitefuseError: No such folder.
    """
    installed = Path(str(resources.files("litefuse").joinpath("native")))
    checkout = Path(__file__).parents[4] / "native"
    for folder in (installed, checkout):
        if (folder / "include" / "litefuse" / "kernel.h").is_file():
            return folder
    raise LitefuseError(
        "this installation of litefuse has no C++ sources",
        where=str(installed),
        hint="Install litefuse from its sources or a litefuse wheel: pip install --force-reinstall litefuse.",
    )


def find_compiler(chosen: str | None = None) -> list[str]:
    """Returns the command of a C++ compiler: the one that is named, that of ``CXX``, or the first of the system's.

    Raises:
        LitefuseError: There is none, or none of this name.
    """
    named = chosen or os.environ.get("CXX")
    if named:
        command = _words(named)
        if command and shutil.which(command[0]) is not None:
            return command
        raise LitefuseError("C++ compiler not found", where=named, hint="Name another by the variable CXX.")
    for candidate in _CANDIDATES:
        if shutil.which(candidate[0]) is not None:
            return [*candidate]
    hint = _INSTALL_ON_WINDOWS if sys.platform == "win32" else _INSTALL
    raise LitefuseError("no C++ compiler found", hint=hint)


def build_library(
    output: Path,
    sources: Sequence[Path],
    *,
    includes: Sequence[Path] = (),
    options: Sequence[str] = (),
    compiler: str | None = None,
    sanitize: bool = False,
    kit: Sequence[str] = ("*.cc",),
    timeout: float | None = None,
) -> None:
    """Compiles sources with litefuse's kit, optimized, to a shared library without dependencies beyond the C library.

    Args:
        output: The library; it appears whole or not at all.
        sources: The sources, one of which defines ``litefuse::RegisteredKernels``.
        includes: Folders of headers, searched before the kit's.
        options: Further options of the compiler.
        compiler: The compiler's command; see ``find_compiler``.
        sanitize: Have the library stop at the first access outside of its memory, and at undefined behavior. It loads
            into a process that has been started with the address sanitizer's library preloaded.
        kit: Which sources of the kit go along; all need those of the delegate, and classes of kernels the others.
        timeout: How many seconds it may take; None: ten minutes.

    Raises:
        KernelError: A source does not compile; the message has what the compiler printed.
        LitefuseError: No C++ compiler found, or it does not end; or it is to sanitize for Windows.
    """
    native = native_sources()
    command = find_compiler(compiler)
    windows = _is_for_windows(command)
    if sanitize and windows:
        raise LitefuseError("kernels are built with the address sanitizer on Linux and macOS, not for Windows")
    flags = ["-O3", "-fvisibility=hidden", "-Wall", "-Wextra", "-ffp-contract=off"]
    flags += [*(f"-I{folder}" for folder in includes), f"-I{native / 'include'}", *([] if windows else ["-fPIC"])]
    linking = ["-static"] if windows else []  # Zig goes by the last of this and -shared
    if sanitize:
        flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"]
    elif not windows and sys.platform != "darwin":
        linking += ["-static-libgcc", "-static-libstdc++", "-Wl,--exclude-libs,ALL", "-Wl,--no-undefined"]
    words = [*linking, "-std=c++17", "-shared", *flags, *options]
    words += [str(path) for path in sources if path.suffix != ".c"]
    words += [str(path) for pattern in kit for path in sorted((native / "src").glob(pattern))]
    limit = _SECONDS if timeout is None else min(timeout, _SECONDS)
    with make_temporary_folder(output.parent) as folder:
        made = Path(folder, output.name)
        runs: list[list[str]] = []
        for number, source in enumerate(path for path in sources if path.suffix == ".c"):
            words.append(str(Path(folder, f"{number}.o")))
            of_c = [option for option in options if not option.startswith(("-std=", "-Wl,"))]
            runs.append(["-x", "c", *flags, *of_c, "-c", str(source), "-o", words[-1]])
        for run in (*runs, [*words, "-o", str(made)]):
            done = _run([*command, *run], folder, limit)
            if done.returncode != 0 or not Path(run[-1]).is_file():
                raise KernelError(
                    f"does not compile:\n{(done.stderr or done.stdout).strip()}",
                    where=", ".join(path.name for path in sources),
                )
        made.replace(output)


def preprocessed(
    source: Path, *, includes: Sequence[Path] = (), options: Sequence[str] = (), compiler: str | None = None
) -> str:
    """Returns a source with its headers and macros expanded, and the names of the files that its lines are from.

    Raises:
        KernelError: A header is missing, say; the message has what the compiler printed.
        LitefuseError: No C++ compiler found, or it does not end.
    """
    command = [*find_compiler(compiler), "-std=c++17", "-E", *(f"-I{folder}" for folder in includes)]
    with make_temporary_folder() as folder:
        done = _run([*command, f"-I{native_sources() / 'include'}", *options, str(source)], folder)
    if done.returncode != 0:
        raise KernelError(f"does not compile:\n{done.stderr.strip()}", where=source.name)
    return done.stdout


def _words(command: str) -> list[str]:
    """Splits a command into words; on Windows, where paths have backslashes, it may be a path with spaces as well."""
    if sys.platform != "win32":
        return shlex.split(command)
    if shutil.which(command) is not None:
        return [command]
    return [word.strip('"') for word in shlex.split(command, posix=False)]


def _is_for_windows(command: Sequence[str]) -> bool:
    """Whether a compiler makes libraries for Windows: that of a system by default, a cross compiler by its words."""
    return sys.platform == "win32" or any(name in word for word in command for name in ("-windows-", "-mingw32"))


def _run(command: Sequence[str], folder: str, timeout: float = _SECONDS) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C"}  # messages in English, with plain quotes
    # Where it puts the files between its parts: on POSIX systems, and on Windows.
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
    limits = process_limits()
    remaining = limits.remaining
    try:
        return run_watched(command, environment, timeout if remaining is None else min(timeout, remaining))
    except subprocess.TimeoutExpired as error:
        if remaining is not None and remaining < timeout:
            raise limits.out_of_time("compile") from error
        raise LitefuseError(f"the compiler did not end within {timeout:.3g} s", where=command[0]) from error


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
    libraries = [
        subprocess.run([*ask[:-1], ask[-1] + name], capture_output=True, text=True, check=False).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    return {"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"}
