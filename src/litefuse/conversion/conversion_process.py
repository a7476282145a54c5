"""Runs a conversion in its process or in this one, and checks the file that it wrote."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.pipeline.steps import SELF_CHECK
from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.support.logs.events import INFO, WARNING, event, is_heard
from litefuse.support.processes.limits import process_limits
from litefuse.support.processes.process import run_in_worker

if TYPE_CHECKING:
    from litefuse.support.report import Report

_JOB_RUNNER = "litefuse.conversion.run:run_job"


def convert_here(job: ConversionJob, on_step: Callable[[str], None]) -> Report:
    """Runs a conversion in this process.

    Raises:
        LitefuseError: TensorFlow is loaded in it.
    """
    if "tensorflow" in sys.modules:
        raise LitefuseError(
            "TensorFlow is loaded in this process, and the lowering engine cannot be loaded beside it",
            hint="Leave out in_process=True.",
        )
    from litefuse.conversion.run import run_conversion

    return run_conversion(job, on_step)


def convert_in_worker(job: ConversionJob, on_step: Callable[[str], None]) -> Report:
    """Runs a conversion in the process that is kept for it.

    Raises:
        LitefuseError: What the conversion raises, or that the disk has no room for the file.
        EngineCrashError: The process died; the module that it worked on is saved for a bug report.
    """
    begun = time.perf_counter()
    started: list[float] = []

    def announce(step: str) -> None:
        if not started:
            started.append(time.perf_counter() - begun)
        on_step(step)

    try:
        report = run_in_worker(_JOB_RUNNER, job, announce)
    except EngineCrashError as error:
        step, _, kernel = error.step.partition(": ")
        if step == SELF_CHECK and kernel and kernel not in job.fatal_kernels:
            fatal = {**job.fatal_kernels, kernel: error.death}
            return convert_in_worker(replace(job, fatal_kernels=fatal), on_step)
        if (full := os.strerror(errno.ENOSPC)) in error.message:  # the engine crashes in this case
            raise LitefuseError(
                f"the model cannot be written: {full.lower()}", where=str(job.output.parent), hint="Make room there."
            ) from None
        if process_limits().memory is not None:  # the limit may be the reason for the crash
            raise
        error.module_path = _save_module(job, error.step)
        if error.module_path is not None:
            error.hint = f"Please report it, with the module that it worked on: {error.module_path}"
            if step == SELF_CHECK:
                error.hint = f"A kernel of yours may be at fault: litefuse kernels test runs it alone. {error.hint}"
        raise
    return replace(report, timings={"start": started[0], **report.timings})


def with_file_check(report: Report, job: ConversionJob, on_step: Callable[[str], None]) -> Report:
    """Checks the written file, if it is to be, and returns the report with the result."""
    if not job.options.checks.file:
        return report
    from litefuse.conversion.verify.file_check import CHECK_FILE, FileCheckJob, check_in_worker
    from litefuse.support.report import FileCheckReport

    begun = time.perf_counter()
    check = FileCheckJob(job.output, job.kernels, job.plug_ins)
    if job.options.debug.in_process:
        from litefuse.conversion.verify.written_file import check_job

        called = check_job(check, on_step)
    else:
        called = check_in_worker(check, str(job.source), on_step)
    file_check = FileCheckReport(called.problem is None, called.problem, dict(called.seconds))
    timings = {**report.timings, CHECK_FILE: time.perf_counter() - begun}
    return replace(report, timings=timings, file_check=file_check)


def log_report(report: Report) -> None:
    """Logs the end of a conversion, and what users have to know of it."""
    if not is_heard(WARNING):
        return
    from litefuse.support.report.caveats import caveats

    model = report.source
    message = f"{model} became a file of {report.size:,} bytes"
    event("api", INFO, message, event="converted", model=model, size=report.size)
    for caveat in caveats(report, details=True):
        event("api", WARNING, f"{caveat.name}: {caveat.text}", event="caveat", model=model, told=True)


def _save_module(job: ConversionJob, step: str) -> str | None:
    """Repeats a conversion up to the step that killed it, and saves the module there."""
    try:
        path = Path(tempfile.mkdtemp(prefix="litefuse-crash-"), "module.mlirbc")
    except OSError:
        return None  # the crash is reported without the module
    try:
        # The steps over samples say how many are done behind their name.
        options = replace(job.options, debug=None)
        again = replace(job, output=path, options=options, save_module_before=step.partition(":")[0])
        run_in_worker(_JOB_RUNNER, again)
    except LitefuseError:
        shutil.rmtree(path.parent)
        return None
    if path.exists():
        return str(path)
    shutil.rmtree(path.parent)
    return None
