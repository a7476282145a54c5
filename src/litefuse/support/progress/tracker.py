"""The stages of work in progress and the time that each takes, from its steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from litefuse.support.progress.stages import Step, detail_of, stage_of


class StageTime(NamedTuple):
    """A stage and its time.

    Attributes:
        name: The stage.
        seconds: The time that it has taken.
        state: Whether work is in it, or in another one, or failed in it.
    """

    name: str
    seconds: float
    state: str


class Snapshot(NamedTuple):
    """The state of the work at one time.

    Attributes:
        stages: The stages so far, in the order in which they began.
        seconds: The time since the start.
        detail: What the current stage is at; may be empty.
        done: How much of it is done.
        total: How much there is; 0 if that is not known.
    """

    stages: tuple[StageTime, ...]
    seconds: float
    detail: str
    done: int
    total: int


class Tracker:
    """Follows work by its steps. It may be read in another thread.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._since = clock()
        self._seconds: dict[str, float] = {}
        self._stage = ""
        self._step: Step = Step("")
        self._state = "running"
        self._ended: float | None = None
        self._lock = threading.Lock()

    def step(self, text: str) -> bool:
        """Takes note of a step; returns whether a stage begins that was not there before."""
        with self._lock:
            self._step = text if isinstance(text, Step) else Step(text)
            stage = stage_of(text)
            if stage is None or stage == self._stage:
                return False
            self._count()
            self._stage = stage
            is_new = stage not in self._seconds
            self._seconds.setdefault(stage, 0.0)
            return is_new

    def end(self, *, failed: bool) -> None:
        with self._lock:
            self._count()
            self._ended = self._clock()
            self._state = "failed" if failed else "done"

    def _count(self) -> None:
        if self._stage:  # what is before the first step counts as its stage, such as the start of a process
            now = self._clock()
            self._seconds[self._stage] += now - self._since
            self._since = now

    def snapshot(self) -> Snapshot:
        """Returns the state of the work."""
        with self._lock:
            now = self._clock() if self._ended is None else self._ended
            stages = tuple(
                StageTime(name, seconds + (now - self._since if self._ended is None else 0.0), self._state)
                if name == self._stage
                else StageTime(name, seconds, "done")
                for name, seconds in self._seconds.items()
            )
            step = self._step
            return Snapshot(stages, now - self._begun, detail_of(step), step.done, step.total)
