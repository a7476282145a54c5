"""Looks at everything that litefuse works with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from litefuse.tools.environment.finding import Area, Diagnosis, Finding
from litefuse.tools.environment.packages import conflicts, dependencies, extras
from litefuse.tools.environment.resources import resources, system
from litefuse.tools.environment.software import compiler, engine, native_kernels, plug_ins, runtime

__all__ = ["CHECKS", "diagnose"]

Check = Callable[[], Iterator[Finding]]

#: The checks, in the order of what they find, each with its area.
CHECKS: Mapping[str, tuple[Area, Check]] = {
    "system": ("system", system),
    "resources": ("system", resources),
    "dependencies": ("packages", dependencies),
    "conflicts": ("packages", conflicts),
    "engine": ("core", engine),
    "runtime": ("core", runtime),
    "native kernels": ("kernels", native_kernels),
    "compiler": ("kernels", compiler),
    "extras": ("extras", extras),
    "plug-ins": ("plug-ins", plug_ins),
}
# What waits for child processes, of which some run at once.
_AT_ONCE = 4


def diagnose(checks: Mapping[str, tuple[Area, Check]] = CHECKS) -> Diagnosis:
    """Looks at everything that litefuse works with. Never raises: a check that fails is a finding.

    Args:
        checks: The checks to make.
    """
    begun = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        waiting = [pool.submit(_guarded, name, area, check) for name, (area, check) in checks.items()]
        found = [each.result() for each in waiting]
    return Diagnosis.of((each for findings in found for each in findings), time.perf_counter() - begun)


def _guarded(name: str, area: Area, check: Check) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings += check()
    except Exception as error:  # noqa: BLE001  what was found before it counts, and the other checks do
        text = f"it could not be looked at: {type(error).__name__}: {error}"
        findings.append(Finding(area, name, "unknown", text, needed=area == "core"))
    return findings
