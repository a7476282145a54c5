"""``litefuse run``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.errors import InterpreterError
from litefuse.tools.cli.arguments import given_parameters
from litefuse.tools.cli.command import Command
from litefuse.tools.cli.json_output import JsonOutput, wrote
from litefuse.tools.cli.output import check_writable, print_result, progress
from litefuse.tools.cli.parameters import (
    INPUTS,
    KERNELS,
    OUTPUT,
    PATH,
    SEED,
    SHAPES,
    check_given_or_drawn,
    parse_shapes,
    repeat_option,
)

_RUNNER = "litefuse.tools.cli.execution:run_job"


@click.command(cls=Command)
@click.argument("model", type=PATH, metavar="MODEL")
@click.option("--prompt", metavar="TEXT", help="Write behind this text with LiteRT-LM's engine: for .litertlm files.")
@click.option("--signature", metavar="KEY", show_default="the only one", help="The signature to run.")
@INPUTS
@SEED
@SHAPES
@KERNELS
@click.option(
    "--output",
    "-o",
    type=OUTPUT,
    metavar="FILE.npz",
    help="Save the outputs to this file instead of printing them; the only output may go to an .npy file.",
)
@repeat_option(1, "Run N times in a row with the same inputs; the last run counts.")
def run(
    model: Path,
    prompt: str | None,
    signature: str | None,
    inputs: Path | None,
    seed: int,
    shape: tuple[str, ...],
    kernels: tuple[str, ...],
    output: Path | None,
    repeat: int,
) -> None:
    """Run a LiteRT model, or let a language model write.

    MODEL is a .tflite file; or, with --prompt, a .litertlm file, which writes the most likely tokens, up to one that
    ends the text or the end of the context.

    Custom ops use the Python kernels of litefuse, of installed plug-ins and of --kernels. The model runs in a child
    process, so that a crash of a kernel or the runtime is reported as an error.
    """
    from litefuse.tools.language_models import is_bundle

    check_given_or_drawn(inputs)
    if prompt is not None:
        _write(model, prompt)
        return
    if is_bundle(model):
        raise click.UsageError("This is a bundle for LiteRT-LM: give it a text to write behind, --prompt TEXT.")
    if output is not None:
        check_writable(output, "the outputs", reads=[model])
    shapes = parse_shapes(shape)

    from litefuse.support.files.readable import os_errors
    from litefuse.support.files.whole_file import whole_file
    from litefuse.support.processes.process import run_model
    from litefuse.support.report.json_form import json_form
    from litefuse.tools.cli.run_job import RunJob, RunResult

    job = RunJob(model, signature, inputs, seed, shapes, kernels, output, None, repeat)
    result: RunResult
    if output is None:
        result = run_model(_RUNNER, job, str(model))
    else:
        # The process may die while it writes the outputs.
        with os_errors("the outputs cannot be written", output, InterpreterError), whole_file(output) as partial:
            result = run_model(_RUNNER, job._replace(partial=partial), str(model))
        wrote(output)
    print_result(lambda: json_form(result.facts), lambda: result.sections)


def _write(model: Path, prompt: str) -> None:
    if others := given_parameters(click.get_current_context()).keys() - {"--prompt", "model"}:
        raise click.BadParameter(f"--prompt excludes {', '.join(sorted(others))}")

    from litefuse.errors import LitefuseError
    from litefuse.support.files.readable import check_file
    from litefuse.support.report.json_form import json_form
    from litefuse.support.report.printable import printable
    from litefuse.tools.cli.run_job import ArraySummary, RunFacts
    from litefuse.tools.language_models import is_bundle
    from litefuse.tools.language_models.engine import EngineJob, ask_engine

    if not is_bundle(check_file(model)):
        raise LitefuseError("--prompt is for .litertlm files, which litefuse lm writes", where=str(model))
    with progress(f"Running {model}"):
        answers = ask_engine(EngineJob(model, prompts=[prompt]))
    texts = {"prompt": prompt, "text": answers.written[0]}
    given, written = (ArraySummary(name, "string", (), None, None, None, (text,)) for name, text in texts.items())
    facts = RunFacts(str(model), None, False, None, (given,), (written,), tuple(answers.seconds), ())
    if not JsonOutput.of(click.get_current_context()).is_asked_for:
        click.echo(printable(texts["text"]))
        return
    print_result(lambda: json_form(facts), list)
