"""``litefuse lm``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloup

from litefuse.support.options.language_model import LanguageModel
from litefuse.tools.cli.declared_options import declared_option_groups, files_read, given_options_of
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import check_writable, is_verbose, print_result, progress
from litefuse.tools.cli.parameters import PATH, ConvertingCommand, model_output, output_option

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section


@cloup.command(cls=ConvertingCommand)
@cloup.argument("model", type=PATH)
@declared_option_groups(
    LanguageModel,
    output_option(
        "FILE",
        "the model's name with .litertlm, in the current folder",
        "The file to write; an existing one is replaced once the conversion succeeds.",
    ),
)
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

    def sections() -> list[Section]:
        from litefuse.support.report.conversion_sections import report_sections

        return report_sections(result.report, details=is_verbose(), timings=is_verbose(), written=str(path))

    print_result(result.report.to_json, sections)
