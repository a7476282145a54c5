"""Builds what the fuzzer runs with sanitizers: the kernel pack, and a library with the readers of hostile bytes."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("LITEFUSE_FUZZ_BUILD") or _ROOT / "build" / "fuzz")
_LIBRARY = "LITEFUSE_KERNELS_LIBRARY"
_GIVEN = "LITEFUSE_FUZZ_KERNELS"
# Leaks of Python's own are many. An allocation that is refused is not to be the end, as it is not without sanitizers.
# A model that asks for more than a gigabyte at once does not get it, so that a call is refused and not stopped for what
# it takes.
_ASAN = (
    "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024:detect_stack_use_after_return=0:"
    "handle_abort=1:abort_on_error=0"
)
_UBSAN = "print_stacktrace=1"


class BuildError(Exception):
    """A library with sanitizers cannot be built here."""


def sanitized_environment() -> Mapping[str, str]:
    """The variables of a process that runs the kernel pack with the address and undefined behavior sanitizers.

    The pack is that which ``LITEFUSE_FUZZ_KERNELS`` names, or is built.

    Raises:
        BuildError: It cannot be built.
    """
    given = os.environ.get(_GIVEN)
    library = given or str(_built("native", "liblitefuse_kernels.so", "-DLITEFUSE_SANITIZE=ON"))
    return {_LIBRARY: library, **preloaded()}


def readers_environment() -> Mapping[str, str]:
    """The variables of a process that loads the library with the readers, which it names ``LITEFUSE_FUZZ_READERS``.

    Raises:
        BuildError: It cannot be built.
    """
    return {"LITEFUSE_FUZZ_READERS": str(_built("fuzz/readers", "libfuzz_readers.so")), **preloaded()}


def preloaded() -> Mapping[str, str]:
    """The variables of a process that loads libraries with the address and undefined behavior sanitizers.

    Raises:
        BuildError: The compiler has none.
    """
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        raise BuildError("there is no C++ compiler; sanitizers need one")
    names = ("libasan.so", "libstdc++.so")
    paths = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in names
    ]
    if not all(Path(path).is_absolute() for path in paths):
        raise BuildError(f"{compiler} has no {names[0]}; install its sanitizers")
    return {"LD_PRELOAD": " ".join(paths), "ASAN_OPTIONS": _ASAN, "UBSAN_OPTIONS": _UBSAN}


@functools.cache
def _built(folder: str, library: str, *options: str) -> Path:
    target = BUILD / folder
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    commands = (
        ["cmake", "-S", str(_ROOT / folder), "-B", str(target), *options],
        ["cmake", "--build", str(target), "--parallel", "2"],
    )
    for command in commands:
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be run: {error}") from error
        if done.returncode != 0:
            raise BuildError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return target / library
