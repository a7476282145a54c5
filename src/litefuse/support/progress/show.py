"""Shows the progress of work where it runs: in a terminal, in a notebook, as lines, or as events."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from litefuse.support.logs.events import DEBUG, ERROR, INFO, event, is_heard
from litefuse.support.progress.stages import Tracker
from litefuse.support.report.printable import one_line


class _Display(Protocol):
    def update(self, *, is_new_stage: bool) -> None: ...

    def close(self) -> None: ...


@contextmanager
def shown_progress(
    title: str,
    *,
    show: bool = True,
    patience: float = 0.0,
    also: Callable[[str], None] | None = None,
) -> Generator[Callable[[str], None]]:
    """Shows work stage by stage: on standard error, or in the output of a notebook's cell.

    In a terminal, the stages are redrawn, with the time that each takes and a bar where it is known how much there is
    to do, and they go at the end. Where standard error is not a terminal, each stage is a line.

    Args:
        title: The description of the work.
        show: Whether to show anything.
        patience: In a terminal, the seconds before anything is shown.
        also: Called with each step.

    Yields:
        The function to call with each step.
    """
    with stages_logged(title, also) as logged, _shown(title, show, patience, logged) as on_step:
        yield on_step


@contextmanager
def _shown(
    title: str, show: bool, patience: float, also: Callable[[str], None] | None
) -> Generator[Callable[[str], None]]:
    if not show:
        yield also or _ignore
        return
    tracker = Tracker()
    display = _display(title, tracker, patience)

    def on_step(step: str) -> None:
        display.update(is_new_stage=tracker.step(step))
        if also is not None:
            also(step)

    try:
        yield on_step
    except BaseException:
        tracker.end(failed=True)
        raise
    else:
        tracker.end(failed=False)
    finally:
        display.close()


def _ignore(_: str) -> None:
    pass


def _display(title: str, tracker: Tracker, patience: float) -> _Display:
    from litefuse.support.progress.notebook import NotebookProgress, in_notebook

    if in_notebook():
        return NotebookProgress(title, tracker)
    if sys.stderr is not None and sys.stderr.isatty():
        from litefuse.support.progress.terminal import TerminalProgress

        return TerminalProgress(title, tracker, patience)
    return _Lines(title, tracker)


class _Lines:
    """A line for each stage when it begins."""

    def __init__(self, title: str, tracker: Tracker) -> None:
        self._title = title
        self._tracker = tracker

    def update(self, *, is_new_stage: bool) -> None:
        if is_new_stage and sys.stderr is not None:
            snapshot = self._tracker.snapshot()
            text = f"{one_line(self._title)}: {snapshot.stages[-1].name}, after {snapshot.seconds:.1f} s\n"
            sys.stderr.write(text)  # as a whole: what runs in other processes may print, too
            sys.stderr.flush()

    def close(self) -> None:
        pass


_ROOM = "progress"
_within: ContextVar[bool] = ContextVar("within_logged_work", default=False)


@contextmanager
def stages_logged(title: str, also: Callable[[str], None] | None) -> Generator[Callable[[str], None] | None]:
    """Logs the beginning and the end of work and of its stages, with their seconds; not of work within work.

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
