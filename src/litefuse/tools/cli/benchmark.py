"""``litefuse benchmark``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from litefuse.tools.cli.json_output import json_option
from litefuse.tools.cli.output import HTML, check_page, is_verbose, print_result, progress, save_page
from litefuse.tools.cli.parameters import (
    INPUTS,
    KERNELS,
    PATH,
    RANDOM,
    SIGNATURES,
    OptionalValueCommand,
    check_given_or_drawn,
    parse_shapes,
    process_limit_options,
)


def _parse_top(_context: click.Context, _parameter: click.Parameter, value: str) -> int | None:
    """Parses how many ops are listed; None for all."""
    if value == "all":
        return None
    if not value.isdecimal():
        raise click.BadParameter(f"{value!r} is neither a number nor 'all'")
    return int(value)


@click.command(cls=OptionalValueCommand)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.argument("other", type=PATH, required=False, metavar="[OTHER.tflite]")
@SIGNATURES
@INPUTS
@RANDOM
@click.option(
    "--shape",
    multiple=True,
    metavar="NAME=1,2,3",
    help="The shape of a generated input; may be repeated. Default: the model's; "
    "open sizes are 1 for an input's first and 32 for others, or other sizes that the model accepts.",
)
@click.option("--threads", type=click.IntRange(min=1), default=1, metavar="N", help="Threads of the runtime (1).")
@click.option("--calls", type=click.IntRange(min=1), default=1000, metavar="N", help="Measure at most N calls (1000).")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=86400),
    default=2.0,
    metavar="S",
    help="Measure calls for at most S seconds (2), and ops for half as long.",
)
@click.option("--warm-up", type=click.IntRange(min=0), default=3, metavar="N", help="Calls that do not count (3).")
@click.option(
    "--ops",
    "top",
    callback=_parse_top,
    default="10",
    metavar="N|all",
    help="List the N slowest ops, kinds and layers, or all (10). 0: do not time the ops.",
)
@click.option("--no-xnnpack", is_flag=True, help="Run without XNNPACK.")
@KERNELS
@process_limit_options
@HTML
@json_option("Print all measurements as JSON.")
def benchmark(
    model: Path,
    other: Path | None,
    signature: tuple[str, ...],
    inputs: Path | None,
    random: int | None,
    shape: tuple[str, ...],
    top: int | None,
    no_xnnpack: bool,
    kernels: tuple[str, ...],
    html: Path | None,
    **options: Any,
) -> None:
    """Measure how long a LiteRT model takes, and which ops take the time.

    First, calls are measured as LiteRT makes them, without copying inputs and outputs; then with a clock around each
    op, including those in loop bodies and those that XNNPACK runs. Ops are listed by their index in the file, after
    that of their subgraph and a colon if it is not the first.

    With OTHER.tflite, both are measured, then called in turn for the ratio: the time of OTHER divided by that of the
    model, so above 1 if the model is faster.

    Custom ops use the Python and native kernels of litefuse, of installed plug-ins and of --kernels. Everything runs in
    child processes.
    """
    check_given_or_drawn(inputs, random, shape)
    check_page(html, (model, other, inputs))
    shapes = parse_shapes(shape)

    from litefuse.litert.runtime.input_specs import load_arrays
    from litefuse.tools.benchmarking.benchmark import benchmark as measure
    from litefuse.tools.benchmarking.benchmark_sections import benchmark_sections

    # Other options are arguments of the same names.
    with progress(f"Measuring {model}") as show:
        measured = measure(
            model,
            other,
            signatures=signature or None,
            inputs=None if inputs is None else load_arrays(inputs),
            shapes=shapes,
            seed=random or 0,
            ops=top != 0,
            xnnpack=not no_xnnpack,
            kernel_modules=kernels,
            on_step=show,
            **options,
        )
    save_page(html, model, benchmark=measured)
    print_result(measured.to_json, lambda: benchmark_sections(measured, top, details=is_verbose()))
