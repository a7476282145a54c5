from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import in_part
from tests.in_part import TURNS, VARIABLE, left_out, slow_tests, turn, turns_of_slow_tests

ROOT = Path(__file__).parents[1]
MANY = [f"tests/tensorflow/test_a.py::test_long[{case}]" for case in range(25)]
FEW = [f"tests/tensorflow/test_a.py::test_short[{case}]" for case in range(2)]
ONE = ["tests/tensorflow/test_a.py::test_single"]
QUICK = [f"tests/kernels/test_a.py::test_long[{case}]" for case in range(25)]
SLOW = [each if "::" in each else f"{each}::test_of_it[case]" for each in sorted(slow_tests())]


@pytest.mark.parametrize("number", range(0, TURNS, 7))
def test_most_cases_of_matrices_are_left_out(number: int) -> None:
    out = left_out([*MANY, *FEW, *ONE, *QUICK], number)
    assert len(out) == 23 + 1
    assert out < {*MANY, *FEW}
    assert left_out([*MANY, *FEW, *ONE, *QUICK], number) == out


def test_no_case_is_left_out_in_all_turns() -> None:
    names = [*MANY, *FEW, *ONE, *QUICK, *SLOW]
    ran = Counter(name for number in range(TURNS) for name in {*names} - left_out(names, number))
    assert ran.keys() == {*names}
    assert {ran[name] for name in (*ONE, *QUICK)} == {TURNS}
    # Slow tests outside of the matrices, and those in them whose only case this is.
    assert {ran[name] for name in SLOW} == {TURNS // 4}


def test_cases_of_a_slow_matrix_all_have_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_part, "turns_of_slow_tests", lambda: {MANY[0].partition("[")[0]: 3})
    ran = Counter(name for number in range(TURNS) for name in {*MANY} - left_out(MANY, number))
    assert ran.keys() == {*MANY}
    assert sum(ran.values()) == 2 * TURNS / 4


def test_a_single_slow_case_leaves_others_to_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_part, "turns_of_slow_tests", lambda: {MANY[0]: 3})
    for number in range(TURNS):
        run = {*MANY} - left_out(MANY, number)
        assert run
        assert number % 4 == 3 or MANY[0] not in run


def test_slow_tests_take_as_long_in_each_turn() -> None:
    turns = turns_of_slow_tests()
    assert turns.keys() == slow_tests().keys()
    seconds = [sum(slow_tests()[name] for name, its in turns.items() if its == number) for number in range(4)]
    assert max(seconds) - min(seconds) <= 4


def test_cases_in_part_have_turns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: Counter[int] = Counter()
    for number in range(TURNS):
        monkeypatch.setenv(VARIABLE, str(number))
        for cases, every in ((range(10), 3), (range(10, 12), 5), (range(12, 13), 9)):
            chosen = in_part.in_part(cases, every)
            assert chosen
            assert len(chosen) <= -(-len(cases) // min(every, len(cases)))
            ran.update(chosen)
    assert ran.keys() == {*range(13)}
    assert in_part.in_part((), 3) == []


def test_a_commit_has_one_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE)
    assert turn() == turn()
    assert 0 <= turn() < TURNS
    monkeypatch.setenv(VARIABLE, str(TURNS + 5))
    assert turn() == 5
    # Without git, and outside of a repository, the day says it.
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert 0 <= turn() < TURNS


def test_a_run_tells_its_turn() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "tests/test_links.py", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert f"turn {turn()} of {TURNS}: {VARIABLE}={turn()} " in done.stdout


def test_slow_tests_are_there() -> None:
    for each in slow_tests():
        path, _, function = each.partition("[")[0].partition("::")
        assert f"def {function}(" in (ROOT / path).read_text() if function else Path(path).exists()
