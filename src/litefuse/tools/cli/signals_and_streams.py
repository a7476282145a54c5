"""The process of a command: signals that end it, and standard streams that are open and take all text."""

from __future__ import annotations

import codecs
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_SURROGATES, _ESCAPED = "surrogateescape", "litefuse.escaped"
# The signals that end a command, which cleans up before: that of a closed terminal too, which Windows lacks.
_ENDING = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
_SIGPIPE = 13  # the number of the signal; Windows has none


class Interrupted(SystemExit):
    """The end of a command by a signal.

    Attributes:
        signal: The name of the signal.
        number: The exit code.
    """

    def __init__(self, number: int, name: str) -> None:
        super().__init__(128 + number)
        self.signal = name
        self.number = 128 + number

    def tell(self) -> None:
        """Says it on the standard error, except to who pressed Ctrl-C."""
        if self.signal != "SIGINT":
            with contextlib.suppress(OSError, ValueError):  # the terminal is gone
                print(f"error: it was interrupted by {self.signal}", file=sys.stderr, flush=True)


def handle_signals() -> None:
    """Has signals raise :class:`Interrupted`.

    The default handlers would print a traceback, or end only this process while the child process continues.
    """
    for number in _ENDING:
        default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        if signal.getsignal(number) is default:  # a shell may have set it to be ignored
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of signal handlers
    raise Interrupted(number, signal.Signals(number).name)


def open_standard_streams() -> None:
    """Opens closed standard streams, before a file or a pipe gets their descriptors, and has the others take all text.

    Reading a closed one finds the end of the file; writing fails, as it does for a closed stream.
    """
    codecs.register_error(_ESCAPED, _escaped)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDONLY)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115
        # A file or a pipe may have an encoding that lacks characters of names: on Windows, the one of its language.
        elif number and (stream := getattr(sys, name)).errors in {"strict", _SURROGATES}:
            stream.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encodes what an encoding lacks: the bytes of names that are not text as they are, characters by their numbers."""
    try:
        return codecs.lookup_error(_SURROGATES)(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def give_up_output(error: OSError) -> None:
    """Ends the command because its output cannot be written; pending output must not fail once more."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    if isinstance(error, BrokenPipeError):  # the reader, such as head, is done
        sys.exit(128 + _SIGPIPE)
    with contextlib.suppress(OSError):
        print(f"error: the output cannot be written: {error.strerror or error}", file=sys.stderr, flush=True)
        sys.exit(1)
    os.dup2(null, 2)
    sys.exit(1)
