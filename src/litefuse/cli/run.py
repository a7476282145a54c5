"""``litefuse run``."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated

import typer

from litefuse.cli.output import check_writable, print_sections

__all__ = ["run"]


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL.tflite", help="A LiteRT model.")],
    signature: Annotated[
        str | None, typer.Option(metavar="KEY", help="The signature to run. Default: the only one.")
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="The inputs, by their names in the signature.")
    ] = None,
    random: Annotated[
        int | None, typer.Option(metavar="SEED", min=0, help="Random inputs. Default, without --inputs: seed 0.")
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=1,2,3",
            help="The shape of a random input; may be repeated. Default: the model's, 1 for an unknown size.",
        ),
    ] = None,
    kernels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py|MODULE", help="Python code that registers kernels of custom ops; may be repeated."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.npz", help="Save the outputs there instead of printing them."),
    ] = None,
    repeat: Annotated[
        int, typer.Option(metavar="N", min=1, help="Run N times in a row with the same inputs; the last run counts.")
    ] = 1,
) -> None:
    """Run a LiteRT model.

    Custom ops run with the Python kernels of litefuse, of installed plug-ins, and those that --kernels registers.
    """
    if inputs is not None and (random is not None or shape):
        raise typer.BadParameter("--inputs excludes --random and --shape")
    if output is not None:
        check_writable(output, "the outputs")
    shapes = dict(_parse_shape(each) for each in shape or ())

    from litefuse.cli.execution import execute, input_specs, open_model, save_outputs, summary_rows
    from litefuse.cli.inputs import load_inputs, random_inputs
    from litefuse.cli.kernel_modules import import_kernels
    from litefuse.report.sections import Section, count_of

    import_kernels(kernels or ())
    interpreter = open_model(model)
    specs = input_specs(interpreter, signature)
    arrays = load_inputs(inputs, specs) if inputs is not None else random_inputs(specs, random or 0, shapes)
    execution = execute(interpreter, signature, arrays, repeat)
    if output is not None:
        save_outputs(execution.outputs, output)
    headings = ("name", "dtype", "shape", "min", "max", "mean", "first values")
    sections: list[Section] = []
    if inputs is None and specs:
        sections.append(Section(f"Random inputs, seed {random or 0}", summary_rows(arrays), headings=headings))
    if output is None:
        sections.append(Section("Outputs", summary_rows(execution.outputs), headings=headings))
    else:
        sections.append(Section(f"Outputs written to {output}"))
    if repeat > 1:
        times = [
            ("first", f"{execution.seconds[0] * 1000:.3f} ms"),
            ("median of the others", f"{statistics.median(execution.seconds[1:]) * 1000:.3f} ms"),
        ]
        note = f"The outputs changed from the first run to the last: {', '.join(execution.changed)}"
        sections.append(Section(f"Time, {count_of(repeat, 'run')}", times, note=note if execution.changed else ""))
    print_sections(sections)


def _parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, equals, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.split(",")) if sizes else ()
    except ValueError:
        shape = (-1,)
    if not equals or not name or min(shape, default=0) < 0:
        raise typer.BadParameter(f"--shape {text!r} is not NAME=SIZE,SIZE,...")
    return name, shape
