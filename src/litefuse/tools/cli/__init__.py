"""The command line interface ``litefuse``."""

from __future__ import annotations

import codecs
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from litefuse.errors import LitefuseError
from litefuse.version import __version__

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Interrupted", "main"]

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


def main() -> None:
    """Runs the command.

    The exit code is 0 for success, 1 for an error, 2 for wrong usage, 130, 143 or 129 when interrupted, and 141 when
    the output pipe was closed.
    """
    try:
        # The default handlers would print a traceback, or end only this process while the child process continues.
        for number in _ENDING:
            default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            if signal.getsignal(number) is default:  # a shell may have set it to be ignored
                signal.signal(number, _end)
        _open_standard_streams()
        _run(sys.argv[1:])
    except OSError as error:
        _give_up_output(error)
    except Interrupted as error:  # before the command began, which would have told it
        if "--json" in sys.argv[1:]:
            _print_interrupted(error)
        else:
            error.tell()
        raise
    except KeyboardInterrupt:  # before the handler
        sys.exit(130)
    finally:
        # Nothing is left to interrupt, and Python would print a traceback of its own cleanup.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            sys.stdout.flush()
        except OSError as error:
            _give_up_output(error)


def _run(arguments: list[str]) -> None:
    if arguments == ["--version"]:  # for scripts; importing click alone takes longer than this
        print(f"litefuse {__version__}", flush=True)
        return
    _prepare(arguments)
    from litefuse.tools.cli.app import app
    from litefuse.tools.cli.output import OutputError

    try:
        app(prog_name="litefuse")
    except OutputError as error:
        raise error.error from None


def _print_interrupted(error: Interrupted) -> None:
    from litefuse.tools.cli.json_output import JsonOutput
    from litefuse.tools.documents.failure import Failure

    try:
        JsonOutput().print(Failure("Interrupted", f"it was interrupted by {error.signal}"), error.number, digests=False)
    except OSError as failed:
        _give_up_output(failed)


# The module that the child process of a command runs.
_MODULES = {
    "convert": "litefuse.conversion.run",
    "quantize": "litefuse.conversion.quantizing",
    "run": "litefuse.tools.cli.execution",
    "verify": "litefuse.conversion.verify.model_process",
}
# Those that share the process of conversions.
_CONVERTING = frozenset({"convert", "quantize"})


def _prepare(arguments: list[str]) -> None:
    """Starts the child process of a command, which imports its modules while this process imports the commands."""
    command = arguments[0] if arguments else ""
    # Plug-ins may change the import path; a process with a memory limit is started differently.
    elsewhere = ("-h", "--help", "--in-process", "--kernels", "--plug-in", "--memory")
    options = elsewhere if command in _CONVERTING else elsewhere[:2]
    if command not in _MODULES or any(argument.startswith(options) for argument in arguments):
        return
    if command not in _CONVERTING and "--json" in arguments:  # kernels print to the standard error then
        return
    from litefuse.support.processes.process import prepare_model_process, prepare_worker

    with contextlib.suppress(LitefuseError):  # the command reports what is wrong
        (prepare_worker if command in _CONVERTING else prepare_model_process)(_MODULES[command])


def _open_standard_streams() -> None:
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


def _give_up_output(error: OSError) -> None:
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


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of signal handlers
    raise Interrupted(number, signal.Signals(number).name)
