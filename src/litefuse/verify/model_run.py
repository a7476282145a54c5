"""Runs a LiteRT model in a process of its own, for a verification."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from litefuse.cpp.sanitized import is_sanitized, sanitizer_environment
from litefuse.processes.process import run_model
from litefuse.verify.model_process import MODEL, ModelCalls, ModelJob

__all__ = ["run_job"]


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
    libraries = [each for each in (*job.custom_ops, *job.kernel_modules) if isinstance(each, str)]
    environment = sanitizer_environment() if any(map(is_sanitized, libraries)) else None
    return cast("ModelCalls", run_model(MODEL, job, where, announce, environment=environment))
