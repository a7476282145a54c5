"""The command ``litefuse``."""

from __future__ import annotations

import os
import sys

from litefuse import __version__

__all__ = ["main"]


def main() -> None:
    """Runs the command: exit code 0 for success, 1 for an error, 2 for wrong usage, 130 when interrupted."""
    try:
        if sys.argv[1:] == ["--version"]:  # what scripts ask; click alone takes longer than the answer
            print(f"litefuse {__version__}")
            return
        from litefuse.cli.app import app

        app(prog_name="litefuse")
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
