"""``litefuse kernels build``."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click

from litefuse.tools.cli.command import Command
from litefuse.tools.cli.output import check_writable, print_sections, progress
from litefuse.tools.cli.parameters import OUTPUT, PATH


@click.command("build", cls=Command)
@click.argument("sources", nargs=-1, required=True, type=PATH, metavar="FILE.cc...")
@click.option(
    "--output", "-o", type=OUTPUT, metavar="LIB.so", show_default="the first file's name", help="The library to write."
)
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
        from litefuse.tools.scaffold.saved_model import called_ops

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
