"""The machine: processor, memory, room for temporary files, and the versions of litefuse and of what it works with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.tools.environment.finding import Finding, State
from litefuse.version import __version__

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
    known = {"litefuse": __version__}
    known |= {name: version for name in _PACKAGES if (version := version_of(name)) is not None}
    return {**known, "python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}


def version_of(package: str) -> str | None:
    """Returns the version of a distribution; None if it is not installed, or its metadata is damaged."""
    try:
        installed: str | None = importlib.metadata.version(package)  # None where the metadata has none
    except Exception:  # noqa: BLE001  not installed, or files that are damaged in any way
        return None
    return installed


_GIGABYTE = 1 << 30
_LITTLE_MEMORY, _LITTLE_ROOM = _GIGABYTE, _GIGABYTE
_OLDEST = (3, 10)
# Above this, a limit of a control group is none.
_NO_LIMIT = 1 << 60


def system() -> Iterator[Finding]:
    """Looks at litefuse, Python and the system."""
    yield Finding("system", "litefuse", "works", f"{__version__}, in {Path(__file__).parents[2]}")
    state = "works" if sys.version_info[:2] >= _OLDEST else "broken"
    where = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable or 'embedded'}"
    yield Finding("system", "Python", state, where, needed=True)
    name = f"{platform.system()} {platform.release()} {platform.machine()}"
    text = f"{name}, {processor()}, {cores()} cores for this process"
    supported = sys.platform in {"linux", "darwin", "win32"}
    hint = "" if supported else "litefuse supports Linux, macOS and Windows."
    yield Finding("system", "system", "works" if supported else "broken", text, hint, needed=True)


def resources() -> Iterator[Finding]:
    """Looks at memory and temporary files."""
    limit = memory_limit()
    if limit is not None:
        size, why = limit
        state = "warning" if size < _LITTLE_MEMORY else "works"
        hint = "Large models need more; --memory turns a crash into an error." if state == "warning" else ""
        yield Finding("system", "memory", state, f"{size / _GIGABYTE:,.1f} GB, {why}", hint)
    yield _temporary()


def _temporary() -> Finding:
    def found(state: State, text: str, hint: str = "") -> Finding:
        return Finding("system", "temporary files", state, text, hint, needed=True)

    hint = "Set TMPDIR to a folder that can be written."
    try:
        folder = tempfile.gettempdir()
    except OSError as error:
        return found("broken", f"no folder for them: {error}", hint)
    try:
        with make_temporary_folder() as made:
            Path(made, "probe").write_bytes(b"litefuse")
        free = shutil.disk_usage(folder).free
    except (LitefuseError, OSError) as error:
        return found("broken", f"{folder} cannot be written: {error}", hint)
    text = f"{folder}, {free / _GIGABYTE:,.1f} GB free"
    if free < _LITTLE_ROOM:
        return found("warning", text, "Set TMPDIR to a folder with more room.")
    return found("works", text)


def memory_limit(
    groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup"), info: Path = Path("/proc/meminfo")
) -> tuple[int, str] | None:
    """Returns the bytes of memory that this process may use, and what sets the limit; None if that is not known.

    Args:
        groups: Where control groups are mounted.
        own: The file that names those of this process.
        info: The file that has the machine's memory.
    """
    limits: list[tuple[int, str]] = []
    with suppress(OSError, ValueError, IndexError):
        line = next(info_line for info_line in info.read_text().splitlines() if info_line.startswith("MemTotal:"))
        limits.append((int(line.split()[1]) * 1024, "all of the machine"))
    with suppress(OSError, StopIteration):
        limits += [(size, "the limit of the control group") for size in _group_limits(groups, own)]
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append((soft, "the limit of address space (ulimit -v)"))
    return min(limits, default=None)


def _group_limits(groups: Path, own: Path) -> Iterator[int]:
    """The limits of version 2 of control groups, then version 1: of this process's group and those that it is in."""
    for line in own.read_text().splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        root = groups / "memory" if controllers else groups
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        parts = [part for part in path.split("/") if part not in {"", ".."}]
        for count in range(len(parts), -1, -1):
            with suppress(OSError, ValueError):  # "max" is not a number
                size = int(root.joinpath(*parts[:count], name).read_text())
                if size < _NO_LIMIT:
                    yield size
