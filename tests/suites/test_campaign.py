"""Verdicts say no where there is a reason: a wrong file, a model that is refused, a process that dies."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz.saved_model.folder import seeds, write
from suites.campaign import Campaign
from suites.cases import Call, Case, write_case
from suites.cli import main
from suites.outcomes import Outcome, Verdict, read_outcomes, write_outcomes
from suites.table import larger, lines, summary
from suites.workers import Worker


def conditional_case(folder: Path, name: str, change: float = 0.0) -> Path:
    """A case of a model with conditions and loops, whose expected outputs are changed by so much."""
    write(seeds()["control_flow"], folder / name / "saved_model")
    calls: list[Call] = []
    for batch, times in ((1, 1), (3, 2)):
        x = np.arange(2 * batch, dtype=np.float32).reshape(batch, 2)
        total = -2 * x if times == 1 else 2 * (2 * x + 1)
        calls.append(({"x": x, "y": np.array(times, np.int32)}, {"total": total + np.float32(change), "mapped": x * x}))
    write_case(folder / name, Case(name, "some"), calls)
    return folder / name


def program(path: Path, text: str) -> str:
    """An executable file, to be run in place of Python."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def campaign(folder: Path, python: str = sys.executable) -> Campaign:
    return Campaign("litefuse", folder, python, sys.executable, lambda outcome: None)


def test_each_case_has_its_verdict(tmp_path: Path) -> None:
    good, wrong, refused = (
        conditional_case(tmp_path, "good"),
        conditional_case(tmp_path, "wrong", 0.1),
        conditional_case(tmp_path, "refused"),
    )
    (refused / "saved_model" / "saved_model.pb").write_bytes(b"no model")
    results = tmp_path / "results"

    found = {each.case: each for each in campaign(results).run([good, wrong, refused])}
    assert found["good"].verdict is Verdict.PASSES
    assert found["good"].size == (results / "litefuse" / "good.tflite").stat().st_size
    assert found["good"].ops
    assert found["wrong"].verdict is Verdict.WRONG
    assert "call 0: output total is off by 0.1" in found["wrong"].message
    assert found["refused"].verdict is Verdict.REFUSED
    assert found["refused"].message
    assert read_outcomes(results / "litefuse.jsonl") == found

    # What is known is not tried again: this Python could not.
    assert campaign(results, "/nowhere/python").run([good, wrong]) == [found["good"], found["wrong"]]


def test_a_file_that_is_no_model_does_not_run(tmp_path: Path) -> None:
    case = conditional_case(tmp_path, "case")
    (tmp_path / "model.tflite").write_bytes(b"no model")
    for role in ("run", "run-stock"):
        with Worker(sys.executable, role, 60.0) as worker:
            answer = worker.ask(case, tmp_path / "model.tflite")
        assert answer["verdict"] == Verdict.DOES_NOT_RUN.value
        assert answer["message"]


def test_a_process_that_dies_is_told_and_the_next_case_is_tried(tmp_path: Path) -> None:
    dying = program(tmp_path / "dying", "echo no more memory >&2; read request; kill -ABRT $$")
    cases = [conditional_case(tmp_path, "first"), conditional_case(tmp_path, "second")]

    for outcome in campaign(tmp_path / "results", dying).run(cases):
        assert outcome.verdict is Verdict.DIED
        assert "SIGABRT" in outcome.message
        assert "no more memory" in outcome.message


def test_a_process_that_ends_is_told(tmp_path: Path) -> None:
    with Worker(program(tmp_path / "ending", "exit 3"), "run", 60.0) as worker:
        answer = worker.ask(tmp_path, tmp_path)
    assert answer["verdict"] == Verdict.DIED.value
    assert "exit code 3" in answer["message"]


def test_a_process_that_does_not_answer_is_too_slow(tmp_path: Path) -> None:
    with Worker(program(tmp_path / "slow", "sleep 60"), "run", 0.1) as worker:
        assert worker.ask(tmp_path, tmp_path)["verdict"] == Verdict.TOO_SLOW.value


def test_the_command_line_fails_where_a_case_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "keras.results"
    results.mkdir()
    known = [
        Outcome("good", "litefuse", Verdict.PASSES, size=1021, ops=4),
        Outcome("wrong", "litefuse", Verdict.WRONG, "is off\nby 1"),
    ]
    write_outcomes(results / "litefuse.jsonl", known)
    for name in ("good", "wrong"):
        conditional_case(tmp_path / "keras", name)
    (tmp_path / "keras" / "odd").mkdir()
    (tmp_path / "keras" / "odd" / "failed.txt").write_text("Traceback\nValueError: no such size\n")

    arguments = ["keras", "--folder", str(tmp_path)]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert "litefuse: 1 of 2 pass, 1 wrong, 1 not exported" in printed
    assert "wrong: wrong: is off by 1" in printed
    assert "odd: not exported: ValueError: no such size" in printed
    assert main([*arguments, "--only", "good"]) == 0
    with pytest.raises(SystemExit, match="2"):
        main([*arguments, "--only", "none"])
    assert "no cases" in capsys.readouterr().err


def test_larger_files_and_more_ops_are_listed() -> None:
    def outcomes(converter: str, sizes: dict[str, tuple[int, int]]) -> dict[str, Outcome]:
        return {name: Outcome(name, converter, Verdict.PASSES, size=s, ops=o) for name, (s, o) in sizes.items()}

    ours = outcomes(
        "litefuse", {"same": (1020, 5), "larger": (1021, 5), "more": (900, 6), "alone": (9999, 99), "right": (2000, 9)}
    )
    stock = outcomes("stock", dict.fromkeys(("same", "larger", "more"), (1000, 5)))
    stock["alone"] = Outcome("alone", "stock", Verdict.REFUSED, "no")
    stock["right"] = Outcome("right", "stock", Verdict.WRONG, "is off by 1", size=1000, ops=5)
    assert list(larger(ours, stock)) == [
        "larger: 1021 bytes and 5 ops, stock 1000 and 5 (1.021, +0)",
        "more: 900 bytes and 6 ops, stock 1000 and 5 (0.900, +1)",
    ]
    assert summary([*stock.values()]) == "3 of 5 pass, 1 refused, 1 wrong"
    assert list(lines(stock.values())) == ["alone: refused: no", "right: wrong: is off by 1"]
