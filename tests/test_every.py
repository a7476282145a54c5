from __future__ import annotations

from pathlib import Path

import pytest

from tests.every import every


def test_nothing_is_not_enough() -> None:
    assert every(each for each in (1, "a"))
    assert not every([1, 0])
    with pytest.raises(AssertionError, match="there is nothing"):
        every([])


def test_no_test_asserts_what_holds_of_nothing() -> None:
    tests = [path for path in Path(__file__).parent.rglob("*.py") if path != Path(__file__)]
    assert every(tests)
    assert [str(path) for path in tests if "assert all(" in path.read_text("utf-8")] == []
