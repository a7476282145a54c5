"""The commands.

Only typer is imported here and at the top of the commands' modules; what a command works with is imported when it runs,
so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from litefuse import __version__
from litefuse.cli.convert import OptionalValueCommand, convert
from litefuse.cli.demo import demo
from litefuse.cli.fusions import fusions
from litefuse.cli.inspect import inspect
from litefuse.cli.kernels import kernels
from litefuse.cli.run import run
from litefuse.errors import LitefuseError

__all__ = ["app"]


class _Group(TyperGroup):
    """Turns errors of litefuse into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LitefuseError as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            typer.secho("error: ", err=True, fg="red", bold=True, nl=False)
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


app = typer.Typer(
    name="litefuse",
    cls=_Group,
    help="Converts TensorFlow SavedModels to LiteRT models with fused operations, without TensorFlow.",
    no_args_is_help=True,
    add_completion=False,
    # Boxes and colours are for people; what is piped or logged stays plain.
    rich_markup_mode="rich" if sys.stdout.isatty() and sys.stderr.isatty() else None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=OptionalValueCommand)(convert)
app.command()(inspect)
app.command()(run)
app.command()(demo)
app.command()(fusions)
app.add_typer(kernels)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"litefuse {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(  # pyright: ignore[reportUnusedFunction]  typer calls it
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Print the traceback of an error.", envvar="LITEFUSE_DEBUG")
    ] = False,
) -> None: ...
