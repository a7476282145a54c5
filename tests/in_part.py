"""Which of many cases run: a part of them, another one in each turn, and all on request."""

from __future__ import annotations

import functools
import math
import os
import subprocess
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeVar

__all__ = ["ALL", "TURNS", "VARIABLE", "in_part", "left_out", "slow_tests", "turn", "turns_of_slow_tests"]

ALL = os.environ.get("LITEFUSE_TESTS") == "all"
"""Whether every case is to run: ``LITEFUSE_TESTS=all`` in the environment."""

VARIABLE = "LITEFUSE_TURN"
"""The environment variable with the number of the turn."""

# These convert and run a model for each case, most of which are forms and dtypes of one another.
_MATRICES = ("tests/tensorflow/", "tests/with_jax/")
_SHARE = 24
# Of the tests in this file, one of four runs.
_SLOW = Path(__file__).with_name("slow_tests.txt")
_SHARE_OF_SLOW = 4
# Seconds of a slow test that are not known.
_SECONDS = 9.0

TURNS = _SHARE * _SHARE_OF_SLOW
"""After so many turns, each case of each test has run."""

_Case = TypeVar("_Case")


def turn() -> int:
    """Returns which part runs: the number in ``LITEFUSE_TURN``, or one that follows from the commit, else from the day.

    So a commit is always tested in the same way, and the next one in another.
    """
    if given := os.environ.get(VARIABLE):
        return int(given) % TURNS
    commit = ""
    with suppress(OSError):
        command = ["git", "-C", str(_SLOW.parent), "rev-parse", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return zlib.crc32((commit.strip() or str(date.today())).encode()) % TURNS


def in_part(cases: Iterable[_Case], every: int) -> list[_Case]:
    """Returns one of so many cases, others in each turn; all with ``LITEFUSE_TESTS=all`` in the environment."""
    every_case = [*cases]
    first = turn() // _SHARE_OF_SLOW % max(min(every, len(every_case)), 1)
    return every_case if ALL else every_case[first::every]


def left_out(names: Sequence[str], number: int) -> set[str]:
    """Returns the tests that a run of all tests leaves out.

    Of tests that are matrices of cases, these are all but one of 24 cases, and one case is left of each; of tests that
    take long, three of four. Which ones depends on the turn: no case is left out in all of them.

    Args:
        names: The tests' names, as pytest writes them: ``tests/folder/test_file.py::test_function[case]``.
        number: The turn, below ``TURNS``.
    """
    turns = turns_of_slow_tests()
    slow = {name: _listed(name, turns) for name in names}
    out = {name for name, listed in slow.items() if listed and turns[listed] != number % _SHARE_OF_SLOW}
    functions: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name.startswith(_MATRICES) and name not in out:
            functions[name.partition("[")[0]].append(name)
    for cases in functions.values():
        # By a hash: in their order, the cases of one parameter might all be left out.
        cases.sort(key=lambda name: zlib.crc32(name.encode()))
        count = math.ceil(len(cases) / _SHARE)
        first = number // _SHARE_OF_SLOW * count
        out |= {*cases} - {cases[(first + each) % len(cases)] for each in range(count)}
    return out


@functools.cache
def slow_tests() -> Mapping[str, float]:
    """Returns the seconds of tests that take long, of single cases of tests, and of files of such tests, by name."""
    lines = [line for line in _SLOW.read_text().splitlines() if line and not line.startswith("#")]
    named = [line.partition(" ") if line[0].isdigit() else ("", "", line) for line in lines]
    return {name: float(seconds or _SECONDS) for seconds, _, name in named}


@functools.cache
def turns_of_slow_tests() -> Mapping[str, int]:
    """Returns in which of four turns each of the slow tests runs: all turns take about as long."""
    seconds = [0.0] * _SHARE_OF_SLOW
    turns: dict[str, int] = {}
    for name, time in sorted(slow_tests().items(), key=lambda each: (-each[1], each[0])):
        turns[name] = seconds.index(min(seconds))
        seconds[turns[name]] += time
    return turns


def _listed(name: str, turns: Mapping[str, int]) -> str | None:
    """Returns the entry of a test among the slow ones: itself, its function or its file."""
    function = name.partition("[")[0]
    return next((entry for entry in (name, function, function.partition("::")[0]) if entry in turns), None)
