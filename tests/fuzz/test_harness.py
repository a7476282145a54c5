"""The fuzzer finds faults that are planted, says how to find them again, and is content where there are none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from fuzz.cli import main
from fuzz.outcome import Kind, Outcome, of_error
from fuzz.targets import TARGETS, target_named

from litefuse.errors import LitefuseError


def planted(name: str) -> str:
    return f"tests.fuzz.planted:{name}"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Raising", Kind.FOREIGN),
        ("Dying", Kind.DEATH),
        ("Sleeping", Kind.HANG),
        ("Growing", Kind.MEMORY),
        ("Bug", Kind.BUG),
    ],
)
def test_a_planted_fault_is_found(name: str, kind: Kind, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = main([planted(name), "--runs", "5", "--seed", "10", "--keep", str(tmp_path)])

    printed = capfd.readouterr().out
    assert code == 1
    assert f"FINDING: {kind.value}: " in printed
    assert f"reproduce with: python -m fuzz {planted(name)} --seed 12 --runs 1" in printed
    assert (tmp_path / "12.txt").read_bytes() == b"f"
    assert re.search(rf"5 mutants in \d+ s: .*1 {kind.value}.*; 1 findings", printed)


def test_no_fault_is_no_finding(capfd: pytest.CaptureFixture[str]) -> None:
    code = main([planted("Sound"), "--runs", "9", "--seed", "0", "--jobs", "2"])

    printed = capfd.readouterr().out
    assert code == 0
    assert "9 mutants" in printed
    assert "6 success, 3 refusal; 0 findings" in printed


def test_faults_of_one_cause_are_one_finding(capfd: pytest.CaptureFixture[str]) -> None:
    code = main([planted("Bug"), "--runs", "9", "--seed", "0"])

    printed = capfd.readouterr().out
    assert code == 1
    assert printed.count("FINDING") == 1
    assert "3 times: bug in litefuse" in printed


def test_the_time_ends_a_campaign(capfd: pytest.CaptureFixture[str]) -> None:
    code = main([planted("Sound"), "--minutes", "0.01", "--seed", "0"])

    assert code == 0
    assert "0 findings" in capfd.readouterr().out


def test_no_child_outlives_a_campaign() -> None:
    """The time may be over while a mutant hangs, which nobody watches any more."""
    command = [sys.executable, "-m", "fuzz.zygote", planted("Sleeping")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        print(json.dumps({"first": 2, "step": 1, "count": 2}), file=zygote.stdin, flush=True)
        assert json.loads(zygote.stdout.readline())["item"] == 2  # the child is at the next one, which sleeps
        (child,) = psutil.Process(zygote.pid).children()
        zygote.terminate()
    assert not child.is_running()


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "keras"])
def test_a_mutant_is_a_function_of_its_number(name: str) -> None:
    target = target_named(name)

    first = [target.mutant(number) for number in range(40)]
    assert first == [target_named(name).mutant(number) for number in range(40)]
    assert len({*first}) > 30


def test_causes_are_told_apart_by_their_places_and_not_by_names() -> None:
    def found(text: str) -> Outcome:
        return of_error(LitefuseError(f"node {text!r} of 12 has no input {len(text)}"))

    assert found("a") != found("bbb")
    assert found("a").group == found("bbb").group
