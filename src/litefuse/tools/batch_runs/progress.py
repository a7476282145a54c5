"""How far a batch is: a bar on terminals, a line for each model elsewhere."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from litefuse.support.report.printable import one_line
from litefuse.tools.batch_runs.outcome import Outcome

# The first models that are worked on are named beside the bar.
_NAMED = 2
_WIDTH = 30


class Progress:
    """Shows nothing."""

    def finished(self, outcome: Outcome) -> None:
        """Shows what became of a model."""

    @contextmanager
    def working(self, name: str) -> Generator[Callable[[str], None]]:  # noqa: ARG002  subclasses show it
        """Shows that a model is worked on; provides the function to call with its steps."""
        yield lambda _: None


class _Lines(Progress):
    """A line for each model, on standard error."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._count = 0

    def finished(self, outcome: Outcome) -> None:
        self._count += 1
        width = len(str(self._total))
        print(f"[{self._count:{width}}/{self._total}] {line_of(outcome)}", file=sys.stderr, flush=True)


class _Bar(Progress):
    """A bar, the models that are worked on, and a line for each that is not done."""

    def __init__(self, total: int, place: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[now]}", markup=False),
        )
        self.bar: Any = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self.bar.add_task("", total=total, now=f"on {place}")
        self._counts: Counter[str] = Counter()
        self._working: dict[str, str] = {}
        self._lock = threading.Lock()

    def finished(self, outcome: Outcome) -> None:
        from rich.text import Text

        self._counts[outcome.status] += 1
        if outcome.status != "done":
            self.bar.console.print(Text(line_of(outcome)))
        self.bar.advance(self._task)
        self._show()

    @contextmanager
    def working(self, name: str) -> Generator[Callable[[str], None]]:
        def announce(step: str) -> None:
            with self._lock:
                self._working[name] = step
            self._show()

        announce("start")
        try:
            yield announce
        finally:
            with self._lock:
                self._working.pop(name, None)

    def _show(self) -> None:
        from litefuse.support.report.printable import shortened

        with self._lock:
            now = [f"{shortened(one_line(name), _WIDTH)}: {step}" for name, step in [*self._working.items()][:_NAMED]]
            others = sum(count for status, count in self._counts.items() if status != "done")
        self.bar.update(self._task, now=", ".join([*([f"{others} not done"] if others else []), *now]))


def line_of(outcome: Outcome) -> str:
    """Returns a line that says what became of a model."""
    how = "already done" if not outcome.attempts and outcome.status == "done" else outcome.status
    message = outcome.message.partition("\n")[0]
    took = f", {outcome.seconds:.1f} s" if outcome.attempts else ""
    return one_line(f"{outcome.name}: {how}{took}{f' ({message})' if message else ''}")


@contextmanager
def shown_batch(total: int, place: str, *, show: bool) -> Generator[Progress]:
    """Shows how far a batch is, on standard error.

    Args:
        total: How many models there are.
        place: Where they are worked on.
        show: Whether to show anything.
    """
    if not show:
        yield Progress()
    elif not sys.stderr.isatty():
        yield _Lines(total)
    else:
        display = _Bar(total, place)
        with display.bar:
            yield display
