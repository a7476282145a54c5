"""``litefuse cache``."""

from __future__ import annotations

import click

from litefuse.tools.cli.json_output import json_option, print_json
from litefuse.tools.cli.output import print_sections
from litefuse.tools.cli.parameters import parse_size

__all__ = ["cache"]

_DAY = 24 * 3600


@click.command
@click.option("--clear", is_flag=True, help="Empty the cache.")
@click.option(
    "--keep", type=parse_size, metavar="BYTES", help="With --clear: keep this much, such as 5G, of what was used last."
)
@click.option(
    "--unused-for",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="With --clear: remove only what was not used for this many days.",
)
@json_option("Print it as JSON.")
def cache(clear: bool, keep: int | None, unused_for: float | None, as_json: bool) -> None:
    """Show or remove files fetched from URLs.

    Models and samples at URLs are fetched once into a cache that all commands share: the folder that the environment
    variable LITEFUSE_CACHE names, or the system's cache folder for users. Nothing is removed automatically.

    Do not clear the cache while another command reads from it.
    """
    if not clear and (keep is not None or unused_for is not None):
        raise click.UsageError("--keep and --unused-for need --clear.")
    from litefuse.support.cloud.cache import cache_folder, cached_entries, clear_cache
    from litefuse.support.report.sections import Section

    size = clear_cache(keep or 0, unused_for=(unused_for or 0.0) * _DAY) if clear else 0
    entries = cached_entries()
    total = sum(entry.size for entry in entries)
    if as_json:
        told = [{"url": entry.url, "folder": str(entry.folder), "bytes": entry.size} for entry in entries]
        print_json({"folder": str(cache_folder()), "bytes": total, "removed_bytes": size, "entries": told})
        return
    note = f"{size:,} bytes were removed." if clear else ""
    rows = [(entry.url, f"{entry.size:,}") for entry in entries]
    title = f"{cache_folder()}: {total:,} bytes"
    print_sections([Section(title, rows, headings=("from", "bytes"), right=frozenset({1}), note=note)])
