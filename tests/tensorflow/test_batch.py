"""Batches whose models are verified: TensorFlow is started once for all models of a process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.support.processes import process
from litefuse.tools.batch_runs import task
from litefuse.tools.batch_runs.entry import Entry
from tests.tools.batch_runs.models import dense_models


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_tensorflow_stays_warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "_end_with_starter", lambda: None)  # this is no process of a batch
    served: list[tuple[Any, int]] = []
    for path in dense_models(tmp_path / "models", 3):
        entry = Entry(path.stem, str(path), verify={"repeat": 1})
        assert task.run_task(task.Task(entry, str(tmp_path)), lambda _: None).status == "done"
        kept = process._FORKING._workers[-1]  # pyright: ignore[reportPrivateUsage] # noqa: SLF001
        served.append((kept, kept.jobs))
    assert {each for each, _ in served} == {served[0][0]}
    assert [jobs - served[0][1] for _, jobs in served] == [0, 1, 2]


def test_verdicts_are_outcomes(tmp_path: Path) -> None:
    one, other = dense_models(tmp_path / "models", 2)
    models: list[Any] = [
        {"path": one, "name": "equal"},
        {"path": one, "name": "differs", "verify": {"original": str(other), "repeat": 1}},
        {"path": one, "name": "none", "verify": {"original": str(tmp_path / "none")}},
    ]
    result = litefuse.batch(models, output=tmp_path / "out", defaults={"verify": {"repeat": 1}}, jobs=1)
    assert [each.status for each in result.outcomes] == ["done", "differs", "failed"]
    assert "the largest error is" in result.outcomes[1].message
    assert (tmp_path / "out/differs.tflite").is_file()
    again = litefuse.batch(models, output=tmp_path / "out", defaults={"verify": {"repeat": 1}}, jobs=1)
    assert [(each.status, each.attempts) for each in again.outcomes] == [("done", 0), ("differs", 0), ("failed", 1)]
