"""``litefuse kernels test``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from litefuse.tools.cli.command import PLACE, Command
from litefuse.tools.cli.failures import VERDICT_CODES
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import print_result, progress
from litefuse.tools.cli.parameters import PATH, SEED, max_error_option

if TYPE_CHECKING:
    from litefuse.tools.kernel_check.check import CheckedCall


@click.command("test", cls=Command)
@click.argument("library", type=PATH, metavar="LIB.so|PACKAGE")
@click.argument("model", type=PATH)
@click.option("--op", "ops", multiple=True, metavar="NAME", show_default="all", help="An op to test; may be repeated.")
@max_error_option(1e-5)
@SEED
@click.option(
    "--save",
    type=PLACE,
    metavar="DIR",
    help="Save the calls that differ to this folder: for each a model, its inputs and the expected outputs.",
)
def test(
    library: Path,
    model: Path,
    ops: tuple[str, ...],
    max_error: float,
    seed: int,
    save: Path | None,
) -> None:
    """Compare kernels with the composites or ops that they implement.

    LIB.so is a library of kernels, such as from `litefuse kernels build`; PACKAGE is an installed package with one.
    MODEL has calls of their ops: the folder of a SavedModel, a .keras, .h5 or .tflite file, or a frozen graph.

    Each kind of call runs in LiteRT with the library, several times with random inputs and with several sizes of
    dynamic dimensions, in a process of its own. It is compared with the body of the composite, or with TensorFlow's op
    of the same name, which requires TensorFlow. A .tflite file lacks the bodies of composites that became custom ops;
    the model that it was converted from has them.

    A kernel that overwrites an input or leaves elements of an output unfilled differs, too.

    A library built with --sanitize aborts at its first access outside its memory.

    For a kernel that differs, the report has the worst call, its inputs and the element. With --save, `litefuse verify`
    and `litefuse run` can repeat that call, also in a debugger.

    The exit code is 0 if all results are equal, 1 if one differs or a kernel crashes or misuses memory, and 3 if a
    result is unknown.
    """
    from litefuse.litert.runtime.loading import library_of_package
    from litefuse.tools.kernel_check.check import check_kernels, worst
    from litefuse.tools.kernel_check.kernel_check_sections import check_sections

    library = library if library.exists() else library_of_package(str(library)) or library
    with progress(f"Testing {library}") as on_step:
        checked = check_kernels(library, model, ops=ops, tolerance=max_error, seed=seed, on_step=on_step)
    saved = [] if save is None else _save(save, checked)
    wrote(*saved)
    verdict = worst(checked)
    print_result(
        lambda: {"verdict": verdict, "calls": [call.to_json() for call in checked]},
        lambda: check_sections(str(library), checked, max_error, [*map(str, saved[::3])]),
        VERDICT_CODES[verdict],
    )


def _save(folder: Path, checked: Sequence[CheckedCall]) -> list[Path]:
    """Writes the calls that differ; returns the files: of each, the model, its inputs and what is expected."""
    from litefuse.tools.cli.execution import save_outputs

    written: list[Path] = []
    for number, call in enumerate(checked):
        differing = None if call.verification is None else call.verification.differing
        if differing is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{re.sub(r'[^A-Za-z0-9_-]', '_', call.op)}_{number}.tflite"
        files = place, place.with_suffix(".inputs.npz"), place.with_suffix(".expected.npz")
        place.write_bytes(call.model)
        save_outputs(differing.inputs, files[1])
        save_outputs(differing.expected, files[2])
        written += files
    return written
