"""The click application with all commands.

Only click is imported here and at the top of the commands' modules; a command imports the rest when it runs, so that
``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import click

from litefuse.cli.benchmark import benchmark
from litefuse.cli.check import check
from litefuse.cli.convert import convert
from litefuse.cli.demo import demo
from litefuse.cli.diff import diff
from litefuse.cli.export_micro import export_micro
from litefuse.cli.failures import ExitCode, error_json, json_asked_for
from litefuse.cli.fusions import fusions
from litefuse.cli.inspect import inspect
from litefuse.cli.kernels import kernels
from litefuse.cli.output import OutputError, print_json
from litefuse.cli.quantize import quantize
from litefuse.cli.report import report
from litefuse.cli.run import run
from litefuse.cli.show import show
from litefuse.cli.verify import verify
from litefuse.errors import LitefuseError, NotAcceleratedError
from litefuse.version import __version__

__all__ = ["app"]


# The commands that compare: an error is not a result of the comparison.
_COMPARING = frozenset({"check", "diff", "verify"})


class _Group(click.Group):
    """Converts litefuse's errors to a message and an exit code."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _output_errors():  # of --help
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _output_errors():
                return super().invoke(ctx)
        except (LitefuseError, MemoryError) as error:
            if ctx.params.get("debug"):
                click.echo(getattr(error, "trace", ""), err=True, nl=False)  # from the child process
                traceback.print_exc()
            from litefuse.report.printable import printable  # names in messages may be hostile

            click.secho("error: ", err=True, fg="red", bold=True, nl=False)
            what = "" if isinstance(error, LitefuseError) else "there is not enough memory: "
            click.echo(printable(f"{what}{error}".expandtabs()), err=True)
            code = _exit_code(error, ctx.invoked_subcommand)
            if json_asked_for(ctx):
                with _output_errors():
                    print_json(error_json(error, code))
            raise click.exceptions.Exit(code) from None
        except click.UsageError as error:
            if json_asked_for(ctx):
                with _output_errors():
                    print_json(error_json(error, ExitCode.USAGE))
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None


def _exit_code(error: BaseException, command: str | None) -> ExitCode:
    if isinstance(error, NotAcceleratedError):
        return ExitCode.NOT_ACCELERATED
    return ExitCode.NOT_COMPARED if command in _COMPARING else ExitCode.FAILED


@contextmanager
def _output_errors() -> Generator[None]:
    """Converts OSErrors before click handles some of them: one without a file name is an error of printing."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OutputError(error) from error
        raise LitefuseError(error.strerror or str(error), where=str(error.filename)) from error


@click.group(
    name="litefuse",
    cls=_Group,
    commands=[
        convert,
        quantize,
        inspect,
        run,
        verify,
        check,
        benchmark,
        diff,
        report,
        show,
        export_micro,
        demo,
        fusions,
        kernels,
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="litefuse %(version)s", help="Print the version.")
@click.option("--debug", is_flag=True, envvar="LITEFUSE_DEBUG", help="Print the traceback of an error.")
def app(debug: bool) -> None:
    """Converts TensorFlow SavedModels to LiteRT models with fused operations, without TensorFlow."""
