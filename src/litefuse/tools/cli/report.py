"""``litefuse report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from litefuse.support.report.printable import printable
from litefuse.tools.cli.command import Command
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import attempted, check_page, print_sections, progress, save_page
from litefuse.tools.cli.parameters import (
    ALLOW_SIDE_EFFECTS,
    MAX_ERROR_OR_QUANTIZATION,
    PATH,
    PLUG_INS,
    SHAPES,
    TAGS,
    TARGET,
    output_option,
    parse_shapes,
)

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.tools.benchmarking.measurement import Benchmark


@click.command(cls=Command)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.argument("original", type=PATH, required=False)
@output_option(
    "FILE.html",
    "the model's name with .html",
    "The page to write; with --explorer, the folder for values of nodes to load into another Model Explorer.",
)
@click.option("--verify/--no-verify", default=True, help="Compare with ORIGINAL, layer by layer, in TensorFlow.")
@click.option("--time/--no-time", default=True, help="Measure the time of each op on this machine.")
@click.option(
    "--target", "targets", type=TARGET, multiple=True, help="Check the file for a target, as litefuse check does."
)
@SHAPES
@MAX_ERROR_OR_QUANTIZATION
@TAGS
@PLUG_INS
@ALLOW_SIDE_EFFECTS
@click.option(
    "--explorer",
    is_flag=True,
    help="Open Model Explorer, until Ctrl-C, instead of writing a page. Requires litefuse[explorer].",
)
@click.option(
    "--node-data",
    type=PATH,
    multiple=True,
    metavar="FILE.json",
    help="With --explorer: more values of nodes to show; may be repeated.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="With --explorer: serve at this port, and open no browser.",
)
def report(
    model: Path,
    original: Path | None,
    output: Path | None,
    verify: bool,
    time: bool,
    targets: tuple[str, ...],
    shape: tuple[str, ...],
    max_error: float | None,
    tags: tuple[str, ...] | None,
    plug_ins: tuple[str, ...],
    allow_side_effects: bool,
    explorer: bool,
    node_data: tuple[Path, ...],
    port: int | None,
) -> None:
    """Write an HTML page about a LiteRT file and its original.

    The page is one HTML file that needs no server and loads nothing else: the graphs of ORIGINAL and MODEL.tflite,
    folded by function and layer and linked by layer names; bytes, time and error of each layer; the ops that targets
    refuse; signatures; quantization. You can search and zoom it; tables have the same data.

    ORIGINAL is the folder of a SavedModel, a .keras or .h5 file, or a frozen graph; or another LiteRT file, such as the
    one before quantization. With it, outputs and inner tensors are compared. Unless it is a LiteRT file, it runs in
    TensorFlow, which must be installed: use an ORIGINAL that you trust. The page says what could not be determined, and
    why.

    MODEL.tflite may also be a .litertlm file: the page is about its model, and shows what else is in the bundle.
    ORIGINAL is then the language model that litefuse lm made it of.

    With --explorer, the graph opens in Model Explorer, folded by layer names, with the bodies of composites, and
    colored by bytes, times and errors, which Model Explorer sums up by layer.
    """
    from litefuse.litert.runtime.loading import name_plug_ins
    from litefuse.support.report.sections import Section
    from litefuse.tools.explorer.node_data import node_values, read_node_data, write_node_data
    from litefuse.tools.explorer.viewer import check_installed, show_model
    from litefuse.tools.language_models.bundle import opened_model

    name_plug_ins(plug_ins)
    if not explorer and (node_data or port):
        raise click.UsageError("--node-data and --port need --explorer.")
    page = output if output is not None else Path(f"{model.stem or 'model'}.html")
    if not explorer:
        check_page(page, (model, original), "--output")
    elif output is None:
        check_installed()
    if original is not None:
        from litefuse.support.files.readable import check_there

        check_there(original)
    shapes = parse_shapes(shape)
    more = [read_node_data(file) for file in node_data]

    notes: list[str] = []
    file, bundle = click.get_current_context().with_resource(opened_model(model))
    with progress(f"Reporting on {model}") as on_step:

        def compared() -> Verification:
            from litefuse.conversion.verify.against_original import verify_model
            from litefuse.tools.language_models.verification import verify_bundle

            on_step("verify")
            if bundle and original is not None:
                return verify_bundle(model, original, max_error=max_error)
            return verify_model(
                file,
                original,
                shapes=shapes,
                max_error=max_error,
                tags=tags,
                kernels=plug_ins,
                allow_side_effects=allow_side_effects,
                layers=True,
            )

        def measured() -> Benchmark:
            from litefuse.tools.benchmarking.benchmark import benchmark

            on_step("measure")
            return benchmark(file, shapes=shapes, kernels=plug_ins)

        def checked() -> TargetCheck:
            from litefuse.conversion.verify.targets.check import check

            allowed = 1e-4 if max_error is None else max_error
            return check(file, targets, shapes=shapes, max_error=allowed, kernels=plug_ins, on_step=on_step)

        verification = attempted("Not verified", compared, notes) if verify and original is not None else None
        benchmark = attempted("The time was not measured", measured, notes) if time else None
        check = attempted("Not checked for targets", checked, notes) if targets else None
        if not explorer:
            save_page(
                page,
                file,
                None if bundle else original,
                bundle=bundle,
                verification=verification,
                check=check,
                benchmark=benchmark,
                tags=tags,
                notes=notes,
                on_step=on_step,
            )
        data = node_values(file, benchmark, verification, notes) if explorer else []
        for note in notes:
            click.secho(printable(note), err=True, fg="yellow")
    if explorer and output is None:
        show_model(file, [*more, *data], port=port)
        return
    written = write_node_data(output, data) if explorer and output is not None else [page]
    wrote(*written)
    print_sections([Section(f"Written to {', '.join(map(str, written))}")])
