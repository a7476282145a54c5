"""Which of many cases run: a part of them, and all on request."""

from __future__ import annotations

import functools
import math
import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

__all__ = ["ALL", "in_part", "left_out", "slow_tests"]

ALL = os.environ.get("LITEFUSE_TESTS") == "all"
"""Whether every case is to run: ``LITEFUSE_TESTS=all`` in the environment."""

# These convert and run a model for each case, most of which are forms and dtypes of one another.
_MATRICES = ("tests/tensorflow/", "tests/with_jax/")
_SHARE = 24
# Of the tests in this file, one of four runs.
_SLOW = Path(__file__).with_name("slow_tests.txt")
_SHARE_OF_SLOW = 4
_Case = TypeVar("_Case")


def in_part(cases: Iterable[_Case], every: int) -> list[_Case]:
    """Returns one of so many cases; all of them with ``LITEFUSE_TESTS=all`` in the environment."""
    return [*cases][:: 1 if ALL else every]


def left_out(names: Sequence[str]) -> set[str]:
    """Returns the tests that a run of all tests leaves out.

    Of tests that are matrices of cases, these are all but one of 24 cases, and one case is left of each; of tests that
    take long, three of four. Which ones is the same in each run.

    Args:
        names: The tests' names, as pytest writes them: ``tests/folder/test_file.py::test_function[case]``.
    """
    out = {name for name in names if _is_left_out_as_slow(name)}
    functions: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name.startswith(_MATRICES):
            functions[name.partition("[")[0]].append(name)
    # By a hash: in their order, the cases of one parameter might all be left out.
    cases = (sorted(each, key=lambda name: zlib.crc32(name.encode())) for each in functions.values())
    return out | {name for each in cases for name in each[math.ceil(len(each) / _SHARE) :]}


@functools.cache
def slow_tests() -> frozenset[str]:
    """Returns the names of tests that take long, of single cases of tests, and of files of such tests."""
    lines = _SLOW.read_text().splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _is_left_out_as_slow(name: str) -> bool:
    function = name.partition("[")[0]
    listed = next((each for each in (name, function, function.partition("::")[0]) if each in slow_tests()), None)
    return listed is not None and zlib.crc32(listed.encode()) % _SHARE_OF_SLOW != 0
