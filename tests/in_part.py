"""Which of many cases run: a part of them, and all on request."""

from __future__ import annotations

import math
import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

__all__ = ["ALL", "in_part", "left_out"]

ALL = os.environ.get("LITEFUSE_TESTS") == "all"
"""Whether every case is to run: ``LITEFUSE_TESTS=all`` in the environment."""

# These convert and run a model for each case, most of which are forms and dtypes of one another.
_MATRICES = ("tests/tensorflow/", "tests/with_jax/")
_SHARE = 24
_Case = TypeVar("_Case")


def in_part(cases: Iterable[_Case], every: int) -> list[_Case]:
    """Returns one of so many cases; all of them with ``LITEFUSE_TESTS=all`` in the environment."""
    return [*cases][:: 1 if ALL else every]


def left_out(names: Sequence[str]) -> set[str]:
    """Returns the tests that a run of all tests leaves out: of those that take long, all but one of 24 cases.

    One case is left of each. Which ones is the same in each run.

    Args:
        names: The tests' names, as pytest writes them: ``tests/folder/test_file.py::test_function[case]``.
    """
    functions: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name.startswith(_MATRICES):
            functions[name.partition("[")[0]].append(name)
    # By a hash: in their order, the cases of one parameter might all be left out.
    cases = (sorted(each, key=lambda name: zlib.crc32(name.encode())) for each in functions.values())
    return {name for each in cases for name in each[math.ceil(len(each) / _SHARE) :]}
