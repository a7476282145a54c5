"""Tables in parts, one in each module of a package, as one table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

__all__ = ["own_table"]


def own_table(package: str, folders: Iterable[str]) -> dict[str, Any]:
    """Merges the dictionaries ``RULES`` in the modules of a package, which are imported.

    Args:
        package: The package's name.
        folders: Its ``__path__``.

    Raises:
        ValueError: Two of them have the same key.
    """
    table: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for module in sorted(pkgutil.iter_modules(folders, f"{package}."), key=lambda module: module.name):
        part: dict[str, Any] = getattr(importlib.import_module(module.name), "RULES", {})
        for key in part:
            owner = owners.setdefault(key, module.name)
            if owner != module.name:
                raise ValueError(f"RULES of both {owner} and {module.name} have {key!r}")
        table |= part
    return table
