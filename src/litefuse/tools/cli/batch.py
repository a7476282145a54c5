"""``litefuse batch``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from litefuse.support.options.forms import QUANTIZATIONS
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.cli.json_output import json_option, wrote
from litefuse.tools.cli.output import check_writable, print_result
from litefuse.tools.cli.parameters import OUTPUT, PATH, QUIET, TARGET, process_limit_options


@click.command
@click.argument("models", type=PATH)
@click.option(
    "--output",
    "-o",
    metavar="DIR",
    help="The folder or URL to write to. Default: the one in MODELS under [batch].",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many models to work on at once. Default: the number of cores.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler. Requires litefuse[cluster]."
)
@click.option(
    "--retries", type=click.IntRange(min=0), metavar="N", help="Retry a model whose process died, up to N times (1)."
)
@click.option("--verify/--no-verify", default=None, help="Compare each model with its original, in TensorFlow.")
@click.option(
    "--check", "targets", type=TARGET, multiple=True, help="Check each file for this target; may be repeated."
)
@click.option(
    "--variant",
    "variants",
    type=click.Choice(QUANTIZATIONS),
    multiple=True,
    help="Also write a quantized form of each model; may be repeated.",
)
@process_limit_options
@click.option("--again", is_flag=True, help="Redo finished work, too.")
@click.option("--html", type=OUTPUT, metavar="FILE.html", help="Also write the table as an HTML page.")
@click.option(
    "--junit", type=OUTPUT, metavar="FILE.xml", help="Also write the outcomes as JUnit XML. Requires litefuse[junit]."
)
@json_option("Print the table as JSON to standard output, errors included, and nothing else.")
@QUIET
def batch(
    models: Path,
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    retries: int | None,
    verify: bool | None,
    targets: tuple[str, ...],
    variants: tuple[str, ...],
    timeout: float | None,
    memory: int | None,
    again: bool,
    html: Path | None,
    junit: Path | None,
    quiet: bool,
) -> None:
    """Convert, verify, check and quantize many models.

    MODELS is a TOML file that lists models and what to do with them, or a folder of models. The options here override
    the file's [defaults]; a model's own settings override both.

    Models run in worker processes that are reused. An error, a crash or an exceeded limit affects that model alone.
    --timeout and --memory apply to each model.

    Finished work is recorded in the output folder: the same command resumes where it was interrupted, and redoes only
    what has changed.

    The exit code is 0 if everything is done and equal, 1 if a model failed or differs, and 3 if a result is
    inconclusive.
    """
    for page, option, what in ((html, "--html", "the page"), (junit, "--junit", "the XML for JUnit")):
        if page is not None:
            check_writable(page, what, reads=(models,), option=option)

    from litefuse.tools.batch_runs.batch_sections import batch_sections, check_junit, save_junit, save_page
    from litefuse.tools.batch_runs.outcome import BatchResult
    from litefuse.tools.batch_runs.run import batch as run

    if junit is not None:
        check_junit()
    given: dict[str, Any] = {"verify": verify, "check": list(targets), "variants": list(variants)}
    given |= {"timeout": timeout, "memory": memory}
    try:
        result: BatchResult = run(
            models,
            output=output,
            defaults={key: value for key, value in given.items() if value is not None and value != []},
            jobs=jobs,
            scheduler=scheduler,
            retries=retries,
            again=again,
            progress=not quiet,
        )
    except (KeyboardInterrupt, SystemExit):
        click.echo("interrupted: finished work is kept; the same command does the rest", err=True)
        raise
    if html is not None:
        save_page(result, html)
    if junit is not None:
        save_junit(result, junit)
    wrote(html, junit)
    print_result(result.to_json, lambda: batch_sections(result), _exit_code(result), quiet=quiet)


def _exit_code(result: Any) -> ExitCode:
    statuses = {outcome.status for outcome in result.outcomes}
    if statuses <= {"done"}:
        return ExitCode.DONE
    return ExitCode.INCONCLUSIVE if statuses <= {"done", "inconclusive"} else ExitCode.FAILED
