"""The click application with all commands.

Only click is imported here and at the top of the commands' modules; a command imports the rest when it runs, so that
``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

from typing import Any

import click

from litefuse.tools.cli.batch import batch
from litefuse.tools.cli.benchmark import benchmark
from litefuse.tools.cli.cache import cache
from litefuse.tools.cli.check import check
from litefuse.tools.cli.convert import convert
from litefuse.tools.cli.demo import demo
from litefuse.tools.cli.diff import diff
from litefuse.tools.cli.doctor import doctor
from litefuse.tools.cli.export_micro import export_micro
from litefuse.tools.cli.failures import ExitCode, failures, output_errors, usage_failure
from litefuse.tools.cli.fusions import fusions
from litefuse.tools.cli.inspect import inspect
from litefuse.tools.cli.json_output import JsonOutput
from litefuse.tools.cli.kernels import kernels
from litefuse.tools.cli.logging_options import log_options
from litefuse.tools.cli.quantize import quantize
from litefuse.tools.cli.report import report
from litefuse.tools.cli.run import run
from litefuse.tools.cli.schema import schema
from litefuse.tools.cli.show import show
from litefuse.tools.cli.uploads import uploads
from litefuse.tools.cli.verify import verify
from litefuse.version import __version__

__all__ = ["app"]


class _Group(click.Group):
    """Converts litefuse's errors to a message, an exit code and, with ``--json``, a document."""

    def make_context(self, info_name: str | None, args: list[str], *arguments: Any, **options: Any) -> click.Context:
        given = [*args]
        with output_errors():  # of --help
            try:
                context = super().make_context(info_name, args, *arguments, **options)
            except click.UsageError as error:
                if "--json" in given:
                    JsonOutput().print(usage_failure(error), ExitCode.USAGE)
                raise
        context.obj = given
        return context

    def invoke(self, ctx: click.Context) -> Any:
        with failures(ctx), uploads():
            return super().invoke(ctx)


@click.group(
    name="litefuse",
    cls=_Group,
    commands=[
        convert,
        batch,
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
        doctor,
        demo,
        fusions,
        kernels,
        schema,
        cache,
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="litefuse %(version)s", help="Print the version.")
@click.option("--debug", is_flag=True, envvar="LITEFUSE_DEBUG", help="Print the traceback of an error.")
def app(debug: bool) -> None:
    """Converts TensorFlow SavedModels to LiteRT models with fused operations, without TensorFlow."""


log_options(app)
