"""Whether the lowering engine is installed here, and what to do where it is not."""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Sequence
from types import ModuleType

from litefuse.errors import MissingEngineError

#: The distribution of the engine, in the versions that this release works with; as in ``pyproject.toml``.
REQUIREMENT = "litert-converter>=0.5.0,<0.6"
#: The systems and machines that it has packages for, as ``platform`` names them.
PLATFORMS = (("Linux", "x86_64"), ("Darwin", "arm64"))
#: The versions of CPython that it has packages for, the first and the last.
PYTHONS = ((3, 10), (3, 14))

_MODULE = "litert_converter"
_WITHOUT = "Running, inspecting and quantizing .tflite files works without it"


def check_engine() -> None:
    """Checks that the engine is installed, without loading it.

    Raises:
        MissingEngineError: It is not.
    """
    # A program that must not load it, as beside TensorFlow, says so with None in sys.modules: its child process may.
    modules: dict[str, ModuleType | None] = {**sys.modules}
    is_forbidden = _MODULE in modules and modules[_MODULE] is None
    if not is_forbidden and importlib.util.find_spec(_MODULE) is None:
        raise missing_engine(ModuleNotFoundError(name=_MODULE))


def missing_engine(error: ImportError) -> MissingEngineError:
    """Returns the error for an engine that cannot be imported."""
    if not isinstance(error, ModuleNotFoundError) or (error.name or "").partition(".")[0] != _MODULE:
        return MissingEngineError(
            f"the lowering engine, litert-converter, cannot be loaded: {error}",
            hint=f"Install it again: pip install --force-reinstall {REQUIREMENT!r}. {_WITHOUT}.",
        )
    implementation, system, machine = sys.implementation.name, platform.system(), platform.machine()
    if has_packages(implementation, sys.version_info, system, machine):
        return MissingEngineError(
            "the lowering engine, litert-converter, is not installed",
            hint=f"Install it: pip install {REQUIREMENT!r}. {_WITHOUT}.",
        )
    first, last = (".".join(map(str, version)) for version in PYTHONS)
    python = ".".join(map(str, sys.version_info[:2]))
    return MissingEngineError(
        f"the lowering engine, litert-converter, has no package for {implementation} {python} on {system} {machine}",
        hint=f"Convert the model on Linux x86-64 or macOS arm64, with CPython {first} to {last}; the file runs here. "
        f"{_WITHOUT}.",
    )


def has_packages(implementation: str, python: Sequence[object], system: str, machine: str) -> bool:
    """Whether the engine has packages for a Python.

    Args:
        implementation: As in ``sys.implementation.name``.
        python: As in ``sys.version_info``.
        system: As ``platform.system()`` returns it.
        machine: As ``platform.machine()`` returns it.
    """
    first, last = PYTHONS
    return implementation == "cpython" and first <= tuple(python[:2]) <= last and (system, machine) in PLATFORMS
