"""``litefuse kernels``: ``list``, ``new``, ``export`` and the other commands of kernels."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.command import Group
from litefuse.tools.cli.kernel_libraries import build, test
from litefuse.tools.cli.output import print_result, print_sections, progress
from litefuse.tools.cli.parameters import KERNELS, PATH, folder_option, parse_shapes


@click.group(cls=Group)
def kernels() -> None:
    """List, write, generate, build, test or export kernels of custom ops."""


for _command in (build, test):
    kernels.add_command(_command)


@kernels.command("list")
@KERNELS
def list_kernels(kernels: tuple[str, ...]) -> None:
    """List the available kernels.

    Shows the languages that each is written in, where it runs, and its dtypes. If an op has several, the first is used.
    """
    from litefuse.kernels.pack.catalog import available_kernels, kernel_section
    from litefuse.litert.runtime.loading import load_kernels

    load_kernels(kernels)
    available = available_kernels()
    print_result(lambda: {"kernels": [kernel.to_json() for kernel in available]}, lambda: [kernel_section(available)])


@kernels.command("new")
@click.argument("name")
@click.option(
    "--from",
    "model",
    type=PATH,
    metavar="MODEL",
    help="The model that has the op: a .tflite file, a SavedModel's folder, a Keras file or a frozen graph.",
)
@folder_option("the op's name, in snake case")
@click.option("--package", is_flag=True, help="Write a Python package, not for the op of one model.")
def new_kernel(name: str, model: Path | None, output: Path | None, *, package: bool) -> None:
    """Write the skeleton of a kernel, or of a package of them.

    NAME is the name of the op or composite.

    \b
    Examples:
      litefuse kernels new MyOp --from model.tflite
      litefuse kernels new MyOp --package

    Writes a kernel in Python and in C++, with the op's inputs, outputs and options, a CMake file, and a test that runs
    and compares both. All of it works right away; the kernels return zeros until you edit them.

    With --package, writes a Python package instead: a fusion, a recognizer and a kernel in C++ of an example to edit,
    with their entry points, a test, and a workflow that builds wheels. Once it is installed, litefuse uses all of it.
    """  # noqa: D301  click's mark
    if package == (model is not None):
        command = f"\n  litefuse kernels new {name}"
        raise click.UsageError(
            "Name the model that has the op, for a kernel with its inputs, outputs and options; or write a package "
            f"with an example to edit:{command} --from model.tflite{command} --package"
        )
    from litefuse.litert.cpp.folders import check_empty
    from litefuse.support.report.sections import Section, count_of
    from litefuse.tools.scaffold.project import module_name, new_package, new_project, read_ops

    folder = output if output is not None else Path(module_name(name))
    check_empty(folder)
    if model is None:
        note = f"Next: cd {folder} && pip install . pytest && python -m pytest, then edit what is marked EDIT."
        print_sections([Section(f"Written to {folder}", [(file,) for file in new_package(name, folder)], note=note)])
        return
    with progress(f"Reading {model}") as on_step:
        calls = read_ops(model, [name], on_step)[name]
    project = new_project(name, calls, model.name, folder)
    note = f"Next: cd {folder} && python -m pytest, then edit what is marked EDIT. README.md explains the steps."
    title = f"Written to {project.folder}, for {count_of(project.calls, 'call')} of {name} in {model.name}"
    print_sections([Section(title, [(file,) for file in project.files], note=note)])


@kernels.command("generate")
@click.argument("model", type=PATH)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@folder_option("the model's name with _kernels")
@click.option("--always", is_flag=True, help="Also keep kernels that are not faster than their bodies.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    metavar="N",
    help="Measure kernels at batch size N: the first size of every input whose first size is not fixed.",
)
@click.option(
    "--shape",
    multiple=True,
    metavar="NAME=1,2,3",
    help="Measure kernels with an input of this shape; may be repeated.",
)
def generate(
    model: Path,
    names: tuple[str, ...],
    output: Path | None,
    always: bool,
    batch: int | None,
    shape: tuple[str, ...],
) -> None:
    """Generate C++ kernels for composites of a model from their bodies.

    MODEL is a .tflite file with composites (STABLEHLO_COMPOSITE), or a model to convert with its composites kept; that
    file is written to the folder, too. NAME is a composite or a pattern such as 'norm*'. Default: all composites.

    Each kernel is compiled, compared with the body on random inputs, and measured against it in LiteRT; kernels that
    differ or are not faster are declined, with the reason. Speed depends on sizes: if the model leaves some open, give
    typical ones with --batch and --shape. --timeout covers all of this.

    README.md in the folder shows how to build the kernels for a device and load them.
    """
    from litefuse.support.report.sections import Section
    from litefuse.tools.scaffold.kernel_folders import generate_for

    shapes = parse_shapes(shape)
    folder = output if output is not None else Path(f"{model.stem or 'model'}_kernels")
    with progress(f"Generating kernels for {model}") as on_step:
        generated, files = generate_for(
            model,
            names,
            folder,
            always=always,
            batch=batch,
            shapes=shapes,
            on_step=on_step,
        )
    rows = [(name, str(kernel)) for name, kernel in generated.kernels.items()]
    rows += [(name, f"declined: {reason}") for name, reason in generated.declined.items()]
    title = f"Kernels: {len(generated.kernels):,} of {len(rows):,} composites"
    if not generated.kernels:
        print_sections([Section(title, rows, headings=("composite", "outcome"), note="Nothing was written.")])
        raise click.exceptions.Exit(1)
    note = f"Written to {folder}: {files} files. README.md explains how to use them."
    print_sections([Section(title, rows, headings=("composite", "outcome"), note=note)])


@kernels.command("export")
@click.argument("former", required=False, metavar="")
@folder_option("litefuse_kernels")
def export_kernels(former: str | None, output: Path | None) -> None:
    """Write the C++ sources of the kernel pack, ready for an app.

    README.md in the folder shows how to build and register them: with an op resolver, with the C API, or as an external
    delegate.
    """
    if former is not None:
        raise click.UsageError(f"The folder is now given with --output: litefuse kernels export -o {former}")
    from litefuse.support.report.sections import Section
    from litefuse.tools.scaffold.kernel_folders import export_pack

    files = export_pack(output := output or Path("litefuse_kernels"))
    print_sections([Section(f"Written to {output}: {len(files)} files", note="README.md says how an app uses them.")])
