"""``litefuse fusions``."""

from __future__ import annotations

import click

from litefuse.cli.output import print_sections

__all__ = ["fusions"]


@click.command
def fusions() -> None:
    """List the composites that are fused.

    Each with what becomes of it, and the package that the conversion code comes from.
    """
    from litefuse.fusions import registered_fusions
    from litefuse.report.sections import Section

    rows = [(name, _first_line(cls), _origin(cls)) for name, cls in registered_fusions().items()]
    other = ("any other", "With the attribute tfl_fusable_op: true, it becomes a custom op of its name.", "litefuse")
    print_sections([Section("Fusions", [*rows, other], headings=("composite", "what it becomes", "from"))])


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def _origin(cls: type) -> str:
    """Returns the distribution that a fusion comes from, or its module."""
    from litefuse.plug_ins.entry_points import find_plug_ins

    if cls.__module__.partition(".")[0] == "litefuse":
        return "litefuse"
    for plug_in in find_plug_ins("litefuse.fusions"):
        if cls.__module__ == plug_in.module or cls.__module__.startswith(f"{plug_in.module}."):
            return plug_in.package or plug_in.module
    return cls.__module__
