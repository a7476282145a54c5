"""``every``: ``all`` of at least one."""

from __future__ import annotations

from collections.abc import Iterable


def every(values: Iterable[object]) -> bool:
    """Returns whether there are values, and all of them are true: ``all`` holds of nothing at all, too.

    Tests assert this in place of ``all``, which tests/test_every.py forbids.
    """
    listed = [*values]
    assert listed, "there is nothing of which this could hold"
    return all(listed)
