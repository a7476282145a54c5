"""``litefuse report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from litefuse.support.cloud.names import with_names
from litefuse.support.report.printable import printable
from litefuse.tools.cli.output import attempted, check_page, progress, save_page
from litefuse.tools.cli.parameters import (
    ALLOW_SIDE_EFFECTS,
    KERNELS,
    OUTPUT,
    PATH,
    SHAPES,
    TAGS,
    TARGET,
    TOLERANCE_OR_QUANTIZATION,
    parse_shapes,
    process_limit_options,
    split_names,
)

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.tools.benchmarking.measurement import Benchmark


@click.command
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.argument("original", type=PATH, required=False)
@click.option(
    "--output",
    "-o",
    type=OUTPUT,
    metavar="FILE.html",
    help="The page to write. Default: the model's name with .html, in the current folder.",
)
@click.option("--verify/--no-verify", default=True, help="Compare with ORIGINAL, layer by layer, in TensorFlow.")
@click.option("--time/--no-time", default=True, help="Measure the time of each op on this machine.")
@click.option(
    "--target", "targets", type=TARGET, multiple=True, help="Check the file for a target, as litefuse check does."
)
@SHAPES
@TOLERANCE_OR_QUANTIZATION
@TAGS
@KERNELS
@ALLOW_SIDE_EFFECTS
@process_limit_options
def report(
    model: Path,
    original: Path | None,
    output: Path | None,
    verify: bool,
    time: bool,
    targets: tuple[str, ...],
    shape: tuple[str, ...],
    tolerance: float | None,
    tags: str | None,
    kernels: tuple[str, ...],
    allow_side_effects: bool,
    timeout: float | None,
    memory: int | None,
) -> None:
    """Write an HTML page about a LiteRT file and its original.

    The page is one HTML file that needs no server and loads nothing else: the graphs of ORIGINAL and MODEL.tflite,
    folded by function and layer and linked by layer names; bytes, time and error of each layer; the ops that targets
    refuse; signatures; quantization. You can search and zoom it; tables have the same data.

    ORIGINAL is the folder of a SavedModel, a .keras or .h5 file, or a frozen graph; or another LiteRT file, such as the
    one before quantization. With it, outputs and inner tensors are compared. Unless it is a LiteRT file, it runs in
    TensorFlow, which must be installed: use an ORIGINAL that you trust. The page says what could not be determined, and
    why.
    """
    page = output if output is not None else Path(f"{model.stem or 'model'}.html")
    check_page(page, (model, original), "--output")
    if original is not None:
        from litefuse.support.files.readable import check_there

        check_there(original)
    shapes = parse_shapes(shape)

    from litefuse.support.processes.limits import ProcessLimits, processes_limited

    notes: list[str] = []
    chosen = split_names(tags)
    with progress(f"Reporting on {model}") as on_step, processes_limited(ProcessLimits(timeout, memory)):

        def compared() -> Verification:
            from litefuse.conversion.verify.against_original import verify_model

            on_step("verify")
            return verify_model(
                model,
                original,
                shapes=shapes,
                tolerance=tolerance,
                tags=chosen,
                kernel_modules=kernels,
                allow_side_effects=allow_side_effects,
                layers=True,
            )

        def measured() -> Benchmark:
            from litefuse.tools.benchmarking.benchmark import benchmark

            on_step("measure")
            return benchmark(model, shapes=shapes, kernel_modules=kernels)

        def checked() -> TargetCheck:
            from litefuse.conversion.verify.targets.check import check

            allowed = 1e-4 if tolerance is None else tolerance
            return check(model, targets, shapes=shapes, tolerance=allowed, kernel_modules=kernels, on_step=on_step)

        verification = attempted("Not verified", compared, notes) if verify and original is not None else None
        benchmark = attempted("The time was not measured", measured, notes) if time else None
        check = attempted("Not checked for targets", checked, notes) if targets else None
        save_page(
            page,
            model,
            original,
            verification=verification,
            check=check,
            benchmark=benchmark,
            tags=chosen,
            notes=notes,
            on_step=on_step,
        )
    for note in notes:
        click.secho(printable(note), err=True, fg="yellow")
    click.echo(printable(with_names(f"Written to {page}")))
