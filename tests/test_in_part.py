from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import in_part
from tests.conftest import COLLECTED
from tests.every import every
from tests.in_part import SELDOM, SOME, TURNS, VARIABLE, left_out, turn

ROOT = Path(__file__).parents[1]
MANY = [f"tests/tensorflow/test_a.py::test_long[{case}]" for case in range(25)]
FEW = [f"tests/tensorflow/test_a.py::test_short[{case}]" for case in range(2)]
ONE = ["tests/tensorflow/test_a.py::test_single"]
QUICK = [f"tests/kernels/pack/test_a.py::test_long[{case}]" for case in range(25)]
SLOW = [f"{function}[{case}]" for function in SOME for case in range(9)]


def functions(names: Iterable[str]) -> set[str]:
    return {name.partition("[")[0] for name in names}


def without_a_case(names: Iterable[str], out: set[str]) -> set[str]:
    """The functions that do not run where these of their cases are left out."""
    return functions(names) - functions({*names} - out)


@pytest.mark.parametrize("number", range(0, TURNS, 997))
def test_each_function_has_a_case_in_every_turn(request: pytest.FixtureRequest, number: int) -> None:
    """In a run of all tests, of all that there are."""
    names = [*request.config.stash[COLLECTED], *MANY, *FEW, *ONE, *QUICK, *SLOW]
    out = left_out(names, number)
    assert without_a_case(names, out) <= {*SELDOM}
    assert left_out(names, number) == out


def test_what_is_left_out_whole_is_told() -> None:
    assert without_a_case([*MANY, *FEW, *ONE], {*MANY[1:], *FEW}) == {"tests/tensorflow/test_a.py::test_short"}
    assert without_a_case(MANY, {*MANY[1:]}) == set()


def test_few_functions_run_seldom() -> None:
    assert len(SELDOM) <= 61
    for number, function in enumerate(SELDOM):
        names = [f"{function}[{case}]" for case in range(5)]
        ran = [turn for turn in range(400) if without_a_case(names, left_out(names, turn)) == set()]
        assert ran == [*range(number % 4, 400, 4)]


def test_most_cases_of_matrices_are_left_out() -> None:
    out = left_out([*MANY, *FEW, *ONE, *QUICK], 0)
    assert len(out) == 24 + 1
    assert out < {*MANY, *FEW}


def test_so_many_cases_of_others_run() -> None:
    for function, count in SOME.items():
        names = [f"{function}[{case}]" for case in range(9)]
        assert every(len({*names} - left_out(names, number)) == count for number in range(60))
        assert left_out(names[:1], 0) == set()


def test_no_case_is_left_out_in_all_turns() -> None:
    names = [*MANY, *FEW, *ONE, *QUICK, *SLOW]
    turns = range(0, TURNS, 20)
    ran = Counter(name for number in turns for name in {*names} - left_out(names, number))
    assert {ran[name] for name in (*ONE, *QUICK)} == {len(turns)}
    # A case of 25 runs in 20 turns of 500, about.
    assert every(8 <= ran[name] <= 36 for name in MANY)
    assert every(ran[name] >= 15 for name in SLOW)


def test_functions_of_a_file_run_with_cases_alike() -> None:
    """Cases of a fixture that takes long: it is made for one of them alone."""
    first, second = ([f"tests/tensorflow/test_a.py::test_{name}[{case}]" for case in range(2)] for name in "ab")
    chosen = [{name[-3:] for name in {*first, *second} - left_out([*first, *second], number)} for number in range(9)]
    assert {*map(len, chosen)} == {1}
    assert len({*map(str, chosen)}) == 2


def test_cases_in_part_have_turns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_part, "ALL", False)
    ran: Counter[int] = Counter()
    for number in range(200):
        monkeypatch.setenv(VARIABLE, str(number))
        for cases, share in ((range(10), 3), (range(10, 12), 5), (range(12, 13), 9)):
            chosen = in_part.in_part(cases, share)
            assert chosen
            assert len(chosen) <= -(-len(cases) // min(share, len(cases)))
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
    assert f"turn {turn()}: {VARIABLE}={turn()} " in done.stdout


def test_functions_that_are_named_are_there() -> None:
    for name in (*SELDOM, *SOME):
        path, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / path).read_text()
