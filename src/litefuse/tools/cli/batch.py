"""``litefuse batch``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from litefuse.support.options.forms import QUANTIZATIONS
from litefuse.tools.cli.command import Choice, Command, value_for_all
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import check_writable, print_result
from litefuse.tools.cli.parameters import OUTPUT, PATH, TARGET, process_limit_options


@click.command(cls=Command)
@click.argument("models", type=PATH)
@click.option(
    "--output",
    "-o",
    metavar="DIR",
    show_default='in MODELS, output = "DIR" under [batch]',
    help="The folder or URL to write to.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="the number of cores",
    help="How many models to work on at once.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler. Requires litefuse[cloud]."
)
@click.option("--verify/--no-verify", default=None, help="Compare each model with its original, in TensorFlow.")
@click.option(
    "--target", "targets", type=TARGET, multiple=True, help="Check each file for this target; may be repeated."
)
@click.option(
    "--quantize",
    "variants",
    type=Choice(QUANTIZATIONS),
    multiple=True,
    help="Also write a quantized form of each model (variants in MODELS); may be repeated.",
)
@process_limit_options
@click.option("--again", is_flag=True, help="Redo finished work, too.")
@click.option(
    "--save",
    type=OUTPUT,
    multiple=True,
    metavar="FILE.html|FILE.xml",
    help="Also write the table as an HTML page, or the outcomes as JUnit XML for CI systems; may be repeated.",
)
def batch(
    models: Path,
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    verify: bool | None,
    targets: tuple[str, ...],
    variants: tuple[str, ...],
    timeout: float | None,
    memory: int | None,
    again: bool,
    save: tuple[Path, ...],
) -> None:
    """Convert, verify, check and quantize many models.

    MODELS is a folder of models, or a TOML file that lists models and what to do with them, such as:

    \b
      [batch]
      output = "converted"

    \b
      [[model]]
      path = "classifier.keras"
      plug_ins = ["layers.py"]

    \b
      [[model]]
      path = "saved_model"
      quantize = {form = "int8", samples = "samples.npz"}
      variants = ["dynamic"]

    The options here override the file's [defaults]; a model's own settings override both, and may be all options of
    litefuse.convert. An error, a crash or an exceeded limit, of --timeout and --memory, affects that model alone.

    Finished work is recorded in the output folder: the same command redoes only what has changed.

    The exit code is 0 if everything is done and equal, 1 if a model failed or differs, and 3 if a result is
    inconclusive.
    """  # noqa: D301  click's mark
    for file in save:
        if file.suffix not in {".html", ".xml"}:
            raise click.BadParameter(f"--save takes FILE.html or FILE.xml, not {str(file)!r}")
        check_writable(file, "the table", reads=(models,), option="--save")

    from litefuse.tools.batch_runs.batch_sections import batch_sections, save_junit, save_page
    from litefuse.tools.batch_runs.outcome import BatchResult
    from litefuse.tools.batch_runs.run import batch as run

    given: dict[str, Any] = {"verify": verify, "check": list(targets), "variants": list(variants)}
    given |= {"timeout": timeout, "memory": memory}
    try:
        result: BatchResult = run(
            models,
            output=output,
            defaults={key: value for key, value in given.items() if value is not None and value != []},
            jobs=jobs,
            scheduler=scheduler,
            again=again,
            progress=not value_for_all("quiet"),
        )
    except (KeyboardInterrupt, SystemExit):
        click.echo("interrupted: finished work is kept; the same command does the rest", err=True)
        raise
    for file in save:
        (save_page if file.suffix == ".html" else save_junit)(result, file)
    wrote(*save)
    print_result(result.to_json, lambda: batch_sections(result), _exit_code(result))


def _exit_code(result: Any) -> ExitCode:
    statuses = {outcome.status for outcome in result.outcomes}
    if statuses <= {"done"}:
        return ExitCode.DONE
    return ExitCode.INCONCLUSIVE if statuses <= {"done", "inconclusive"} else ExitCode.FAILED
