"""The work on one model, in a process for it: converts, verifies, checks and quantizes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast, final

from litefuse.errors import EngineCrashError, LimitError, LitefuseError, ModelCrashError
from litefuse.support.processes.limits import tells_of_no_memory
from litefuse.tools.batch_runs.entry import Entry
from litefuse.tools.batch_runs.outcome import Outcome, Status, StepOutcome

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetReport
    from litefuse.conversion.verify.verification import Verification
    from litefuse.support.result import ConversionResult

#: The function to run in a process.
TASK = "litefuse.tools.batch_runs.task:run_task"

# How often a process looks whether that which started it is alive, in seconds.
_LOOK = 1.0

_loaded: set[str] = set()


@dataclass(frozen=True)
class Task:
    """The work on a model.

    Attributes:
        entry: The model, and what is to be done with it.
        output: The folder, or the URL, to write files to.
    """

    entry: Entry
    output: str


@final
class FinishedStep(str):
    """The announcement of a step that is finished: its name.

    Attributes:
        outcome: What became of it.
    """

    __slots__ = ("outcome",)

    outcome: StepOutcome

    def __new__(cls, outcome: StepOutcome) -> FinishedStep:
        self = super().__new__(cls, outcome.step)
        self.outcome = outcome
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FinishedStep, (self.outcome,)


def run_task(task: Task, announce: Callable[[str], None]) -> Outcome:
    """Does the work on a model; its errors are outcomes.

    Args:
        task: The work.
        announce: Called with the name of each step at its start, and with a :class:`FinishedStep` at its end.
    """
    _end_with_starter()
    return _Work(task, announce).run()


class _Work:
    """The work on one model, step by step."""

    def __init__(self, task: Task, announce: Callable[[str], None]) -> None:
        self._entry = task.entry
        self._output = task.output
        self._announce = announce
        self._steps: list[StepOutcome] = []
        self._files: dict[str, tuple[str, int]] = {}
        self._report: dict[str, Any] = {}

    def run(self) -> Outcome:
        entry = self._entry
        converted = self._step("convert", self._convert)
        if converted is not None:
            result = cast("ConversionResult", converted)
            if entry.verify is not None:
                self._step("verify", lambda: self._verify(result, entry.verify or {}))
            for target in (entry.check or {}).get("targets", ()):
                self._step(f"check {target}", lambda target=target: self._check(result, target))
            for variant in entry.variants:
                work = partial(self._quantize, result, variant.name, variant.options)
                self._step(f"quantize {variant.name}", work)
        return Outcome(entry.name, entry.path, tuple(self._steps), self._files, report=self._report)

    def _step(self, step: str, work: Callable[[], tuple[Status, str, Mapping[str, Any], object]]) -> object:
        """Does a step; returns what it made, or None if it failed."""
        self._announce(step)
        started = time.perf_counter()
        made: object = None
        try:
            status, message, facts, made = work()
            outcome = StepOutcome(step, status, message=message, facts=facts)
        except LitefuseError as error:
            outcome = step_outcome(step, error)
        seconds = time.perf_counter() - started
        outcome = StepOutcome(step, outcome.status, seconds, outcome.message, outcome.facts)
        self._steps.append(outcome)
        self._announce(FinishedStep(outcome))
        return made

    def _convert(self) -> tuple[Status, str, Mapping[str, Any], object]:
        from litefuse.conversion.api import convert
        from litefuse.litert.runtime.loading import load_kernels, name_plug_ins

        name_plug_ins(self._entry.plug_ins)
        for plug_in in self._entry.plug_ins:
            if plug_in not in _loaded:
                load_kernels([plug_in])
                _loaded.add(plug_in)
        result = convert(self._entry.path, **self._entry.convert)
        self._save(result, f"{self._entry.name}.tflite")
        self._report = result.report.to_json()
        fused = sum(composite.outcome == "fused" for composite in result.report.composites)
        facts = {
            "bytes": result.report.size,
            "source_bytes": result.report.source_size,
            "ops": sum(result.report.op_counts.values()),
            "composites": len(result.report.composites),
            "fused": fused,
        }
        return "done", "", facts, result

    def _verify(
        self, result: ConversionResult, given: Mapping[str, Any]
    ) -> tuple[Status, str, Mapping[str, Any], object]:
        from litefuse.conversion.verify.against_original import verify_model

        options = dict(given)
        original = options.pop("original", self._entry.path)
        verification: Verification = verify_model(result, original, **options)
        status: dict[str, Status] = {"equal": "done", "differs": "differs"}
        worst = max((output.error for output in verification.outputs), default=0.0)
        problem = next(
            (
                output.problem
                for output in verification.outputs
                if output.verdict == verification.verdict and output.problem
            ),
            "",
        )
        message = "" if verification.verdict == "equal" else problem or f"the largest error is {worst:.3g}"
        facts = {
            "verdict": verification.verdict,
            "error": worst if worst != float("inf") else None,
            "calls": verification.calls,
        }
        return status.get(verification.verdict, "inconclusive"), message, facts, verification

    def _check(self, result: ConversionResult, target: str) -> tuple[Status, str, Mapping[str, Any], object]:
        from litefuse.conversion.verify.targets.check import check

        options = dict(self._entry.check or {})
        required = options.pop("require_accelerated", False)
        options["targets"] = [target]
        checked = check(result, **options)
        report = checked.reports[0]
        statuses: dict[str, Status] = {"accelerated": "done", "partly": "done", "differs": "differs"}
        status = statuses.get(report.verdict, "refused" if report.verdict == "refused" else "inconclusive")
        if report.table and status == "done":
            status = "inconclusive"
        if required and report.refused and status != "differs":
            status = "refused"
        return status, "" if status == "done" else _reason(report), {"verdict": report.verdict}, report

    def _quantize(
        self, result: ConversionResult, name: str, options: Mapping[str, Any]
    ) -> tuple[Status, str, Mapping[str, Any], object]:
        from litefuse.conversion.api import quantize

        made = quantize(result, **options)
        self._save(made, f"{self._entry.name}.{name}.tflite")
        return "done", "", {"bytes": made.report.size}, made

    def _save(self, result: ConversionResult, name: str) -> None:
        from litefuse.tools.batch_runs.records import digest_of, place_in

        result.save(place_in(self._output, name))
        self._files[name] = (digest_of(result.path), result.path.stat().st_size)


def _reason(report: TargetReport) -> str:
    if report.missing:
        return report.missing
    refused = [f"{ops.op}: {ops.reason}" if ops.op else ops.reason for ops in report.refused]
    return "; ".join(refused) or report.not_compared or f"the largest error is {report.error:.3g}"


def step_outcome(step: str, error: LitefuseError) -> StepOutcome:
    """Returns the outcome of a step that ended with an error."""
    status: Status = "failed"
    if isinstance(error, LimitError) and error.limit in {"timeout", "memory"}:
        status = "timeout" if error.limit == "timeout" else "memory"
    elif tells_of_no_memory(error.message):
        status = "memory"
    elif isinstance(error, EngineCrashError | ModelCrashError) or isinstance(error.__cause__, EngineCrashError):
        status = "crashed"
    return StepOutcome(step, status, message=str(error))


def _end_with_starter() -> None:
    """Ends this process, with all that it started, when that which started it is gone, even if it was killed."""
    if sys.platform == "win32":  # it ends when nobody holds the pipes to it, after its task
        return
    starter = os.getppid()
    if os.getpgid(0) != os.getpid() or any(thread.name == "end-with-starter" for thread in threading.enumerate()):
        return

    def look() -> None:
        while os.getppid() == starter:
            time.sleep(_LOOK)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=look, name="end-with-starter", daemon=True).start()
