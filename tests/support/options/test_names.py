"""Patterns of names, wherever users name composites."""

from __future__ import annotations

import pytest

from litefuse.support.options.forms import CompositeForms, RequiredComposites
from litefuse.support.options.names import fits, unused


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("grid_sample", "grid_*", True),
        ("grid_sample", "*", True),
        ("grid_sample", "grid", False),
        ("Grid_sample", "grid_*", False),
        ("f[1]", "f[1]", True),  # a name that is a pattern of another
        ("f1", "f[1]", True),
        ("größe", "gr??e", True),
        ("", "grid_*", False),
    ],
)
def test_names_and_patterns(name: str, pattern: str, expected: bool) -> None:
    assert fits(name, "no such", pattern) is expected
    assert unused([pattern], [name]) == ([] if expected else [pattern])
    assert (name in RequiredComposites.of([pattern])) is expected
    assert CompositeForms.of({pattern: "keep"})[name] == ("keep" if expected else "fuse")


def test_without_patterns_or_names_nothing_fits() -> None:
    assert not fits("grid_sample")
    assert unused(["a", "b*"], []) == ["a", "b*"]
    assert unused([], ["a"]) == []
