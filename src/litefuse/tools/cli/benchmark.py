"""``litefuse benchmark``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from litefuse.tools.cli.arguments import given_parameters
from litefuse.tools.cli.command import Command
from litefuse.tools.cli.output import is_verbose, print_result, progress
from litefuse.tools.cli.parameters import (
    INPUTS,
    KERNELS,
    PATH,
    SEED,
    SHAPES,
    SIGNATURES,
    check_given_or_drawn,
    parse_shapes,
    repeat_option,
)


def _parse_top(_context: click.Context, _parameter: click.Parameter, value: str) -> int | None:
    """Parses how many ops are listed; None for all."""
    if value == "all":
        return None
    if not value.isdecimal():
        raise click.BadParameter(f"{value!r} is neither a number nor 'all'")
    return int(value)


@click.command(cls=Command)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.argument("other", type=PATH, required=False, metavar="[OTHER.tflite]")
@SIGNATURES
@INPUTS
@SEED
@SHAPES
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Threads of the runtime."
)
@repeat_option(1000, "Measure at most N calls.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=86400),
    default=2.0,
    show_default=True,
    metavar="S",
    help="Measure calls for at most S seconds, and ops for half as long.",
)
@click.option(
    "--warm-up",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Calls that do not count.",
)
@click.option(
    "--top",
    callback=_parse_top,
    default="10",
    show_default=True,
    metavar="N|all",
    help="List the N slowest ops, kinds and layers, or all; of two models, if this is given. 0: do not time the ops.",
)
@click.option("--no-xnnpack", is_flag=True, help="Run without XNNPACK.")
@KERNELS
def benchmark(
    model: Path,
    other: Path | None,
    signature: tuple[str, ...],
    inputs: Path | None,
    shape: tuple[str, ...],
    top: int | None,
    no_xnnpack: bool,
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

    Of a .litertlm file, LiteRT-LM's engine is measured: tokens a second of prompts and of what is written, the time to
    the first token, memory. Only --threads, --repeat and --seconds count there.
    """
    from litefuse.tools.language_models import is_bundle

    if is_bundle(model):
        _benchmark_bundle(model, options)
        return
    check_given_or_drawn(inputs)
    shapes = parse_shapes(shape)

    from litefuse.tools.benchmarking.benchmark import benchmark as measure
    from litefuse.tools.benchmarking.benchmark_sections import benchmark_sections

    # Other options are arguments of the same names.
    with progress(f"Measuring {model}") as show:
        measured = measure(
            model,
            other,
            signatures=signature or None,
            inputs=inputs,
            shapes=shapes,
            ops=top != 0,
            xnnpack=not no_xnnpack,
            on_step=show,
            **options,
        )
    asked = other is not None and top != 0 and "--top" in given_parameters(click.get_current_context())
    print_result(measured.to_json, lambda: benchmark_sections(measured, top, details=asked or is_verbose()))


def _benchmark_bundle(model: Path, options: Mapping[str, Any]) -> None:
    counting = ("threads", "repeat", "seconds")
    allowed = {"model", *(f"--{name}" for name in counting)}
    if others := given_parameters(click.get_current_context()).keys() - allowed:
        raise click.BadParameter(f"a .litertlm file excludes {', '.join(sorted(others))}")

    from litefuse.tools.language_models.benchmarking import benchmark_bundle, language_sections

    with progress(f"Measuring {model}"):
        measured = benchmark_bundle(model, **{name: options[name] for name in counting})
    print_result(measured.to_json, lambda: language_sections(measured))
