"""``litefuse export-web``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.command import Command
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import print_result
from litefuse.tools.cli.parameters import PATH, folder_option


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
