"""Names that modules had before packages stood in rooms: ``litefuse.report`` is ``litefuse.support.report``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

_ROOMS = ("support", "frontends", "ir", "litert", "kernels", "passes", "fusions", "conversion", "tools")
# What stands beside the rooms: the finder is asked before all others, lest a module is loaded under two names.
_NO_FORMER_NAMES = {*_ROOMS, "__main__", "compat", "demo", "errors", "targets", "version"}


def find_former_names() -> None:
    """Has ``import`` find modules by their former names, with a ``DeprecationWarning`` that says the new one."""
    sys.meta_path.insert(0, _Finder)


class _Finder:
    @staticmethod
    def find_spec(fullname: str, *_: Any) -> ModuleSpec | None:
        name = fullname.removeprefix("litefuse.")
        if name == fullname or name.partition(".")[0] in _NO_FORMER_NAMES:
            return None
        for room in _ROOMS:
            try:
                spec = importlib.util.find_spec(f"litefuse.{room}.{name}")
            except ModuleNotFoundError:  # not a package of this room
                continue
            if spec is not None:
                warnings.warn(f"{fullname} is now {spec.name}", DeprecationWarning, stacklevel=2)
                loader: Any = _Loader(spec)
                is_package = spec.submodule_search_locations is not None
                return ModuleSpec(fullname, loader, origin=spec.origin, is_package=is_package)
        return None


class _Loader:
    def __init__(self, spec: ModuleSpec) -> None:
        self._spec = spec

    def create_module(self, _: ModuleSpec) -> ModuleType:
        return importlib.import_module(self._spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # in its place, the import system has set that of the former name

    def get_code(self, _: str) -> CodeType | None:
        """Returns the module's code, for ``python -m``."""
        loader: Any = self._spec.loader
        return loader.get_code(self._spec.name)
