"""Runs a LiteRT model in a process of its own, for a verification or a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from litefuse.conversion.verify.model_process import MODEL, ModelCalls, ModelJob
from litefuse.litert.cpp.compiler import is_sanitized, sanitizer_environment
from litefuse.support.processes.process import run_model

__all__ = ["run_job", "run_with_kernels"]


def run_job(job: ModelJob, where: str, announce: Callable[[str], None] = lambda _: None) -> ModelCalls:
    """Calls a model in a process, which loads libraries that were built with the address sanitizer, too.

    Args:
        job: The job.
        where: The model, for messages.
        announce: Called with each step.

    Raises:
        ModelCrashError: The process died.
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    kernels = (*job.custom_ops, *job.kernel_modules)
    return cast("ModelCalls", run_with_kernels(MODEL, job, where, kernels, announce))


def run_with_kernels(
    target: str,
    argument: object,
    where: str,
    kernels: Iterable[bytes | str],
    announce: Callable[[str], None] = lambda _: None,
) -> Any:
    """Runs a function in a process for models, see ``run_model``, with the environment that the kernels need.

    Args:
        target: The function, as ``package.module:function``.
        argument: Its argument.
        where: The model, for messages.
        kernels: The kernels that the function loads: pickled classes, paths of libraries, files and modules.
        announce: Called here with each step that the function announces there.

    Raises:
        ModelCrashError: The process died.
        LitefuseError: The error that the function raised.
    """
    libraries = [kernel for kernel in kernels if isinstance(kernel, str)]
    environment = sanitizer_environment() if any(map(is_sanitized, libraries)) else None
    return run_model(target, argument, where, announce, environment=environment)
