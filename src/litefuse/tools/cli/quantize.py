"""``litefuse quantize``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import cloup

from litefuse.support.options.conversion import FileQuantization
from litefuse.tools.cli.declared_options import declared_option_groups, files_read, given_options_of
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import check_writable, print_report, progress
from litefuse.tools.cli.parameters import (
    LABELS,
    PATH,
    PLUG_INS,
    ConvertingCommand,
    file_option,
    metadata_of,
    model_output,
)


@cloup.command(cls=ConvertingCommand)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@declared_option_groups(
    FileQuantization,
    file_option("the model's name with the form, such as model.int8.tflite, in the current folder"),
    LABELS,
    PLUG_INS,
)
def quantize(model: Path, output: Path | None, labels: Path | None, plug_ins: tuple[str, ...], **values: Any) -> None:
    """Quantize a LiteRT model from any converter.

    MODEL.tflite is a float model from litefuse, the stock converter or any other. Options, samples and report are those
    of litefuse convert.
    """
    given = given_options_of(FileQuantization, values)
    options = FileQuantization(**given)
    path = model_output(output, model, f".{options.quantize.scheme or 'quantized'}")
    check_writable(path, "the model", reads=(model, *files_read(FileQuantization, values), *filter(None, (labels,))))

    from litefuse.conversion.api import quantize as quantize_model
    from litefuse.litert.runtime.loading import load_kernels

    load_kernels(plug_ins)
    given["metadata"] = metadata_of(given.get("metadata"), labels)
    given["limits"] = replace(options.limits, temporary_folder=path.parent)
    with progress(f"Quantizing {model}") as on_step:
        result = quantize_model(model, **given, on_step=on_step)
        result.save(path, copy=False)
        wrote(path)

    print_report(result, path, model, plug_ins)
