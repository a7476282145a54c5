"""The command ``litefuse``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from litefuse import __version__

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Runs the command: exit code 0 for success, 1 for an error, 2 for wrong usage, 130 or 143 when interrupted."""
    try:
        if sys.argv[1:] == ["--version"]:  # what scripts ask; click alone takes longer than the answer
            print(f"litefuse {__version__}")
            return
        import signal

        # Its default ends this process alone: the one that converts would go on, and its folder stay.
        signal.signal(signal.SIGTERM, _end)
        from litefuse.cli.app import app

        app(prog_name="litefuse")
    except KeyboardInterrupt:  # before there is an app
        sys.exit(130)
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  what Python calls it with
    sys.exit(128 + number)
