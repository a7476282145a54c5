"""The click application with all commands.

A command is imported when it is called or described. Only click is imported at the top of its module; it imports the
rest when it runs, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

from litefuse.tools.cli.failures import ExitCode, failures, output_errors, usage_failure
from litefuse.tools.cli.json_output import JsonOutput
from litefuse.tools.cli.logging_options import log_options
from litefuse.tools.cli.uploads import uploads
from litefuse.version import __version__

# The module of each command here.
_MODULES = {
    "batch": "batch",
    "benchmark": "benchmark",
    "cache": "installation",
    "check": "check",
    "convert": "convert",
    "demo": "installation",
    "diff": "inspect",
    "doctor": "installation",
    "export-micro": "export_micro",
    "fusions": "installation",
    "inspect": "inspect",
    "kernels": "kernels",
    "quantize": "quantize",
    "report": "report",
    "run": "run",
    "schema": "installation",
    "show": "show",
    "verify": "verify",
}


class _Group(click.Group):
    """Converts litefuse's errors to a message, an exit code and, with ``--json``, a document."""

    def list_commands(self, ctx: click.Context | None) -> list[str]:  # noqa: ARG002  click's signature
        return list(_MODULES)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in _MODULES and cmd_name not in self.commands:
            module = importlib.import_module(f"litefuse.tools.cli.{_MODULES[cmd_name]}")
            command: click.Command = getattr(module, cmd_name.replace("-", "_"))
            log_options(command)
            self.add_command(command)
        return self.commands.get(cmd_name)

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


@click.group(name="litefuse", cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="litefuse %(version)s", help="Print the version.")
@click.option("--debug", is_flag=True, envvar="LITEFUSE_DEBUG", help="Print the traceback of an error.")
def app(debug: bool) -> None:
    """Converts TensorFlow SavedModels to LiteRT models with fused operations, without TensorFlow."""
