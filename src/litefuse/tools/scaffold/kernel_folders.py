"""Folders of kernels in C++: those generated for the composites of a model, and the sources of the pack."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import cast

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.kernels.generator.body import read_bodies
from litefuse.kernels.generator.called_shapes import CalledShapes, CallsJob, known_shapes
from litefuse.kernels.generator.generate import Generated, generate_kernels
from litefuse.litert.cpp.compiler import native_sources
from litefuse.litert.cpp.folders import check_empty, copy_folder, new_folder
from litefuse.litert.runtime.model_content import check_model
from litefuse.support.files.readable import os_errors
from litefuse.support.files.whole_file import write_new
from litefuse.support.options.names import unused
from litefuse.support.processes.process import run_in_worker
from litefuse.tools.scaffold.calls import has_to_be_converted


def generate_for(
    model: Path,
    names: Collection[str],
    folder: Path,
    *,
    always: bool = False,
    batch: int | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[Generated, int]:
    """Generates kernels into a new folder; see :func:`~litefuse.kernels.generator.generate.generate_kernels`.

    Args:
        model: A ``.tflite`` file, or a model to convert, whose file is written into the folder as well.
        names: The composites, or patterns of names; empty for all.
        folder: The folder, which must not exist or be empty.
        always: Keep kernels that are not faster.
        batch: The first size of the model's inputs, where it is open, in the calls that kernels are measured for.
        shapes: The shapes of its inputs in these calls, by name.
        on_step: Called with each step's name.

    Returns:
        What became of them, and how many files were written.

    Raises:
        LitefuseError: The model has no such composite, or the folder cannot be written.
    """
    check_empty(folder)
    content, is_converted = _content(model, on_step)
    name = f"{model.stem if model.is_file() else model.name}.tflite"
    bodies = read_bodies(content, str(model))
    missing = unused(names or ["*"], bodies)
    if missing:
        raise LitefuseError(
            f"no composite is called {' or '.join(map(repr, missing))}" if names else "the model has no composites",
            where=str(model),
            hint=f"The composites are {', '.join(sorted(bodies))}." if bodies else "The model has none.",
        )
    called: CalledShapes
    if batch is not None or shapes:
        job = CallsJob(content, str(model), batch, shapes or {})
        target = "litefuse.kernels.generator.called_shapes:shapes_of_calls"
        called = cast("CalledShapes", run_in_worker(target, job, on_step))
    else:
        called = known_shapes(content, str(model), on_step)
    there = folder.is_dir()
    with new_folder(folder):
        made = generate_kernels(
            content, names or None, folder, model=name, always=always, called=called, on_step=on_step
        )
        if made.library is not None and is_converted:
            write_new(folder / name, content)
    if made.library is None and not there:
        folder.rmdir()
    return made, sum(path.is_file() for path in folder.rglob("*"))


def _content(model: Path, on_step: Callable[[str], None]) -> tuple[bytes, bool]:
    """Returns the ``.tflite`` file, and whether it was converted for that."""
    if has_to_be_converted(model):
        from litefuse.conversion.api import convert

        return convert(model, composites="keep", on_step=on_step).model_bytes, True
    check_model(model)
    with os_errors("the file cannot be read", model, InterpreterError):
        return model.read_bytes(), False


def export_pack(target: Path) -> list[Path]:
    """Copies the pack's sources into a new folder, with a README about how to use them in an app.

    Returns:
        The files, relative to the folder.

    Raises:
        LitefuseError: The folder is not empty or cannot be written.
    """
    sources = native_sources()
    kernels = sorted(path.stem for path in (sources / "kernels").glob("*.cc"))
    readme = Path(__file__).with_name("templates") / "export_readme.md"
    text = readme.read_text("utf-8").replace("@KERNELS@", "\n".join(f"- `kernels/{name}.cc`" for name in kernels))
    with new_folder(target):
        copy_folder(sources, target)
        (target / "README.md").rename(target / "KERNELS.md")
        write_new(target / "README.md", text.encode())
    return sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())
