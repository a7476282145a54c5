"""``litefuse quantize``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from litefuse.support.options.conversion import FileQuantization, ProcessOptions, Quantization
from litefuse.tools.cli.declared_options import declared_option_groups, given_options_of
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import check_writable, is_verbose, print_result, progress
from litefuse.tools.cli.parameters import LABELS, OUTPUT, PATH, PLUG_INS, ConvertingCommand, metadata_of

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section


@cloup.command(cls=ConvertingCommand)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@declared_option_groups(
    FileQuantization,
    cloup.option(
        "--output",
        "-o",
        type=OUTPUT,
        required=True,
        metavar="FILE",
        help="The file to write; an existing one is replaced once quantization succeeds.",
    ),
    LABELS,
    PLUG_INS,
)
def quantize(model: Path, output: Path, labels: Path | None, plug_ins: tuple[str, ...], **values: Any) -> None:
    """Quantize a LiteRT model from any converter.

    MODEL.tflite is a float model from litefuse, the stock converter or any other. Options, samples and report are those
    of litefuse convert.
    """
    given = given_options_of(FileQuantization, values)
    quantization = given.get("quantize", Quantization())
    read = (quantization.samples, quantization.recipe, given.get("metadata"), labels)
    check_writable(output, "the model", reads=(model, *filter(None, read)))

    from litefuse.conversion.api import quantize as quantize_model
    from litefuse.litert.runtime.loading import load_kernels

    load_kernels(plug_ins)
    given["metadata"] = metadata_of(given.get("metadata"), labels)
    given["limits"] = replace(given.get("limits", ProcessOptions()), temporary_folder=output.parent)
    with progress(f"Quantizing {model}") as on_step:
        result = quantize_model(model, **given, on_step=on_step)
        result.save(output, copy=False)
        wrote(output)

    def sections() -> list[Section]:
        from litefuse.support.report.conversion_sections import report_sections

        return report_sections(
            result.report, details=is_verbose(), written=str(output), original=str(model), plug_ins=plug_ins
        )

    print_result(result.report.to_json, sections)
