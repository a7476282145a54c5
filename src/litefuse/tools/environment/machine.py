"""The machine: its processor, and the versions of litefuse and of what it works with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

from litefuse.version import __version__

__all__ = ["cores", "processor", "version_of", "versions"]

#: The packages whose versions decide what a conversion, a run or a comparison gives.
_PACKAGES = ("litert-converter", "ai-edge-litert", "litert-quantizer", "tensorflow-cpu", "tensorflow", "keras", "jax")


def processor() -> str:
    """Returns the name of the processor; that of its architecture if the system does not say."""
    import subprocess  # on its own: every document has the versions

    with suppress(OSError, subprocess.SubprocessError):
        if sys.platform == "darwin":
            ask = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(ask, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in {"model name", "Hardware"} and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Returns how many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
