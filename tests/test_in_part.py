from __future__ import annotations

from pathlib import Path

import pytest

from tests import in_part
from tests.in_part import left_out, slow_tests


def test_most_cases_of_matrices_are_left_out() -> None:
    many = [f"tests/tensorflow/test_a.py::test_long[{case}]" for case in range(25)]
    few = [f"tests/tensorflow/test_a.py::test_short[{case}]" for case in range(2)]
    one = ["tests/tensorflow/test_a.py::test_single"]
    quick = [f"tests/kernels/test_a.py::test_long[{case}]" for case in range(25)]
    out = left_out([*many, *few, *one, *quick])
    assert len(out) == 23 + 1
    assert out < {*many, *few}
    assert left_out([*many, *few, *one, *quick]) == out


def test_three_of_four_slow_tests_are_left_out() -> None:
    slow = sorted(slow_tests())
    out = left_out([each if "::" in each else f"{each}::test_of_it[case]" for each in slow])
    assert len(slow) / 2 < len(out) < len(slow) * 5 / 6


def test_single_cases_of_a_test_may_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [f"tests/docs/test_a.py::test_page[{case}.md]" for case in range(40)]
    monkeypatch.setattr(in_part, "slow_tests", lambda: frozenset(cases[:30]))
    out = left_out(cases)
    assert out < {*cases[:30]}
    assert 10 < len(out) < 30


def test_slow_tests_are_there() -> None:
    for each in slow_tests():
        path, _, function = each.partition("[")[0].partition("::")
        assert f"def {function}(" in (Path(__file__).parents[1] / path).read_text() if function else Path(path).exists()
