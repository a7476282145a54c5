"""``litefuse run``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.cli.output import check_writable, print_sections
from litefuse.cli.parameters import PATH, parse_shape

__all__ = ["run"]


@click.command
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.option("--signature", metavar="KEY", help="The signature to run. Default: the only one.")
@click.option("--inputs", type=PATH, metavar="FILE.npz", help="The inputs, by their names in the signature.")
@click.option(
    "--random",
    type=click.IntRange(min=0),
    metavar="SEED",
    help="Random inputs. Default, without --inputs: seed 0.",
)
@click.option(
    "--shape",
    multiple=True,
    metavar="NAME=1,2,3",
    help="The shape of a random input; may be repeated. Default: the model's, 1 for an unknown size.",
)
@click.option(
    "--kernels",
    multiple=True,
    metavar="FILE.py|MODULE",
    help="Python code that registers kernels of custom ops; may be repeated.",
)
@click.option("--output", "-o", type=PATH, metavar="FILE.npz", help="Save the outputs there instead of printing them.")
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Run N times in a row with the same inputs; the last run counts.",
)
def run(
    model: Path,
    signature: str | None,
    inputs: Path | None,
    random: int | None,
    shape: tuple[str, ...],
    kernels: tuple[str, ...],
    output: Path | None,
    repeat: int,
) -> None:
    """Run a LiteRT model.

    Custom ops run with the Python kernels of litefuse, of installed plug-ins, and those that --kernels registers.
    """
    if inputs is not None and (random is not None or shape):
        raise click.BadParameter("--inputs excludes --random and --shape")
    if output is not None:
        check_writable(output, "the outputs", reads=[model])
    shapes = dict(parse_shape(each) for each in shape)

    from litefuse.cli.execution import execute, open_model, save_outputs, summary_rows
    from litefuse.kernel_modules import import_kernels
    from litefuse.report.sections import Section, count_of
    from litefuse.runtime.inputs import input_specs, load_inputs, random_inputs

    import_kernels(kernels)
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
        import statistics

        times = [
            ("first", f"{execution.seconds[0] * 1000:.3f} ms"),
            ("median of the others", f"{statistics.median(execution.seconds[1:]) * 1000:.3f} ms"),
        ]
        note = f"The outputs changed from the first run to the last: {', '.join(execution.changed)}"
        sections.append(Section(f"Time, {count_of(repeat, 'run')}", times, note=note if execution.changed else ""))
    print_sections(sections)
