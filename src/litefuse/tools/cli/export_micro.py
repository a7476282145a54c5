"""``litefuse export-micro``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.json_output import json_option, wrote
from litefuse.tools.cli.output import print_result, progress
from litefuse.tools.cli.parameters import OUTPUT, PATH, SECONDS, SEED, parse_size


@click.command("export-micro")
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.option(
    "--output",
    "-o",
    type=OUTPUT,
    metavar="DIR",
    help="The folder to write: new or empty. Default: the model's name with _micro, in the current folder.",
)
@click.option(
    "--arena-size",
    type=parse_size,
    metavar="BYTES",
    help="The memory for tensors, such as 64K. Default: what the model needs, plus an eighth.",
)
@SEED
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="A time limit for tflite-micro (300).")
@json_option("Print what was written as JSON.")
def export_micro(model: Path, output: Path | None, arena_size: int | None, random: int, timeout: float | None) -> None:
    """Write an application that runs a LiteRT model on a microcontroller.

    The application is in C++, for tflite-micro: the model as an array, the arena size that tflite-micro measured, an op
    resolver with only the ops of the model, the inputs and outputs with dtypes, shapes, scales and zero points, a
    program that calls the model twice and compares the outputs with those of tflite-micro's Python package, and a CMake
    file.

    The file is checked first, as with litefuse check --target micro.
    """
    from litefuse.support.report.sections import Section, count_of
    from litefuse.tools.scaffold.micro.export import export_micro as write_application

    folder = output if output is not None else Path(f"{model.stem or 'model'}_micro")
    with progress(f"Exporting {model}") as on_step:
        made = write_application(model, folder, arena_size=arena_size, seed=random, timeout=timeout, on_step=on_step)
    wrote(made.folder)
    rows = [
        ("ops", f"{count_of(len(made.ops), 'kind')}: {', '.join(made.ops)}"),
        (
            "arena",
            f"{made.arena:,} bytes" + ("" if made.measured is None else f", {made.measured:,} needed here"),
        ),
        ("compared calls", str(made.calls)),
        *[("note", note) for note in made.notes],
    ]
    print_result(
        made.to_json,
        lambda: [
            Section(f"Written to {made.folder}: {count_of(len(made.files), 'file')}", [(file,) for file in made.files]),
            Section(f"Application {made.name}", rows, note="README.md explains how to build it."),
        ],
    )
