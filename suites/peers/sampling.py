"""A plug-in of pytest: runs a sample of a peer's tests, which is the same each time, and notes what became of them."""

from __future__ import annotations

import collections
import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suites.peers.exporting import Exporter

# An address, and what coremltools' tests have as parameters for Core ML alone.
_NOISE = re.compile(r" at 0x[0-9a-f]+|compute_unit=ComputeUnit\.CPU_ONLY-?|backend=\('mlprogram', 'fp16'\)-?")


class Sampling:
    """Runs so many tests, spread over all test functions, and exports as many cases.

    Tests that were begun before are left out: a test may end the process, and the next one goes on behind it.

    Args:
        exporter: Hears which test runs.
        folder: Where notes are written: ``begun.txt`` and ``left_out.jsonl``.
        tests: How many tests to run at most, or 0 for all.
    """

    def __init__(self, exporter: Exporter, folder: Path, tests: int = 0) -> None:
        self._exporter = exporter
        self._begun = folder / "begun.txt"
        self._left_out = folder / "left_out.jsonl"
        self._tests = tests

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keeps the sample."""
        functions: dict[str, list[pytest.Item]] = collections.defaultdict(list)
        for item in items:
            functions[_function(item)].append(item)
        quota = _quota([len(each) for each in functions.values()], self._tests)
        begun = set(self._begun.read_text("utf-8").splitlines()) if self._begun.exists() else set[str]()
        kept = [item for each in functions.values() for item in _spread(each, quota)]
        items[:] = [item for item in kept if _name(item) not in begun]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Notes the test."""
        name = _name(item)
        with self._begun.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        self._exporter.begin(name)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Notes what kept a test from being exported."""
        if call.when == "teardown" or self._exporter.count or (call.when == "setup" and not call.excinfo):
            return
        reason = f"{call.excinfo.typename}: {call.excinfo.value}" if call.excinfo else "nothing is compared"
        with self._left_out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"test": _name(item), "reason": reason[:500]}) + "\n")


def _name(item: pytest.Item) -> str:
    """The name of a test in one line, without its folders and what is the same each time or never."""
    name = item.nodeid.rpartition(".py::")[0].rpartition("/")[2] + "." + item.nodeid.partition(".py::")[2]
    name = _NOISE.sub("", name.replace("::", "."))
    return name.encode("unicode_escape").decode()


def _function(item: pytest.Item) -> str:
    """What a test is a case of: absl gives each case a name of its own, and keeps the function that it wraps."""
    function: Any = getattr(item, "function", None)
    function = item if function is None else inspect.unwrap(function)
    return f"{item.nodeid.partition('::')[0]} {getattr(function, '__qualname__', item.name)}"


def _quota(sizes: Sequence[int], tests: int) -> int:
    """The most tests of one function with which at most ``tests`` are run."""
    largest = max(sizes, default=0)
    if not tests:
        return largest
    return max((n for n in range(1, largest + 1) if sum(min(n, size) for size in sizes) <= tests), default=1)


def _spread(items: Sequence[pytest.Item], quota: int) -> list[pytest.Item]:
    if len(items) <= quota:
        return list(items)
    return [items[index * len(items) // quota] for index in range(quota)]
