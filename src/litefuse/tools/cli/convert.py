"""``litefuse convert`` and ``lm``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from litefuse.support.options.conversion import Conversion, Graph
from litefuse.support.options.language_model import LanguageModel
from litefuse.tools.cli.declared_options import declared_option_groups, files_read, given_options_of
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import (
    HTML,
    attempted,
    check_page,
    check_writable,
    print_report,
    progress,
    save_page,
)
from litefuse.tools.cli.parameters import (
    LABELS,
    PATH,
    PLUG_INS,
    ConvertingCommand,
    file_option,
    metadata_of,
    model_output,
)

if TYPE_CHECKING:
    from litefuse.support.result import ConversionResult
    from litefuse.tools.benchmarking.measurement import Benchmark


@cloup.command(cls=ConvertingCommand)
@click.argument("model", type=PATH)
@declared_option_groups(
    Conversion,
    file_option("the model's name with .tflite, in the current folder"),
    LABELS,
    PLUG_INS,
    HTML,
)
def convert(
    model: Path,
    output: Path | None,
    labels: Path | None,
    plug_ins: tuple[str, ...],
    html: Path | None,
    **values: Any,
) -> None:
    """Convert a SavedModel, a Keras file or a frozen graph to LiteRT.

    MODEL is the folder of a SavedModel, a folder that contains one, a .keras or .h5 file, or a frozen graph (.pb,
    .pbtxt).

    \b
    Examples:
      litefuse convert saved_model -o model.tflite
      litefuse convert model.keras --quantize int8 --samples samples.npz

    Composites, the functions annotated with experimental_implements, become fused ops. The report lists what each one
    became, or why it was not fused.
    """  # noqa: D301  click's mark
    given = given_options_of(Conversion, values)
    options = Conversion(**given)
    path = model_output(output, model, "")
    read = (model, *files_read(Conversion, values), *filter(None, (labels,)))
    check_writable(path, "the model", reads=read)
    check_page(html, (*read, path))

    from litefuse.conversion.api import convert as convert_model
    from litefuse.litert.runtime.loading import load_kernels, name_plug_ins

    name_plug_ins(plug_ins)
    load_kernels(plug_ins)
    given["metadata"] = metadata_of(given.get("metadata"), labels)
    given["limits"] = replace(options.limits, temporary_folder=path.parent)
    # A debugger in conversion code has the terminal to itself.
    with progress(f"Converting {model}", quiet=options.debug.in_process) as on_step:
        result = convert_model(model, **given, on_step=on_step)
        result.save(path, copy=False)
        wrote(path, result.kernels)
        if html is not None:
            _write_page(html, result, model, options.graph, plug_ins, on_step)

    print_report(result, path, model, plug_ins)


def _write_page(
    html: Path,
    result: ConversionResult,
    model: Path,
    graph: Graph,
    kernels: tuple[str, ...],
    on_step: Callable[[str], None],
) -> None:
    def measured() -> Benchmark:
        from litefuse.tools.benchmarking.benchmark import benchmark

        on_step("measure")
        return benchmark(result.path, kernels=kernels)

    notes: list[str] = []
    save_page(
        html,
        result,
        model,
        benchmark=attempted("The time was not measured", measured, notes),
        tags=graph.tags,
        input_arrays=graph.inputs,
        output_arrays=graph.outputs,
        signatures=result.report.signatures,
        notes=notes,
        on_step=on_step,
    )


@cloup.command(cls=ConvertingCommand)
@click.argument("model", type=PATH)
@declared_option_groups(LanguageModel, file_option("the model's name with .litertlm, in the current folder"))
def lm(model: Path, output: Path | None, **values: Any) -> None:
    """Convert a language model of Keras Hub for LiteRT-LM.

    MODEL is the .keras file of a CausalLM, or the folder of a preset. FILE gets the model, its tokenizer and metadata.

    \b
    Examples:
      litefuse lm gemma.keras -o gemma.litertlm --quantize dynamic
      litefuse run gemma.litertlm --prompt "Once upon a time"
      litefuse verify gemma.litertlm gemma.keras --max-error 0.1
    """  # noqa: D301  click's mark
    given = given_options_of(LanguageModel, values)
    path = output or model_output(None, model, "").with_suffix(".litertlm")
    check_writable(path, "the model", reads=(model, *files_read(LanguageModel, values)))

    from litefuse.tools.language_models.api import language_model

    with progress(f"Converting {model}") as on_step:
        result = language_model(model, **given, on_step=on_step)
        result.save(path, copy=False)
        wrote(path)

    print_report(result, path, model, ())
