"""Tables of litefuse's own that are in parts: one in each module of a package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any

__all__ = ["own_table"]


def own_table(package: str, folders: Iterable[str], name: str = "RULES") -> dict[str, Any]:
    """The dictionaries of one name in the modules of a package, as one; the modules are imported.

    Args:
        package: The package's name.
        folders: Its ``__path__``.
        name: What the dictionaries are called. A module without one is no part.

    Raises:
        ValueError: Two of them have an entry of the same key.
    """
    table: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for each in sorted(pkgutil.iter_modules(folders, f"{package}."), key=lambda each: each.name):
        part: dict[str, Any] = getattr(importlib.import_module(each.name), name, {})
        for key in part:
            owner = owners.setdefault(key, each.name)
            if owner != each.name:
                raise ValueError(f"{name} of both {owner} and {each.name} have {key!r}")
        table |= part
    return table
