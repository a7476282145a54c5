"""The stages of work as events."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from litefuse.support.logs.events import DEBUG, ERROR, INFO, event, is_heard
from litefuse.support.progress.tracker import Tracker

_ROOM = "progress"
_within: ContextVar[bool] = ContextVar("within_logged_work", default=False)


@contextmanager
def stages_logged(title: str, also: Callable[[str], None] | None) -> Generator[Callable[[str], None] | None]:
    """Logs the beginning and the end of work and of its stages, with their seconds; not of work within work.

    Args:
        title: The description of the work.
        also: Called with each step.

    Yields:
        The function to call with each step: ``also`` if nobody listens.
    """
    if _within.get() or not is_heard(INFO):
        yield also
        return
    tracker = Tracker()
    begun = time.perf_counter()
    event(_ROOM, INFO, title, event="work began", work=title)

    def on_step(step: str) -> None:
        if tracker.step(step):
            stage = tracker.snapshot().stages[-1].name
            event(_ROOM, INFO, stage, event="stage began", work=title, stage=stage)
        if step:
            event(_ROOM, DEBUG, f"step {step}", event="step began", work=title, step=str(step))
        if also is not None:
            also(step)

    token = _within.set(True)
    error: BaseException | None = None
    try:
        yield on_step
    except BaseException as raised:
        error = raised
        raise
    finally:
        _within.reset(token)
        tracker.end(failed=error is not None)
        for name, seconds, _ in tracker.snapshot().stages:
            message = f"{name}: {seconds:.3f} s"
            event(_ROOM, INFO, message, event="stage done", work=title, stage=name, seconds=seconds)
        seconds = time.perf_counter() - begun
        if error is None:
            event(_ROOM, INFO, f"{title}: done in {seconds:.3f} s", event="work done", work=title, seconds=seconds)
        else:
            kind = type(error).__name__
            message = f"{title}: failed after {seconds:.3f} s: {error or kind}"
            event(_ROOM, ERROR, message, event="work failed", work=title, seconds=seconds, error=kind, told=True)
