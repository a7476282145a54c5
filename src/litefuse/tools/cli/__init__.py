"""The command line interface ``litefuse``."""

from __future__ import annotations

import contextlib
import signal
import sys

from litefuse.errors import LitefuseError
from litefuse.tools.cli.signals_and_streams import Interrupted, give_up_output, handle_signals, open_standard_streams
from litefuse.version import __version__


def main() -> None:
    """Runs the command.

    The exit code is 0 for success, 1 for an error, 2 for wrong usage, 130, 143 or 129 when interrupted, and 141 when
    the output pipe was closed.
    """
    try:
        handle_signals()
        open_standard_streams()
        _run(sys.argv[1:])
    except OSError as error:
        give_up_output(error)
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
            give_up_output(error)


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
    from litefuse.tools.documents.document import Failure

    try:
        JsonOutput().print(Failure("Interrupted", f"it was interrupted by {error.signal}"), error.number, digests=False)
    except OSError as failed:
        give_up_output(failed)


# The module that the child process of a command runs.
_MODULES = {
    "convert": "litefuse.conversion.run",
    "quantize": "litefuse.conversion.quantization_step",
    "run": "litefuse.tools.cli.execution",
    "verify": "litefuse.conversion.verify.model_process",
}
# Those that share the process of conversions.
_CONVERTING = frozenset({"convert", "quantize"})


def _prepare(arguments: list[str]) -> None:
    """Starts the child process of a command, which imports its modules while this process imports the commands."""
    command = arguments[0] if arguments else ""
    # Plug-ins may change the import path; a process with a memory limit is started differently.
    elsewhere = ("-h", "--help", "--memory", "--in-process", "--kernels", "--plug-in")
    options = elsewhere if command in _CONVERTING else elsewhere[:3]
    if command not in _MODULES or any(argument.startswith(options) for argument in arguments):
        return
    if command not in _CONVERTING and "--json" in arguments:  # kernels print to the standard error then
        return
    from litefuse.support.processes.process import prepare_model_process, prepare_worker

    with contextlib.suppress(LitefuseError):  # the command reports what is wrong
        (prepare_worker if command in _CONVERTING else prepare_model_process)(_MODULES[command])
