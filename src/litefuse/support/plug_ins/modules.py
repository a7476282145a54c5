"""Import of the Python files that register kernels, fusions and recognizers, for the commands that take them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from litefuse.errors import KernelError, LitefuseError
from litefuse.support.files.readable import check_file
from litefuse.support.plug_ins.entry_points import third_party_code


def import_kernels(sources: Iterable[str]) -> None:
    """Imports modules, given as ``.py`` files or by their names, so that they register their definitions.

    Raises:
        KernelError: No such file or module, or importing it fails.
        LitefuseError: Its registration is rejected.
    """
    for source in sources:
        with third_party_code("cannot be imported", source, KernelError, own=LitefuseError):
            if source.endswith(".py"):
                import_file(Path(source))
            elif not all(part.isidentifier() for part in source.split(".")):
                raise KernelError("this is neither a .py file nor the name of a module", where=source)
            else:
                importlib.import_module(source)


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
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    # Its definitions are sent to the conversion process, which cannot import a module of this name.
    cloudpickle.register_pickle_by_value(module)
    spec.loader.exec_module(module)
    return module
