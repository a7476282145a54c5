"""Options pass from the user to their effect in objects, and few places name each."""

from __future__ import annotations

from statistics import median

from tests.every import every
from tests.support.options.places import CARRIERS, DECLARED, SOURCES, carriers, declared_names, places

#: The median of 46 arguments handed on one by one was 16.
LIMIT = 4

_DECLARED = """
class Conversion(Options):
    depth: int = option(default=1, help="")
    width: int = option(default=1, help="")
"""
_BY_HAND = """
class Job(Record):
    depth: int = 1

def convert(depth):
    return run(Job(), depth=depth)

def read(table):
    return table["depth"]

def run(job, x):
    return Report(depth=x.depth), job.options.width
"""


def test_few_places_name_an_option() -> None:
    names = declared_names(*((SOURCES / path).read_text("utf-8") for path in DECLARED))
    named = places(carriers(), names)
    counts = [len(named[name]) for name in names]
    assert len(names) > 45
    assert min(counts) >= 1
    listed = "\n".join(f"{len(named[name])} {name}: {', '.join(named[name])}" for name in sorted(named, key=str))
    assert median(counts) <= LIMIT, listed


def test_each_way_to_hand_an_option_on_counts() -> None:
    names = declared_names(_DECLARED)
    assert names == ["depth", "width"]
    assert places({"a.py": _DECLARED}, names) == {"depth": ["a.py:.Conversion"], "width": ["a.py:.Conversion"]}
    named = places({"a.py": _DECLARED, "b.py": _BY_HAND}, names)
    assert named["depth"] == ["a.py:.Conversion", "b.py:.Job", "b.py:.convert", "b.py:.read"]
    assert named["width"] == [
        "a.py:.Conversion",
        "b.py:.run",
    ]  # a report's field and what holds no options do not count


def test_the_modules_are_there() -> None:
    assert every([*SOURCES.glob(pattern)] for pattern in CARRIERS)
