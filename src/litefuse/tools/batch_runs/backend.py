"""Where tasks are done: in processes on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from litefuse.errors import LitefuseError
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.support.processes.process import Worker
from litefuse.tools.batch_runs.outcome import Outcome, Status, StepOutcome
from litefuse.tools.batch_runs.records import versions_here
from litefuse.tools.batch_runs.task import TASK, FinishedStep, Task, step_outcome


class Backend(Protocol):
    """Where tasks are done.

    Attributes:
        jobs: How many at once.
        place: Where, for people.
        versions: The versions there of all that decides what becomes of a model.
    """

    jobs: int
    place: str
    versions: Mapping[str, str | None]

    def run(self, task: Task, announce: Callable[[str], None]) -> Outcome:
        """Does a task; called in several threads at once."""
        ...

    def end(self) -> None:
        """Ends all that runs, at once."""
        ...

    def close(self) -> None:
        """Ends the processes when all tasks are done."""
        ...


class RunnerPool:
    """Runners for the threads of a process: each task gets one that fits, or a new one.

    Args:
        retries: How often a task is tried again whose process died.
    """

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._lock = threading.Lock()
        self._idle: list[Runner] = []
        self._busy: list[Runner] = []
        self._ended = False

    def run(self, task: Task, announce: Callable[[str], None] = lambda _: None) -> Outcome:
        """Does a task in a process of its own."""
        with self._lock:
            if self._ended:
                return Outcome(task.entry.name, task.entry.path, attempts=0)
            runner = next((idle for idle in self._idle if idle.fits(task)), None) or next(iter(self._idle), None)
            if runner is None:
                runner = Runner(self._retries)
            else:
                self._idle.remove(runner)
            self._busy.append(runner)
        try:
            return runner.run(task, announce)
        finally:
            with self._lock:
                self._busy.remove(runner)
                self._idle.append(runner)

    def end(self) -> None:
        """Ends all processes; tasks in them, and those to come, are interrupted."""
        with self._lock:
            self._ended = True
            for runner in (*self._idle, *self._busy):
                runner.end()

    def close(self) -> None:
        """Ends the processes that do nothing."""
        with self._lock:
            for runner in self._idle:
                runner.close()
            self._idle.clear()


class LocalProcesses(RunnerPool):
    """Processes on this machine.

    Args:
        jobs: How many.
        retries: How often a task is tried again whose process died.
        with_tensorflow: Whether models are compared with their originals.
    """

    def __init__(self, jobs: int, retries: int, *, with_tensorflow: bool) -> None:
        super().__init__(retries)
        self.jobs = jobs
        self.versions = versions_here(with_tensorflow=with_tensorflow)
        self.place = "this machine"


# What a process imports when it starts.
_MODULE = "litefuse.tools.batch_runs.task"
# A process that does many tasks keeps some memory of each.
_TASKS = 200
_AGAIN: frozenset[Status] = frozenset({"crashed"})
# After these, what the process and those that it started are like is not known.
_SPOILED: frozenset[Status] = frozenset({"crashed", "memory", "timeout"})


class Runner:
    """A process that does tasks, with its own processes for conversions and for TensorFlow, which stay warm.

    Plug-ins stay loaded, so that a task with others gets a new process.

    Args:
        retries: How often a task is tried again whose process died.
    """

    def __init__(self, retries: int = 1) -> None:
        self._retries = retries
        self._worker: Worker | None = None
        self._kind: tuple[object, ...] = ()
        self._ended = False
        self._lock = threading.Lock()

    def run(self, task: Task, announce: Callable[[str], None] = lambda _: None) -> Outcome:
        """Does a task; its errors, the death of the process and limits are outcomes."""
        attempts = 0
        while True:
            was_used = self._worker is not None
            attempts += 1
            outcome = self._try(task, announce)
            if outcome.status in _SPOILED:
                self._close()
            if self._ended:
                return Outcome(task.entry.name, task.entry.path, attempts=attempts)
            # What others left in the process may be why there was too little memory: that does not count as an attempt.
            if outcome.status == "memory" and was_used:
                attempts -= 1
                continue
            if outcome.status not in _AGAIN or attempts > self._retries:
                return replace(outcome, attempts=attempts)

    def end(self) -> None:
        """Ends the process, with all that it started; a task in it, and those to come, are interrupted."""
        with self._lock:
            self._ended = True
            if self._worker is not None:
                self._worker.kill()

    def close(self) -> None:
        """Ends the process between tasks."""
        self._close()

    def fits(self, task: Task) -> bool:
        """Whether the process has the plug-ins and the limit of a task."""
        return self._worker is None or self._kind == _kind(task)

    def _try(self, task: Task, announce: Callable[[str], None]) -> Outcome:
        steps: list[StepOutcome] = []
        current, begun = "start", time.perf_counter()

        def follow(step: str) -> None:
            nonlocal current, begun
            if isinstance(step, FinishedStep):
                steps.append(step.outcome)
            else:
                current, begun = step, time.perf_counter()
                announce(step)

        try:
            with processes_limited(ProcessLimits(task.entry.timeout, task.entry.memory)):
                outcome = self._ready(task).run(TASK, task, follow)
        except LitefuseError as error:
            ended = replace(step_outcome(current, error), seconds=time.perf_counter() - begun)
            return Outcome(task.entry.name, task.entry.path, (*steps, ended))
        assert isinstance(outcome, Outcome)
        return outcome

    def _ready(self, task: Task) -> Worker:
        if self._worker is not None and (
            not self.fits(task) or self._worker.jobs >= _TASKS or not self._worker.is_usable()
        ):
            self._close()
        with self._lock:
            if self._ended:
                raise LitefuseError("the batch was interrupted")
            if self._worker is None:
                self._worker = Worker(module=_MODULE, group=True)
                self._kind = _kind(task)
            return self._worker

    def _close(self) -> None:
        with self._lock:
            if self._worker is not None:
                self._worker.close()
                self._worker = None


def _kind(task: Task) -> tuple[object, ...]:
    return task.entry.plug_ins, task.entry.memory
