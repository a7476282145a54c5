"""What commands print, and how: for people on a terminal, plain elsewhere."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from litefuse.report.sections import Section

__all__ = ["print_json", "print_sections", "progress"]

# Work that is done sooner needs no progress.
_PATIENCE = 1.0


def print_json(value: Any) -> None:
    """Prints a value of dictionaries and lists as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_sections(sections: Iterable[Section]) -> None:
    """Prints the sections of a report: in colour on a terminal, as plain text elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console

        from litefuse.report.console import sections_renderable

        Console().print(sections_renderable(sections))
    else:
        from litefuse.report.text import sections_text

        typer.echo(sections_text(sections))


@contextmanager
def progress(title: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Shows on the standard error, if that is a terminal, what step work is in that takes longer than a second.

    Args:
        title: What is being done.
        quiet: Whether to show nothing.

    Yields:
        The function to call with each step.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    status = Console(stderr=True).status(escape(title))
    lock = threading.Lock()
    finished = False

    def start() -> None:
        with lock:
            if not finished:
                status.start()

    timer = threading.Timer(_PATIENCE, start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda step: status.update(escape(f"{title}: {step}" if step else title))
    finally:
        timer.cancel()
        with lock:
            finished = True
            status.stop()
