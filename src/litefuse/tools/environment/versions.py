"""The versions of litefuse and of what it works with."""

from __future__ import annotations

import importlib.metadata
import platform

from litefuse.version import __version__

__all__ = ["version_of", "versions"]

#: The packages whose versions decide what a conversion, a run or a comparison gives.
_PACKAGES = ("litert-converter", "ai-edge-litert", "litert-quantizer", "tensorflow-cpu", "tensorflow", "keras", "jax")


def versions() -> dict[str, str]:
    """Returns the versions of litefuse and of the packages that are installed, by name; of Python, and the system."""
    found = {"litefuse": __version__}
    found |= {name: version for name in _PACKAGES if (version := version_of(name)) is not None}
    return {**found, "python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}


def version_of(package: str) -> str | None:
    """Returns the version of a distribution; None if it is not installed, or its metadata is damaged."""
    try:
        found: str | None = importlib.metadata.version(package)  # None where the metadata has none
    except Exception:  # noqa: BLE001  not installed, or files that are damaged in any way
        return None
    return found
