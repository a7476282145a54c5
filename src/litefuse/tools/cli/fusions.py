"""``litefuse fusions``."""

from __future__ import annotations

import click

from litefuse.tools.cli.json_output import json_option, print_json
from litefuse.tools.cli.output import print_sections

__all__ = ["fusions"]

_OWN = "litefuse"


@click.command
@json_option("Print the list as JSON.")
def fusions(as_json: bool) -> None:
    """List the composites that litefuse fuses.

    Shows what each becomes and, if plug-ins add fusions, where the conversion code is from.
    """
    from litefuse.fusions import registered_fusions
    from litefuse.support.report.sections import Section

    found = [(name, _first_line(cls), _origin(cls)) for name, cls in registered_fusions().items()]
    if as_json:
        print_json({"fusions": [dict(zip(("composite", "becomes", "origin"), each, strict=True)) for each in found]})
        return
    other = ("any other", "With the attribute tfl_fusable_op: true, it becomes a custom op of its name.", "")
    has_others = any(origin != _OWN for _, _, origin in found)
    count = 3 if has_others else 2
    headings = ("composite", "what it becomes", "from")[:count]
    print_sections([Section(f"Fusions: {len(found):,}", [row[:count] for row in (*found, other)], headings=headings)])


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def _origin(cls: type) -> str:
    """Returns the distribution that a fusion comes from, or its module."""
    from litefuse.support.plug_ins.entry_points import find_plug_ins

    if cls.__module__.partition(".")[0] == "litefuse":
        return _OWN
    for plug_in in find_plug_ins("litefuse.fusions"):
        if cls.__module__ == plug_in.module or cls.__module__.startswith(f"{plug_in.module}."):
            return plug_in.package or plug_in.module
    return cls.__module__
