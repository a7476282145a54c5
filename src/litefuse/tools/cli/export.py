"""``litefuse export-micro`` and ``export-web``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.command import Command, parse_size
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import print_result, progress
from litefuse.tools.cli.parameters import PATH, SEED, TIMEOUT, folder_option


@click.command("export-micro", cls=Command)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@folder_option("the model's name with _micro")
@click.option(
    "--arena-size",
    type=parse_size,
    metavar="BYTES",
    show_default="what the model needs, plus an eighth",
    help="The memory for tensors, such as 64K.",
)
@SEED
@TIMEOUT
def export_micro(model: Path, output: Path | None, arena_size: int | None, seed: int, timeout: float | None) -> None:
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
        made = write_application(model, folder, arena_size=arena_size, seed=seed, timeout=timeout, on_step=on_step)
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


@click.command("export-web", cls=Command)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@folder_option("the model's name with _web")
def export_web(model: Path, output: Path | None) -> None:
    """Write a page that runs a LiteRT model in a browser.

    The folder gets the page, the model and LiteRT.js, which npm installs (npm install @litertjs/core): any server of
    files can send it, without a build, and without a connection. Inputs are images, audio, text or numbers, by the
    metadata in the file; outputs have its labels, and each call its time.
    """
    from litefuse.support.report.sections import Section, count_of
    from litefuse.tools.scaffold.web import export_web as write_page

    folder = output if output is not None else Path(f"{model.stem or 'model'}_web")
    page = write_page(model, folder)
    wrote(page.folder)
    rows = [*page.forms.items(), *(("note", note) for note in page.notes)]
    note = f"python -m http.server -d {page.folder} sends it, at http://localhost:8000."
    print_result(
        page.to_json,
        lambda: [
            Section(f"Written to {page.folder}: {count_of(len(page.files), 'file')}", [(file,) for file in page.files]),
            Section("Inputs", rows, note=note),
        ],
    )
