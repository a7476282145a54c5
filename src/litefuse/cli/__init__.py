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
        _prepare(sys.argv[1:])
        from litefuse.cli.app import app

        app(prog_name="litefuse")
    except KeyboardInterrupt:  # before there is an app
        sys.exit(130)
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What works for a command.
_MODULES = {
    "convert": "litefuse.conversion",
    "run": "litefuse.cli.execution",
    "verify": "litefuse.verify.model_process",
}


def _prepare(arguments: list[str]) -> None:
    """Starts the process that works for a command; it loads what it needs while this one loads the commands."""
    command = arguments[0] if arguments else ""
    elsewhere = ("-h", "--help", "--in-process", "--kernels", "--plug-in")  # plug-ins may come with paths of their own
    options = elsewhere[:2] if command != "convert" else elsewhere
    if command not in _MODULES or any(each.startswith(options) for each in arguments):
        return
    from litefuse.processes.process import prepare_model_process, prepare_worker

    with contextlib.suppress(LitefuseError):  # the command says what is wrong
        (prepare_worker if command == "convert" else prepare_model_process)(_MODULES[command])


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  what Python calls it with
    sys.exit(128 + number)
