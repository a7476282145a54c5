"""The command ``litefuse``."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from litefuse import LitefuseError, __version__

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
        _prepare_conversion(sys.argv[1:])
        from litefuse.cli.app import app

        app(prog_name="litefuse")
    except KeyboardInterrupt:  # before there is an app
        sys.exit(130)
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_conversion(arguments: list[str]) -> None:
    """Starts the process of a conversion, which loads the engine while this one loads the commands."""
    elsewhere = ("-h", "--help", "--in-process", "--kernels", "--plug-in")  # plug-ins may come with paths of their own
    if arguments[:1] != ["convert"] or any(each.startswith(elsewhere) for each in arguments):
        return
    from litefuse.processes.process import prepare_worker

    with contextlib.suppress(LitefuseError):  # the command says what is wrong
        prepare_worker("litefuse.conversion")


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  what Python calls it with
    sys.exit(128 + number)
