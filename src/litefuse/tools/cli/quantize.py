"""``litefuse quantize``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from litefuse.support.options.forms import QUANTIZATIONS, Quantization
from litefuse.tools.cli.json_output import json_option, wrote
from litefuse.tools.cli.output import check_writable, is_verbose, print_result, progress
from litefuse.tools.cli.parameters import (
    CHECK_FILE,
    KERNELS,
    MIN_RUNTIME,
    OUTPUT,
    PATH,
    QUIET,
    OptionalValueCommand,
    file_options,
    parse_renames,
    process_limit_options,
)
from litefuse.tools.cli.quantization_options import integer_io, quantization_option_group

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section


@click.command(cls=OptionalValueCommand)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.option(
    "--output",
    "-o",
    type=OUTPUT,
    required=True,
    metavar="FILE",
    help="The file to write; an existing one is replaced once quantization succeeds.",
)
@click.option(
    "--form",
    "--quantize",
    "form",
    type=click.Choice(QUANTIZATIONS),
    help="As --quantize of litefuse convert; required without --recipe.",
)
@quantization_option_group
@click.option(
    "--max-error",
    type=click.FloatRange(min=0),
    metavar="E",
    help="Fail if an output changes by more than this, relative to its largest value.",
)
@MIN_RUNTIME
@file_options
@CHECK_FILE
@KERNELS
@process_limit_options
@json_option("Print the report as JSON to standard output, errors included, and nothing else.")
@QUIET
def quantize(
    model: Path,
    output: Path,
    form: Quantization | None,
    representative_dataset: Path | None,
    quantized_io: str | None,
    recipe: Path | None,
    metadata: Path | None,
    renames: tuple[str, ...],
    kernels: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Quantize a LiteRT model from any converter.

    MODEL.tflite is a float model from litefuse, the stock converter or any other. Options, samples and report are those
    of litefuse convert.
    """
    check_writable(output, "the model", reads=(model, *filter(None, (representative_dataset, recipe, metadata))))

    from litefuse.conversion.api import quantize as quantize_model
    from litefuse.litert.runtime.loading import load_kernels

    load_kernels(kernels)
    # Other options are arguments of the same names.
    with progress(f"Quantizing {model}", quiet=quiet) as on_step:
        result = quantize_model(
            model,
            form,
            representative_dataset=representative_dataset,
            quantized_io=integer_io(quantized_io),
            recipe=recipe,
            metadata=metadata,
            rename=parse_renames(renames),
            temporary_folder=output.parent,
            on_step=on_step,
            **options,
        )
        result.save(output, copy=False)
        wrote(output)

    def sections() -> list[Section]:
        from litefuse.support.report.conversion_sections import report_sections

        return report_sections(result.report, details=is_verbose(), written=str(output), original=str(model))

    print_result(result.report.to_json, sections, quiet=quiet)
