"""The corpus: past faults, which must be refused or work now."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.campaign import try_files
from fuzz.corpus import CORPUS, differs, entries, replay
from fuzz.targets import target_class

ENTRIES = list(entries(CORPUS))


@pytest.mark.parametrize(("target", "expected"), ENTRIES, ids=[target for target, _ in ENTRIES])
def test_the_corpus(target: str, expected: dict[Path, str]) -> None:
    if target_class(target).needs_sanitizers:
        pytest.skip("python -m fuzz replay builds what it needs")

    outcomes = try_files(target, [*expected], sanitized=False)
    found = {path: differs(outcome, expected[path]) for path, outcome in outcomes}

    assert found == dict.fromkeys(expected)


def test_every_file_of_the_corpus_is_expected() -> None:
    listed = {path for _, expected in ENTRIES for path in expected}

    assert listed
    assert listed == {path for path in CORPUS.glob("*/*") if path.name != "expected.txt"}


def test_a_wrong_outcome_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "saved_model"
    folder.mkdir()
    (folder / "wrong.zip").write_bytes(next(iter(CORPUS.glob("saved_model/*.zip"))).read_bytes())
    (folder / "expected.txt").write_text("wrong.zip success\n")
    said: list[str] = []

    assert replay(tmp_path, said.append) == 1
    assert "is not 'success'" in said[0]
    assert said[-1] == "replay: 1 mutants, 1 not as they must be"


def test_an_empty_corpus_is_no_success(tmp_path: Path) -> None:
    assert replay(tmp_path, lambda _: None) == 1
