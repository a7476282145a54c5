"""``litefuse show``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from litefuse.errors import LitefuseError
from litefuse.support.report.printable import printable
from litefuse.tools.cli.output import progress
from litefuse.tools.cli.parameters import KERNELS, OUTPUT, PATH, split_names

if TYPE_CHECKING:
    from litefuse.tools.explorer.node_data import NodeData

# How long calls are measured for the times of ops.
_SECONDS = 1.0


@click.command
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.option("--bytes", "sizes", is_flag=True, help="Show the bytes of each op's constants.")
@click.option("--verify", "original", type=PATH, metavar="ORIGINAL", help="Show how far each op is from ORIGINAL's.")
@click.option("--time", "times", is_flag=True, help="Show how long each op takes in a call, in microseconds.")
@click.option("--node-data", type=PATH, multiple=True, metavar="FILE.json", help="More node data; may be repeated.")
@click.option(
    "--write-node-data", type=OUTPUT, metavar="FOLDER", help="Write node data to this folder, and open nothing."
)
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="The port of the server. Default: a free one.")
@click.option("--no-open", is_flag=True, help="Print the address instead of opening a browser.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="E",
    help="With --verify: the error up to which ops are green. Default: 1e-4; for ops of a quantized model, what its "
    "quantization explains.",
)
@click.option("--tags", metavar="A,B", help="With --verify: the tags of a SavedModel's graph. Default: serve.")
@KERNELS
def show(
    model: Path,
    sizes: bool,
    original: Path | None,
    times: bool,
    node_data: tuple[Path, ...],
    write_node_data: Path | None,
    port: int | None,
    no_open: bool,
    tolerance: float | None,
    tags: str | None,
    kernels: tuple[str, ...],
) -> None:
    """Show a LiteRT model in Model Explorer.

    The graph opens in a browser, folded by layer names, with custom ops under their own names, their options, and the
    bodies of composites. --bytes, --time and --verify color the nodes; Model Explorer sums them up by layer.

    Model Explorer is a separate package: pip install "litefuse[explorer]". --write-node-data does without it, and
    writes files for a Model Explorer that you already have.

    ORIGINAL is as for `litefuse verify`: use one that you trust.
    """
    if write_node_data is not None and not (sizes or times or original):
        raise click.UsageError("--write-node-data needs at least one of --bytes, --time and --verify.")
    from litefuse.tools.explorer.node_data import byte_data, read_node_data
    from litefuse.tools.explorer.node_data import write_node_data as write
    from litefuse.tools.explorer.viewer import check_installed, show_model

    if write_node_data is None:
        check_installed()
    data = [read_node_data(file) for file in node_data]
    # Model Explorer colors the nodes by the last of these, until another one is chosen.
    computed: list[NodeData] = []
    if sizes:
        computed.append(byte_data(model))
    if times:
        computed.append(_times(model, kernels))
    if original is not None:
        computed.append(_errors(model, original, tolerance, tags, kernels))
    data += computed
    for values in data:
        if values.left_out:
            click.echo(
                f"{values.name}: {values.left_out:,} values are left out, because their ids are not unique", err=True
            )
    if write_node_data is None:
        show_model(model, data, port=port, opens=not no_open)
        return
    for path in write(write_node_data, computed):
        click.echo(printable(str(path)))


def _times(model: Path, kernels: tuple[str, ...]) -> NodeData:
    """Measures the ops of a model."""
    from litefuse.tools.benchmarking.benchmark import benchmark
    from litefuse.tools.explorer.node_data import op_seconds, time_data

    with progress(f"Measuring {model}") as on_step:
        measured = benchmark(model, seconds=_SECONDS, kernel_modules=kernels, on_step=on_step)
    seconds, unknown = op_seconds(measured.measurements)
    if unknown:
        click.echo(f"the time of {unknown:,} ops is not known: XNNPACK runs them in one with others", err=True)
    return time_data(model, seconds)


def _errors(
    model: Path, original: Path, tolerance: float | None, tags: str | None, kernels: tuple[str, ...]
) -> NodeData:
    """Compares the layers of a model with the original's."""
    from litefuse.conversion.verify.against_original import verify_model
    from litefuse.tools.explorer.node_data import error_data

    with progress(f"Verifying {model}") as on_step:
        verification = verify_model(
            model,
            original,
            tolerance=tolerance,
            coverage_seconds=0.0,  # one call shows the layers
            tags=split_names(tags),
            kernel_modules=kernels,
            layers=True,
            on_step=on_step,
        )
    layers = verification.layers
    if layers is None or (layers.problem and not layers.judged):
        reason = "there was no call" if layers is None else layers.problem
        raise LitefuseError(f"the layers cannot be compared: {reason}", where=str(model))
    return error_data(model, layers, verification.tolerance)
