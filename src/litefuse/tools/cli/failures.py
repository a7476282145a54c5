"""Failures of commands: exit codes, messages, and documents."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

import click

from litefuse.errors import LitefuseError, NotAcceleratedError
from litefuse.support.cloud.names import with_names
from litefuse.tools.cli.command import value_for_all
from litefuse.tools.cli.json_output import JsonOutput
from litefuse.tools.cli.output import OutputError
from litefuse.tools.cli.signals_and_streams import Interrupted

if TYPE_CHECKING:
    from litefuse.tools.documents.document import Failure


class ExitCode(IntEnum):
    """Exit codes of commands."""

    DONE = 0
    FAILED = 1
    """The command failed, or the compared models differ."""
    USAGE = 2
    INCONCLUSIVE = 3
    """The comparison found no difference, but proves nothing."""
    NOT_COMPARED = 4
    """One of the models to compare cannot be loaded or called."""
    NOT_ACCELERATED = 5
    """A target refuses an op, and was required not to."""
    INTERRUPTED = 130


#: The exit codes of comparisons, by their verdicts.
VERDICT_CODES = {"equal": ExitCode.DONE, "differs": ExitCode.FAILED, "inconclusive": ExitCode.INCONCLUSIVE}

# The commands that compare: an error is not a result of the comparison.
_COMPARING = frozenset({"check", "diff", "verify"})


@contextmanager
def failures(context: click.Context) -> Generator[None]:
    """Makes a message, an exit code and, with ``--json``, a document of each error that a command ends with.

    Args:
        context: The context of the program.
    """
    output = JsonOutput.of(context)
    try:
        with output_errors():
            yield
    except (LitefuseError, MemoryError) as error:
        code = _exit_code(error, context.invoked_subcommand)
        try:
            _print_message(error, debug=bool(value_for_all("debug", context)))
        finally:  # also where the standard error is closed
            if output.is_asked_for:
                _print_document(output, error, code)
        raise click.exceptions.Exit(code) from None
    except click.UsageError as error:
        # Wrong options are found before any of them has its meaning.
        if "--json" in context.obj or output.is_asked_for:
            output.context = output.context or error.ctx
            with output_errors():
                output.print(usage_failure(error), ExitCode.USAGE)
        raise
    except (KeyboardInterrupt, Interrupted) as error:
        code = ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else error.number
        is_asked_for = output.is_asked_for or "--json" in context.obj  # it may be while the command is imported
        if isinstance(error, Interrupted) and not is_asked_for:
            error.tell()
        if is_asked_for:
            _print_document(output, error, code, digests=False)  # who interrupts does not want to wait
        raise click.exceptions.Exit(code) from None
    except SystemExit as error:  # of code that a user gave: it did not do what it was asked for
        code = error.code if isinstance(error.code, int) and error.code else ExitCode.FAILED
        try:
            click.echo(f"error: {_message_of(error)}", err=True)
        finally:
            if output.is_asked_for:
                _print_document(output, error, code)
        raise click.exceptions.Exit(code) from None
    except (click.exceptions.Exit, click.Abort, OutputError):
        raise
    except Exception as error:  # a fault of litefuse: Python prints its traceback
        if output.is_asked_for:
            _print_document(output, error, ExitCode.FAILED)
        raise
    finally:
        output.close()


@contextmanager
def output_errors() -> Generator[None]:
    """Converts OSErrors before click handles some of them: one without a file name is an error of printing."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OutputError(error) from error
        raise LitefuseError(error.strerror or str(error), where=str(error.filename)) from error


def usage_failure(error: click.UsageError) -> Failure:
    """Returns wrong usage as data."""
    from litefuse.tools.documents.document import Failure

    command = error.ctx.command_path if error.ctx is not None else "litefuse"
    return Failure(type(error).__name__, error.format_message(), hint=f"See {command} --help.")


def _print_message(error: LitefuseError | MemoryError, *, debug: bool) -> None:
    if debug:
        click.echo(getattr(error, "trace", ""), err=True, nl=False)  # from the child process
        traceback.print_exception(error)
    from litefuse.support.report.printable import printable  # names in messages may be hostile

    click.secho("error: ", err=True, fg="red", bold=True, nl=False)
    what = "" if isinstance(error, LitefuseError) else "there is not enough memory: "
    click.echo(printable(with_names(f"{what}{error}".expandtabs())), err=True)


def _print_document(output: JsonOutput, error: BaseException, code: int, *, digests: bool = True) -> None:
    from litefuse.tools.documents.document import Failure

    if isinstance(error, KeyboardInterrupt):
        failure = Failure("Interrupted", "it was interrupted by SIGINT")
    elif isinstance(error, Interrupted):
        failure = Failure("Interrupted", f"it was interrupted by {error.signal}")
    elif isinstance(error, SystemExit):
        failure = Failure("SystemExit", _message_of(error))
    else:
        failure = Failure.of(error)
    with output_errors():
        output.print(failure, code, digests=digests)


def _exit_code(error: BaseException, command: str | None) -> ExitCode:
    if isinstance(error, NotAcceleratedError):
        return ExitCode.NOT_ACCELERATED
    return ExitCode.NOT_COMPARED if command in _COMPARING else ExitCode.FAILED


def _message_of(error: SystemExit) -> str:
    return f"sys.exit({error.code!r}) was called, which would end the command before its work is done"
