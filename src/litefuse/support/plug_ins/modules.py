"""Import of the Python files that users name: of kernels, fusions and recognizers, and of the layers of Keras files."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from litefuse.errors import KernelError, LitefuseError
from litefuse.support.files.readable import check_file
from litefuse.support.files.temporary import make_temporary_file
from litefuse.support.plug_ins.entry_points import third_party_code

_START_UP = (b"WARNING: All log messages before absl::", b"I0000 ", b"W0000 ")
_named: dict[str, None] = {}  # in order


def name_code(sources: Iterable[str]) -> None:
    """Notes that the user named these files and modules, for processes that import them when they need to."""
    _named.update((str(Path(source).absolute()) if source.endswith(".py") else source, None) for source in sources)


def named_code() -> tuple[str, ...]:
    """Returns the files and modules that the user named to this process."""
    return tuple(_named)


def import_kernels(sources: Iterable[str]) -> list[ModuleType]:
    """Imports modules, given as ``.py`` files or by their names, so that they register their definitions.

    Files beside a ``.py`` file, and in the current folder those of a package that is not installed, can be imported by
    it.

    Raises:
        KernelError: No such file or module, or importing it fails.
        LitefuseError: Its registration is rejected.
    """
    modules: list[ModuleType] = []
    for source in sources:
        problem = "cannot be imported"
        with _without_tensorflows_lines(), third_party_code(problem, source, KernelError, own=LitefuseError):
            if source.endswith(".py"):
                modules.append(import_file(Path(source)))
            elif not all(part.isidentifier() for part in source.split(".")):
                raise KernelError("this is neither a .py file nor the name of a module", where=source)
            else:
                if importlib.util.find_spec(source.partition(".")[0]) is None:
                    _look_in(Path())
                modules.append(importlib.import_module(source))
    return modules


def import_file(path: Path) -> ModuleType:
    """Imports a ``.py`` file under its name without the suffix.

    Raises:
        KernelError: No such file.
    """
    check_file(path, KernelError)
    import cloudpickle

    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise KernelError("not a Python file", where=str(path))
    _look_in(path.parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    # Its definitions are sent to the conversion process, which cannot import a module of this name.
    cloudpickle.register_pickle_by_value(module)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _without_tensorflows_lines() -> Generator[None]:
    """Leaves out what TensorFlow's libraries print when they start, which only the stream's number catches."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with make_temporary_file() as file, os.fdopen(os.dup(2), "wb") as stream:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]  windowed programs have none
                sys.stderr.flush()
            os.dup2(stream.fileno(), 2)
            file.seek(0)
            stream.writelines(line for line in file if not line.startswith(_START_UP))


def _look_in(folder: Path) -> None:
    """Lets modules of a folder be imported, behind all others."""
    name = str(folder.absolute())
    if name not in sys.path:
        sys.path.append(name)
