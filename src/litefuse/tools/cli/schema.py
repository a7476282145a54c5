"""``litefuse schema``."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from litefuse.tools.cli.output import print_sections
from litefuse.tools.cli.parameters import beginning

__all__ = ["schema"]


def _complete_commands(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from litefuse.tools.documents.schema import COMMANDS

    before: tuple[str, ...] = context.params.get("command") or ()
    names = (command.split() for command in COMMANDS)
    rest = [name[len(before)] for name in names if tuple(name[: len(before)]) == before and len(name) > len(before)]
    return beginning(dict.fromkeys(rest), incomplete)


@click.command
@click.argument("command", nargs=-1, shell_complete=_complete_commands)
def schema(command: tuple[str, ...]) -> None:
    """Print the JSON Schema of what a command prints with --json.

    COMMAND is a command, such as convert or kernels list. Without it, all commands are listed with the addresses of
    their schemas, which are also in their output.
    """
    from litefuse.support.report.sections import Section
    from litefuse.tools.documents.schema import COMMANDS, address, schema_text

    name = " ".join(" ".join(command).split())
    if not name:
        rows = [(each, address(each)) for each in COMMANDS]
        print_sections([Section("Schemas", rows, headings=("command", "address"))])
        return
    if name not in COMMANDS:
        raise click.BadParameter(f"{name!r} prints no JSON; these do: {', '.join(COMMANDS)}")
    click.echo(schema_text(name), nl=False)
