"""``litefuse run``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.errors import InterpreterError
from litefuse.tools.cli.command import Command
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import check_writable, print_result
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
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.option("--signature", metavar="KEY", show_default="the only one", help="The signature to run.")
@INPUTS
@SEED
@SHAPES
@KERNELS
@click.option(
    "--output", "-o", type=OUTPUT, metavar="FILE.npz", help="Save the outputs to this file instead of printing them."
)
@repeat_option(1, "Run N times in a row with the same inputs; the last run counts.")
def run(
    model: Path,
    signature: str | None,
    inputs: Path | None,
    seed: int,
    shape: tuple[str, ...],
    kernels: tuple[str, ...],
    output: Path | None,
    repeat: int,
) -> None:
    """Run a LiteRT model.

    Custom ops use the Python kernels of litefuse, of installed plug-ins and of --kernels. The model runs in a child
    process, so that a crash of a kernel or the runtime is reported as an error.
    """
    check_given_or_drawn(inputs)
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
