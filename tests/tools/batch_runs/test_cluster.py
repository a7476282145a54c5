"""Batches on a Dask cluster in this machine's processes."""

from __future__ import annotations

import importlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.errors import LitefuseError
from tests.tools.batch_runs.models import DEMO, dense_models, fault


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed = importlib.import_module("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=False
    ) as cluster:
        yield cluster.scheduler_address


def test_the_same_as_here(address: str, tmp_path: Path) -> None:
    models: list[Any] = [*dense_models(tmp_path / "models", 3)]
    models += [{"path": DEMO, "name": each, "plug_ins": [fault(tmp_path, each)]} for each in ("crashes", "raises")]
    models.append(tmp_path / "none.pb")
    here = litefuse.batch(models, output=tmp_path / "here", jobs=2)
    there = litefuse.batch(models, output=tmp_path / "there", scheduler=address)

    def table(result: litefuse.BatchResult) -> list[tuple[Any, ...]]:
        return [
            (each.name, each.status, each.attempts, each.files, [(step.step, step.status) for step in each.steps])
            for each in result.outcomes
        ]

    assert table(there) == table(here)
    assert [each.status for each in there.outcomes] == ["done", "done", "done", "crashed", "failed", "failed"]
    again = litefuse.batch(models[:3], output=tmp_path / "there", scheduler=address)
    assert [each.attempts for each in again.outcomes] == [0, 0, 0]


def test_a_scheduler_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.tools.batch_runs.cluster._CONNECT", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(LitefuseError, match="does not answer") as caught:
            litefuse.batch(dense_models(tmp_path / "models", 1), output=tmp_path / "out", scheduler=address)
    assert caught.value.where == address


def test_dask_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LitefuseError, match="Dask") as caught:
        litefuse.batch(dense_models(tmp_path / "models", 1), output=tmp_path / "out", scheduler="tcp://127.0.0.1:1")
    assert "litefuse[cloud]" in caught.value.hint
