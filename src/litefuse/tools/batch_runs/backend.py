"""Where tasks are done: in processes on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from litefuse.tools.batch_runs.outcome import Outcome
from litefuse.tools.batch_runs.records import versions_here
from litefuse.tools.batch_runs.runner import Runner
from litefuse.tools.batch_runs.task import Task


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
