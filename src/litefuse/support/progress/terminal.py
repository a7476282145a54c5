"""Progress in a terminal."""

from __future__ import annotations

import sys
import threading

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from litefuse.support.progress.stages import PRINTING, Snapshot, Tracker
from litefuse.support.report.printable import one_line

_BAR = 20


class TerminalProgress:
    """Shows the stages on standard error, and removes them at the end.

    Args:
        title: The description of the work.
        tracker: The work.
        patience: The seconds before it is shown: short work shows nothing.
    """

    def __init__(self, title: str, tracker: Tracker, patience: float) -> None:
        self._live = Live(
            _Stages(title, tracker),
            console=Console(stderr=True),
            refresh_per_second=8,
            transient=True,
            # What is printed in the meantime goes above, unless it goes elsewhere.
            redirect_stdout=sys.stdout.isatty(),
        )
        self._lock = threading.Lock()
        self._finished = False
        self._timer = threading.Timer(patience, self._start)
        self._timer.daemon = True
        self._timer.start()

    def _start(self) -> None:
        with self._lock:
            if not self._finished:
                self._live.start()

    def update(self, *, is_new_stage: bool) -> None:
        """Draws a new stage at once; the rest is drawn several times a second."""
        if is_new_stage and self._live.is_started:
            self._live.refresh()

    def close(self) -> None:
        """Removes what is shown."""
        self._timer.cancel()
        with self._lock:
            self._finished = True
            self._live.stop()


class _Stages:
    """The title and a line for each stage.

    All is in one line in a stage whose processes print to the terminal, too: that moves what is shown, and more lines
    than one would stay.
    """

    def __init__(self, title: str, tracker: Tracker) -> None:
        self._title = title
        self._tracker = tracker
        self._in_one_line = False
        self._spinner = Spinner("dots", style="cyan")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        snapshot = self._tracker.snapshot()
        title = Text(one_line(self._title), style="bold", no_wrap=True, overflow="ellipsis")
        time = Text(_clock(snapshot.seconds), style="dim")
        running = [stage.name for stage in snapshot.stages if stage.state == "running"]
        if running:  # at the end, it is drawn as it was
            self._in_one_line = running[0] in PRINTING
        if self._in_one_line:
            title.truncate(max(options.max_width // 2, 1), overflow="ellipsis")
            what = Text(", ".join(filter(None, (*running, one_line(snapshot.detail)))), style="dim")
            line = Text("  ", no_wrap=True, overflow="ellipsis").join([title, time, what])
            line.truncate(options.max_width - 3, overflow="ellipsis")
            line.append("  ")  # before what others print there
            yield line
            return
        heading = Table.grid(padding=(0, 2))
        heading.add_row(title, time)
        yield heading
        yield self._table(snapshot, console, options)

    def _table(self, snapshot: Snapshot, console: Console, options: ConsoleOptions) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "left", "right", "left", "left"):
            table.add_column(no_wrap=True, justify=justify, overflow="ellipsis")
        done = Text("-" if options.ascii_only else "✓", style="green")
        running = Text(">") if options.ascii_only else self._spinner.render(console.get_time())
        for name, seconds, state in snapshot.stages:
            if state != "running":
                table.add_row(done, name, f"{seconds:.1f} s")
                continue
            bar = ProgressBar(snapshot.total, snapshot.done, width=_BAR) if snapshot.total else ""
            table.add_row(running, name, f"{seconds:.1f} s", bar, Text(one_line(snapshot.detail), style="dim"))
        return table


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
