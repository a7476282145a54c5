"""The click application with all commands.

A command is imported when it is called or described. Only click is imported at the top of its module; it imports the
rest when it runs, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click
import cloup

from litefuse.support.files.readable import is_there
from litefuse.tools.cli.command import FORMER_COMMANDS, Group
from litefuse.tools.cli.failures import ExitCode, failures, output_errors, usage_failure
from litefuse.tools.cli.json_output import JsonOutput
from litefuse.tools.cli.uploads import uploads
from litefuse.version import DOCUMENTATION, __version__

# The sections of the help, with the commands and what they do, in one line.
_SECTIONS = {
    "Make files": {
        "convert": "Convert a TensorFlow, Keras or JAX model to LiteRT.",
        "lm": "Convert a language model of Keras Hub for LiteRT-LM.",
        "quantize": "Quantize a LiteRT file of any converter.",
        "batch": "Convert, verify, check and quantize many models.",
        "export-micro": "Write a C++ application for a microcontroller.",
        "export-web": "Write a page that runs a file in a browser.",
    },
    "Prove files": {
        "verify": "Compare a file with the model that it was made from.",
        "check": "Check whether targets run a file: GPU, NPU, microcontroller.",
        "benchmark": "Measure how long a file takes, and which ops take the time.",
    },
    "Look at files and models": {
        "inspect": "Show what a model or file contains.",
        "report": "Write an HTML page about a file, or open Model Explorer.",
        "run": "Run a file.",
        "diff": "Compare two files without running them.",
    },
    "Custom ops and litefuse itself": {
        "kernels": "List, write, generate, build, test or export kernels.",
        "doctor": "Check the installation; its cache, fusions and schemas.",
        "demo": "Convert, run and check a small model.",
    },
}
_HELP = """Convert TensorFlow models to LiteRT (.tflite) with fused operations, without TensorFlow.

A model is the folder of a SavedModel (of Keras, JAX or TensorFlow), a Keras file (.keras, .h5) or a frozen graph
(.pb, .pbtxt). Models in memory, and JAX functions, are converted in Python: litefuse.convert(model).

\b
Example:
  litefuse convert my_model.keras -o model.tflite
  litefuse verify model.tflite my_model.keras

Options stand before the command or behind it. Each command has more: litefuse COMMAND --help.
"""
_COMPLETION = 'eval "$(_LITEFUSE_COMPLETE=bash_source litefuse)"'
# The words of other programs, and what to write instead.
_OTHER_WORDS = {
    **dict.fromkeys(["info", "summary"], "litefuse inspect MODEL"),
    "compare": "litefuse verify MODEL.tflite ORIGINAL, or litefuse diff A.tflite B.tflite",
    **dict.fromkeys(["completion", "--install-completion", "--show-completion"], f"{_COMPLETION} (see --help)"),
}
_COMMANDS = {name: line for section in _SECTIONS.values() for name, line in section.items()}
# The module of each command that has another name.
_MODULES = {
    "demo": "installation",
    "diff": "inspect",
    "doctor": "installation",
    "export-micro": "export",
    "export-web": "export",
    "lm": "convert",
}


class _Group(Group):
    """Converts litefuse's errors to a message, an exit code and, with ``--json``, a document."""

    lists_them = True

    def list_commands(self, ctx: click.Context | None) -> list[str]:  # noqa: ARG002  click's signature
        return list(_COMMANDS)

    def list_sections(self, ctx: click.Context, include_default_section: bool = True) -> list[cloup.Section]:  # noqa: ARG002
        # Commands by their lines alone: their modules take longer to load than the help to print.
        return [
            cloup.Section(title, {name: click.Command(name, short_help=line) for name, line in lines.items()})
            for title, lines in _SECTIONS.items()
        ]

    def format_params(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_commands(ctx, formatter)
        super().format_params(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes nothing: they stand above the options."""

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in _COMMANDS and cmd_name not in self.commands:
            module = importlib.import_module(f"litefuse.tools.cli.{_MODULES.get(cmd_name, cmd_name)}")
            command: click.Command = getattr(module, cmd_name.replace("-", "_"))
            self.add_command(command)
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in FORMER_COMMANDS:
            raise click.UsageError(f"litefuse {args[0]} is now: litefuse {FORMER_COMMANDS[args[0]]}", ctx=ctx)
        if args[0] in _OTHER_WORDS:
            raise click.UsageError(f"No such command {args[0]!r}. Write: {_OTHER_WORDS[args[0]]}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def handle_bad_command_name(
        self, bad_name: str, valid_names: list[str], error: click.UsageError
    ) -> click.UsageError:
        del valid_names  # those that are imported
        if Path(bad_name).suffix or is_there(bad_name):
            command = "inspect" if bad_name.endswith(".tflite") else "convert"
            return click.UsageError(f"{error.message} Write: litefuse {command} {bad_name}", error.ctx)
        return super().handle_bad_command_name(bad_name, list(_COMMANDS), error)

    def make_context(self, info_name: str | None, args: list[str], *arguments: Any, **options: Any) -> Any:
        given = [*args]
        with output_errors():  # of --help
            try:
                context = super().make_context(info_name, args, *arguments, **options)
            except click.UsageError as error:
                told = error
                if isinstance(error, click.NoSuchOption) and error.option_name in _OTHER_WORDS:
                    told = click.UsageError(f"{error.message} Write: {_OTHER_WORDS[error.option_name]}", error.ctx)
                if "--json" in given:
                    JsonOutput().print(usage_failure(told), ExitCode.USAGE)
                raise told from None
        context.obj = given
        return context

    def invoke(self, ctx: click.Context) -> Any:
        with failures(ctx), uploads():
            return super().invoke(ctx)


@click.command(
    name="litefuse",
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=_HELP,
    epilog="\b\nTab completion in bash, or with zsh_source or fish_source instead:\n"
    f"  {_COMPLETION}\nDocumentation: {DOCUMENTATION}",
)
@click.version_option(__version__, message="litefuse %(version)s", help="Print the version.")
def app() -> None:
    """The program."""
