"""The machine: its processor."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["cores", "processor"]


def processor() -> str:
    """Returns the name of the processor; that of its architecture if the system does not say."""
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
