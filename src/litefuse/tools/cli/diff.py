"""``litefuse diff``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.cli.json_output import json_option, print_json
from litefuse.tools.cli.output import print_sections, progress
from litefuse.tools.cli.parameters import PATH

__all__ = ["diff"]


@click.command
@click.argument("before", type=PATH, metavar="A.tflite")
@click.argument("after", type=PATH, metavar="B.tflite")
@click.option("--all", "everything", is_flag=True, help="Shorten no list and no name.")
@json_option("Print the differences as JSON.")
def diff(before: Path, after: Path, everything: bool, as_json: bool) -> None:
    """Compare two LiteRT files without running them.

    Shows what another converter version or option changed: ops that were added, removed or moved, and their options;
    dtypes, shapes and scales of tensors; signatures; weights, number by number, quantized ones dequantized; metadata;
    sizes. The order of ops and tensors within the files does not count.

    The exit code is 0 if the files differ in layout at most, 1 if they differ otherwise, and 4 if one of them cannot be
    read.
    """
    from litefuse.litert.differences.compare import diff as differences_of
    from litefuse.litert.differences.sections import diff_sections

    with progress(f"Comparing {before} with {after}"):
        difference = differences_of(before, after)
    code = ExitCode.FAILED if difference.verdict == "differs" else ExitCode.DONE
    if as_json:
        print_json(difference.to_json(), code)
    else:
        print_sections(diff_sections(difference, everything=everything))
    raise click.exceptions.Exit(code)
