"""``litefuse doctor``."""

from __future__ import annotations

import click

from litefuse.tools.cli.json_output import json_option, print_json
from litefuse.tools.cli.output import print_sections, progress

__all__ = ["doctor"]


@click.command
@json_option("Print what was found as JSON.")
def doctor(as_json: bool) -> None:
    """Check the environment, and show what is missing or broken.

    Checks Python, the system, memory and disk space; installed packages, and whether they are compatible and safe; the
    lowering engine and the runtime, each loaded and run in a process of its own; kernels, the compiler, extras and
    plug-ins.

    The exit code is 0 if everything required works, and 1 if not; optional features may be missing.
    """
    from litefuse.tools.cli.failures import ExitCode
    from litefuse.tools.environment.doctor import diagnose, diagnosis_sections

    with progress("Looking at the installation"):
        found = diagnose()
    code = ExitCode.DONE if found.ok else ExitCode.FAILED
    if as_json:
        print_json(found.to_json(), code)
    else:
        print_sections(diagnosis_sections(found))
    raise click.exceptions.Exit(code)
