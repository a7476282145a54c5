"""Progress in a notebook.

The output is replaced by way of its display id, a part of Jupyter's messages. The bars of rich and of tqdm need
ipywidgets in the kernel and an extension in the browser; without these, they warn, and print line after line.
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from litefuse.support.progress.stages import Snapshot, Tracker
from litefuse.support.report.html import escaped

# The least time between two updates, in seconds: each is a message to the browser.
_INTERVAL = 0.2

_MARKS = {"running": "▸", "done": "✓", "failed": "✗"}
_COLORS = {"running": "inherit", "done": "#2a7d2a", "failed": "#c62828"}


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook. IPython is not imported for that: where it is not, there is none."""
    module = sys.modules.get("IPython")
    if module is None:
        return False
    shell = getattr(module, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookProgress:
    """Shows the stages in the output of a cell, where they stay.

    Args:
        title: The description of the work.
        tracker: The work.
    """

    def __init__(self, title: str, tracker: Tracker) -> None:
        self._title = title
        self._tracker = tracker
        self._last = time.monotonic()
        display: Any = importlib.import_module("IPython.display").display
        self._handle: Any = display(self._shown(), display_id=True)

    def update(self, *, is_new_stage: bool) -> None:
        """Shows the current state, but not too often."""
        now = time.monotonic()
        if is_new_stage or now - self._last >= _INTERVAL:
            self._last = now
            self._handle.update(self._shown())

    def close(self) -> None:
        """Shows the final state."""
        self._handle.update(self._shown())

    def _shown(self) -> _Shown:
        return _Shown(self._title, self._tracker.snapshot())


class _Shown:
    """The state of the work, for a notebook to display."""

    def __init__(self, title: str, snapshot: Snapshot) -> None:
        self._title = title
        self._snapshot = snapshot

    def __repr__(self) -> str:
        current = self._snapshot.stages[-1].name if self._snapshot.stages else ""
        return f"{self._title}: {current}, {self._snapshot.seconds:.1f} s"

    def _repr_html_(self) -> str:
        snapshot = self._snapshot
        lines = [f"<b>{escaped(self._title)}</b> {snapshot.seconds:.1f} s"]
        for name, seconds, state in snapshot.stages:
            line = f'<span style="color:{_COLORS[state]}">{_MARKS[state]}</span> {escaped(name)} {seconds:.1f} s'
            if state == "running":
                bar = f' <progress value="{snapshot.done}" max="{snapshot.total}"></progress>' if snapshot.total else ""
                line += f"{bar} <small>{escaped(snapshot.detail)}</small>"
            lines.append(line)
        return f'<div style="line-height:1.4">{"<br>".join(lines)}</div>'
