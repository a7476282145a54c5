"""``litefuse schema``."""

from __future__ import annotations

import click

from litefuse.cli.output import print_sections

__all__ = ["schema"]


@click.command
@click.argument("command", nargs=-1)
def schema(command: tuple[str, ...]) -> None:
    """Print the JSON Schema of what a command prints with --json.

    COMMAND is a command, such as convert or kernels list. Without one, the commands are listed, with the addresses of
    their schemas, which also stand in what they print.
    """
    from litefuse.documents.schema import COMMANDS, address, schema_text
    from litefuse.report.sections import Section

    name = " ".join(" ".join(command).split())
    if not name:
        rows = [(each, address(each)) for each in COMMANDS]
        print_sections([Section("Schemas", rows, headings=("command", "address"))])
        return
    if name not in COMMANDS:
        raise click.BadParameter(f"{name!r} prints no JSON; these do: {', '.join(COMMANDS)}")
    click.echo(schema_text(name), nl=False)
