"""Project folder of a new kernel, or of a package with one."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from litefuse.errors import LitefuseError
from litefuse.kernels.generator.op_calls import Call, bind_constants, one_op_model, read_calls
from litefuse.litert.cpp.folders import copy_kit, filled, new_folder
from litefuse.support.files.whole_file import write_new
from litefuse.tools.scaffold.calls import has_to_be_converted, read_saved_model
from litefuse.tools.scaffold.cpp_kernel import cpp_kernel, cpp_types, known_types
from litefuse.tools.scaffold.python_kernel import UNWRITTEN, class_name, python_kernel

_TEMPLATES = Path(__file__).with_name("templates")
# The names of modules that a package would hide.
_TAKEN = sys.stdlib_module_names | {"litefuse", "numpy", "tensorflow"}
# At most this many calls of different types or options become test cases.
_MOST_CASES = 8


class Project(NamedTuple):
    """A written project.

    Attributes:
        folder: The folder.
        files: The op's files, relative to it; those of the kit are in ``kit``.
        calls: The number of different calls in the model.
    """

    folder: Path
    files: tuple[str, ...]
    calls: int


def module_name(op: str) -> str:
    """Returns the op's name in snake case, as a module name."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name(op))
    return words.lower()


def read_ops(model: Path, ops: Collection[str], on_step: Callable[[str], None]) -> dict[str, list[Call]]:
    """Reads the calls of ops in a ``.tflite`` file, or in a model that is converted for that.

    Raises:
        LitefuseError: The model cannot be read, or has none of the ops.
    """
    if has_to_be_converted(model):
        calls, names = read_saved_model(model, ops, on_step)
    else:
        calls, names = read_calls(model, ops)
    if not any(calls.values()):
        there = ", ".join(names)
        wanted = " or ".join(map(repr, sorted(ops)))
        raise LitefuseError(
            f"no custom op or composite is called {wanted}",
            where=str(model),
            hint=f"There are: {there}." if there else "The model has none: LiteRT runs all of it.",
        )
    return calls


def new_project(op: str, calls: Sequence[Call], source: str, folder: Path) -> Project:
    """Writes a kernel in Python, the same in C++, a CMake file, a test, and their data.

    Args:
        op: The op's name.
        calls: Its calls in the model.
        source: The model's name.
        folder: The folder to write, which must not exist or be empty.

    Raises:
        LitefuseError: The folder cannot be written, or the op has types that kernels do not support.
    """
    if not known_types(calls):
        raise LitefuseError(
            f"{op} has tensors of a type that kernels cannot take, such as int4, resource or variant", where=source
        )
    cases = list(calls[:_MOST_CASES])
    native, has_body = cpp_types(calls), any(call.reference is not None for call in cases)
    parts = {"@native" if native else "@python", "@body" if has_body else "@bodiless", "@end"}
    module = module_name(op)
    texts = {f"{module}.py": python_kernel(op, calls, source)}
    names = {
        "OP": op,
        "MODULE": module,
        "CLASS": class_name(op),
        "SOURCE": source,
        "UNWRITTEN": UNWRITTEN,
        "OP_LITERAL": '"' + op.replace("\\", "\\\\").replace('"', '\\"') + '"',
    }
    templates = {f"test_{module}.py": "test_kernel.py", "README.md": "readme.md"}
    if native:
        texts[f"{module}.cc"] = cpp_kernel(op, calls, source)
        templates |= {"CMakeLists.txt": "CMakeLists.txt", "registry.cc": "registry.cc"}
    for name, template in templates.items():
        texts[name] = _filled((_TEMPLATES / f"{template}.in").read_text("utf-8"), names, parts)
    models = {f"models/{index}.tflite": one_op_model(op, call) for index, call in enumerate(cases)}
    for index, call in enumerate(cases):
        if call.reference is not None:
            models[f"models/{index}.reference"] = bind_constants(call.reference, call)
    with new_folder(folder):
        (folder / "models").mkdir()
        for name, text in texts.items():
            write_new(folder / name, text.encode())
        for name, data in models.items():
            write_new(folder / name, data)
        if native:
            copy_kit(folder / "kit")
    return Project(folder, tuple(sorted([*texts, *models])), len(calls))


def new_package(op: str, folder: Path) -> tuple[str, ...]:
    """Writes the project of a Python package with a fusion, a recognizer and a kernel in C++, which all work.

    Args:
        op: The name of the composite and the op.
        folder: The folder to write, which must not exist or be empty.

    Returns:
        The files, relative to the folder.

    Raises:
        LitefuseError: The name is none of a class, or the folder cannot be written.
    """
    module = module_name(op)
    if not (op.isascii() and op.isidentifier()):
        raise LitefuseError("this is not an identifier in C++", where=op, hint="A name such as RotaryEmbedding is one.")
    if module in _TAKEN or keyword.iskeyword(module):
        raise LitefuseError(f"Python has another module {module}", where=op, hint=f"A name such as My{op} works.")
    names = {"OP": op, "MODULE": module, "PROJECT": module.replace("_", "-"), "CLASS": f"{class_name(op)}Kernel"}
    files = {
        "README.md": "readme.md",
        "pyproject.toml": "pyproject.toml",
        "hatch_build.py": "hatch_build.py",
        ".gitignore": "gitignore",
        ".github/workflows/wheels.yml": "wheels.yml",
        f"src/{module}/__init__.py": "init.py",
        f"src/{module}/conversion.py": "conversion.py",
        f"src/{module}/kernel.cc": "kernel.cc",
        f"tests/test_{module}.py": "test.py",
    }
    with new_folder(folder):
        for name, template in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_new(path, filled((_TEMPLATES / "package" / f"{template}.in").read_text("utf-8"), names).encode())
    return tuple(files)


def _filled(text: str, names: dict[str, str], parts: Collection[str]) -> str:
    """Fills in a template's names; keeps only those lines before an ``@end`` that belong to one of the parts."""
    kept: list[str] = []
    skipping = False
    for line in text.splitlines(keepends=True):
        if line.strip() in ("@native", "@python", "@body", "@bodiless", "@end"):
            skipping = line.strip() not in parts
        elif not skipping:
            kept.append(line)
    return filled("".join(kept), names)
