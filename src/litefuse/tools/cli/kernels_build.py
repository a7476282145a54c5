"""``litefuse kernels build``."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.output import check_writable, print_sections, progress
from litefuse.tools.cli.parameters import OUTPUT, PATH


@click.command("build")
@click.argument("sources", nargs=-1, required=True, type=PATH, metavar="FILE.cc...")
@click.option("--output", "-o", type=OUTPUT, required=True, metavar="LIB.so", help="The library to write.")
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
@click.option("-I", "includes", multiple=True, type=PATH, metavar="DIR", help="A folder to search for headers first.")
@click.option("-D", "definitions", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("--compiler", metavar="COMMAND", help="The C++ compiler. Default: that of CXX, else the system's.")
@click.option(
    "--sanitize",
    is_flag=True,
    help="Make the library abort at the first access outside its memory, and at undefined behavior.",
)
def build(
    sources: tuple[Path, ...],
    output: Path,
    register: tuple[str, ...],
    tflite_headers: Path | None,
    includes: tuple[Path, ...],
    definitions: tuple[str, ...],
    compiler: str | None,
    sanitize: bool,
) -> None:
    """Build a library of kernels written for TensorFlow Lite.

    FILE.cc are unchanged sources that include tensorflow/lite/... or tflite/...: litefuse has headers of these names.

    A kernel is named by AddCustom, or else by its function: MyOp for Register_MyOp() and RegisterMyOp().
    """
    check_writable(output, "the library", reads=sources)

    from litefuse.litert.cpp.kernel_library import build_kernels, runs_here
    from litefuse.support.report.sections import Section, count_of

    with progress(f"Compiling {', '.join(path.name for path in sources)}"):
        names = build_kernels(
            sources,
            output,
            register=dict(map(_registration, register)),
            tflite_headers_folder=tflite_headers,
            includes=includes,
            options=[f"-D{definition}" for definition in definitions],
            compiler=compiler,
            sanitize=sanitize,
        )
    note = f"Next: litefuse run MODEL.tflite --kernels {output}"
    if not runs_here(output):
        note = "It is for another machine: give it to an interpreter there as an external delegate."
    elif sanitize:
        note = f"Next: litefuse kernels test {output} MODEL, which starts a process that can load it."
    print_sections(
        [Section(f"Written to {output}: {count_of(len(names), 'kernel')}", [(name,) for name in names], note=note)]
    )


def _registration(text: str) -> tuple[str, str]:
    op, equals, function = text.partition("=")
    if not equals or not op or not function:
        raise click.BadParameter(f"--register takes OP=NAMESPACE::FUNCTION, not {text!r}")
    return op, function
