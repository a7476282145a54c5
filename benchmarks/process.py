"""Measuring one process, or calls in turn, and naming the machine they ran on."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

import litefuse

SAMPLE_SECONDS = 0.04
PACKAGES = ("litert-converter", "ai-edge-litert", "tensorflow-cpu", "keras", "numpy")
# As installed packages run: with their bytecode, which a development environment may not write.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "CUDA_VISIBLE_DEVICES": "",
    "KERAS_BACKEND": "tensorflow",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}


@dataclass(frozen=True)
class Run:
    """One process, with all that it started.

    Attributes:
        seconds: From its start to its end.
        cpu_seconds: Processor time of the tree: what counts where other work is going on.
        peak_bytes: Largest memory of the tree that was seen. On Linux the sum of its proportional set sizes, in which
            pages of mapped files count; elsewhere of its resident set sizes.
        anonymous_bytes: Largest anonymous memory of the tree, which is what it allocated; 0 where that is not known.
        failure: Why it failed; empty if it did not.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    anonymous_bytes: int
    failure: str = ""


def measure(
    command: Sequence[str],
    *,
    memory_limit: int = 0,
    time_limit: float = 0.0,
    every: float = SAMPLE_SECONDS,
    output: Path | None = None,
) -> Run:
    """Runs a command to its end.

    Args:
        command: The command.
        memory_limit: Bytes at which it is ended, before the machine swaps; 0 for no limit.
        time_limit: Seconds after which it is ended; 0 for no limit.
        every: Seconds between two looks at its memory and its time.
        output: The file that its standard output goes to; None: only what a failure is told with is kept of it.
    """
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(tempfile.TemporaryFile())
        written = log if output is None else stack.enter_context(output.open("wb"))
        start, cpu = time.perf_counter(), _cpu_seconds()
        child = subprocess.Popen(command, env=ENVIRONMENT, stdout=written, stderr=log)
        root = psutil.Process(child.pid)
        peak = anonymous = 0
        failure = ""
        while True:
            try:
                child.wait(timeout=every)
                break
            except subprocess.TimeoutExpired:
                now, now_anonymous = _tree_bytes(root)
                peak, anonymous = max(peak, now), max(anonymous, now_anonymous)
                if not failure and 0 < memory_limit < peak:
                    failure = f"ended at {memory_limit / 1e9:.0f} GB of memory"
                if not failure and 0 < time_limit < time.perf_counter() - start:
                    failure = f"ended after {time_limit:.0f} s"
                if failure:
                    _kill(root)
        seconds, cpu = time.perf_counter() - start, _cpu_seconds() - cpu
        if child.returncode != 0 and not failure:
            log.seek(0)
            failure = log.read().decode(errors="replace").strip()[-4000:] or f"exit code {child.returncode}"
    return Run(seconds, cpu, peak, anonymous, failure)


def call(*command: str) -> str:
    """What a command prints.

    Raises:
        SystemExit: It failed.
    """
    done = subprocess.run(command, check=False, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)[-300:]} failed:\n{done.stderr[-4000:]}")
    return done.stdout


def seconds_in_turn(
    calls: Sequence[Callable[[], object]], seconds: float, *, least: int = 1, most: float = math.inf
) -> list[list[float]]:
    """Makes calls in turn for so many seconds; returns the seconds of each call of each."""
    taken: list[list[float]] = [[] for _ in calls]
    begin = time.perf_counter()
    while len(taken[0]) < least or (len(taken[0]) < most and time.perf_counter() - begin < seconds):
        for make_call, of_call in zip(calls, taken, strict=True):
            start = time.perf_counter()
            make_call()
            of_call.append(time.perf_counter() - start)
    return taken


def _kill(root: Any) -> None:
    try:
        for process in [*root.children(recursive=True), root]:
            process.kill()
    except psutil.Error:  # it has ended
        pass


def _cpu_seconds() -> float:
    """Processor time of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _tree_bytes(root: Any) -> tuple[int, int]:
    """Memory of a process and of all that it started, now, and how much of it is anonymous."""
    total = anonymous = 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0, 0
    for process in processes:
        try:
            if sys.platform != "linux":
                total += process.memory_info().rss
                continue
            lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]
        except (OSError, psutil.Error):  # it ended meanwhile
            continue
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        total += sizes.get("Pss", 0)
        anonymous += sizes.get("Anonymous", 0)
    return total, anonymous


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor() or platform.machine(),
        "cores": str(psutil.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "litefuse": litefuse.__version__,
    } | {name: importlib.metadata.version(name) for name in PACKAGES}
