"""All classes of litefuse's own that a registry should know, found by importing everything."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TypeVar

_Class = TypeVar("_Class")


def own_subclasses(base: type[_Class], package: str, within: str = "") -> set[type[_Class]]:
    """The subclasses of a class in a package, all of whose modules are imported.

    Args:
        base: The class; it is not among them.
        package: The package.
        within: The package that a subclass may be in; empty: the same.
    """
    module = importlib.import_module(package)
    assert module.__file__ is not None
    folder = Path(module.__file__).parent
    for path in folder.rglob("*.py"):  # pkgutil takes the native library for a module, too
        parts = path.relative_to(folder).with_suffix("").parts
        importlib.import_module(".".join((package, *parts)).removesuffix(".__init__"))
    found = base.__subclasses__()
    for cls in found:  # grows
        found += cls.__subclasses__()
    return {cls for cls in found if cls.__module__.startswith(f"{within or package}.")}
