"""Entry point of the process that looks into a library of kernels."""

from __future__ import annotations

from collections.abc import Callable

from litefuse.errors import KernelError
from litefuse.litert.cpp.compiler import is_sanitized, sanitizer_environment
from litefuse.litert.runtime.native import NativeKernels
from litefuse.support.files.readable import check_file
from litefuse.support.processes.process import run_alone


def names_in_library(library: str) -> frozenset[str]:
    """Returns the ops that a library has kernels for; empty if it does not tell them.

    Raises:
        KernelError: It is not a library of kernels.
        EngineCrashError: Loading it ends the process.
    """
    check_file(library, KernelError)
    environment = sanitizer_environment() if is_sanitized(library) else dict[str, str]()
    return run_alone("litefuse.tools.kernel_check.library:load_names", library, environment=environment)


def load_names(library: str, announce: Callable[[str], None]) -> frozenset[str]:
    """Loads the library."""
    announce("load the library")
    return NativeKernels(library).names
