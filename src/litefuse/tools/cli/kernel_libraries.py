"""``litefuse kernels build`` and ``litefuse kernels test``."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from litefuse.tools.cli.command import PLACE, Command
from litefuse.tools.cli.failures import VERDICT_CODES
from litefuse.tools.cli.json_output import wrote
from litefuse.tools.cli.output import check_writable, print_result, print_sections, progress
from litefuse.tools.cli.parameters import PATH, SEED, max_error_option, output_option

if TYPE_CHECKING:
    from litefuse.tools.kernel_check.check import CheckedCall


@click.command("build", cls=Command)
@click.argument("sources", nargs=-1, required=True, type=PATH, metavar="FILE.cc...")
@output_option("LIB.so", "the first file's name", "The library to write.")
@click.option(
    "--register",
    multiple=True,
    metavar="OP=NAMESPACE::FUNCTION",
    help="The function that returns an op's registration, unless its name says so; may be repeated.",
)
@click.option(
    "--tflite-headers",
    type=PATH,
    metavar="DIR",
    help="A checkout of LiteRT or TensorFlow, whose headers replace litefuse's own.",
)
@click.option(
    "--for",
    "model",
    type=PATH,
    metavar="MODEL",
    help="A model whose names of ops the kernels get, in its capitals and underscores.",
)
@click.option("-I", "includes", multiple=True, type=PATH, metavar="DIR", help="A folder to search for headers first.")
@click.option("-D", "definitions", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "--sanitize",
    is_flag=True,
    help="Make the library abort at the first access outside its memory, and at undefined behavior.",
)
def build(
    sources: tuple[Path, ...],
    output: Path | None,
    register: tuple[str, ...],
    tflite_headers: Path | None,
    model: Path | None,
    includes: tuple[Path, ...],
    definitions: tuple[str, ...],
    sanitize: bool,
) -> None:
    """Build a library of kernels written for TensorFlow Lite.

    FILE.cc are unchanged sources that include tensorflow/lite/... or tflite/...: litefuse has headers of these names.

    A kernel is named by AddCustom, or else by its function: MyOp for Register_MyOp(), RegisterMyOp() and
    Register_MY_OP(). With --for, it gets the name by which the model calls it, such as my_op. MODEL is a .tflite file,
    a SavedModel's folder, a Keras file or a frozen graph.

    The environment variables CXX and CXXFLAGS name the compiler, by default the system's, and options for it, such as
    -std=c++20; by default, the standard is C++17, or C++20 where a source needs it.
    """
    if output is None:
        output = Path(f"{sources[0].stem}{'.dll' if sys.platform == 'win32' else '.so'}")
    check_writable(output, "the library", reads=sources)

    from litefuse.litert.cpp.kernel_library import build_kernels, runs_here
    from litefuse.litert.cpp.registrations import plain_letters
    from litefuse.support.report.sections import Section, count_of

    called: list[str] = []
    if model is not None:
        from litefuse.tools.scaffold.calls import called_ops

        with progress(f"Reading {model}") as on_step:
            called = called_ops(model, on_step)
    with progress(f"Compiling {', '.join(path.name for path in sources)}"):
        names = build_kernels(
            sources,
            output,
            register=dict(map(_registration, register)),
            tflite_headers_folder=tflite_headers,
            includes=includes,
            options=[*(f"-D{definition}" for definition in definitions), *shlex.split(os.environ.get("CXXFLAGS", ""))],
            sanitize=sanitize,
            ops=called,
        )
    note = f"Next: litefuse run MODEL.tflite --kernels {output}"
    if not runs_here(output):
        note = "It is for another machine: give it to an interpreter there as an external delegate."
    elif sanitize:
        note = f"Next: litefuse kernels test {output} MODEL, which starts a process that can load it."
    letters = set(map(plain_letters, called))
    uncalled = {name for name in names if model is not None and plain_letters(name) not in letters}
    rows = [(name, f"{model} does not call it" if name in uncalled else "") for name in names]
    print_sections([Section(f"Written to {output}: {count_of(len(names), 'kernel')}", rows, note=note)])


def _registration(text: str) -> tuple[str, str]:
    op, equals, function = text.partition("=")
    if not equals or not op or not function:
        raise click.BadParameter(f"--register takes OP=NAMESPACE::FUNCTION, not {text!r}")
    return op, function


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
