"""Files of Keras's that are damaged or cannot be read here, found out before Keras is loaded; and their process."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.cli.app import app
from litefuse.errors import LitefuseError
from litefuse.frontends.keras_file import KerasFileJob
from litefuse.frontends.keras_loader import write_saved_model_of

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND = object()


def archive(path: Path, config: Any = None, version: str = "3.8.0") -> Path:
    """A file that is one of Keras's as far as can be seen without Keras."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("metadata.json", json.dumps({"keras_version": version}))
        file.writestr("config.json", json.dumps(config or {}))
    return path


def load(path: Path) -> None:
    folder = path.parent / "folder"
    try:
        write_saved_model_of(KerasFileJob(path, folder), lambda _: None)
    finally:
        assert not folder.exists()


def die(job: KerasFileJob, announce: Callable[[str], None]) -> None:
    os._exit(3)


def no_keras(monkeypatch: pytest.MonkeyPatch, *installed: str) -> None:
    """Lets only these packages be found."""
    find: Callable[[str], object] = lambda name: FOUND if name in installed else None  # noqa: E731
    monkeypatch.setattr("importlib.util.find_spec", find)


def test_a_file_that_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    path.write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(LitefuseError, match=r"model\.keras: the file is damaged"):
        load(path)


def test_an_archive_that_is_cut_short(tmp_path: Path) -> None:
    path = archive(tmp_path / "model.keras")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(LitefuseError, match="the file is damaged"):
        load(path)


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "no model")
    with pytest.raises(LitefuseError, match=r"not one of model\.save\(\)"):
        load(path)


def test_a_file_that_is_no_hdf5(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / "model.h5"
    path.write_bytes(b"text")
    with pytest.raises(LitefuseError, match=r"model\.h5: the file is damaged, or no HDF5 file"):
        load(path)


@pytest.mark.parametrize(
    "config",
    [
        {"config": {"layers": [{"config": {"function": {"class_name": "__lambda__", "config": {"code": "4wE="}}}}]}},
        {"config": [{"class_name": "Lambda", "config": {"function": ["4wE=", None, None], "function_type": "lambda"}}]},
    ],
)
def test_code_in_a_file_is_not_run(tmp_path: Path, config: Any) -> None:
    with pytest.raises(LitefuseError, match=r"(?s)brings Python code along.*If you trust it"):
        load(archive(tmp_path / "model.keras", config))


@pytest.mark.parametrize(
    ("version", "installed", "missing"),
    [
        ("3.8.0", (), "keras and tensorflow"),
        ("3.8.0", ("tensorflow", "tf_keras"), "keras"),
        ("2.15.0", ("tf_keras",), "tensorflow"),
        ("2.15.0", ("tensorflow",), "keras"),
    ],
)
def test_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, installed: tuple[str, ...], missing: str
) -> None:
    path = archive(tmp_path / "model.keras", version=version)
    no_keras(monkeypatch, *installed)
    with pytest.raises(
        LitefuseError, match=rf'(?s)of which {missing} cannot be found.*pip install "litefuse\[keras\]"'
    ):
        load(path)


def test_an_hdf5_file_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.h5"
    path.touch()
    no_keras(monkeypatch, "keras", "tensorflow")
    with pytest.raises(LitefuseError, match=r"of which h5py cannot be found"):
        load(path)


@pytest.mark.parametrize("command", ["convert", "inspect"])
def test_the_commands_refuse_a_damaged_file_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    path, work = tmp_path / "model.keras", tmp_path / "work"
    path.write_bytes(b"text")
    work.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    monkeypatch.chdir(work)
    outcome = CliRunner().invoke(app, [command, str(path)])
    assert outcome.exit_code == 1
    assert outcome.stderr.startswith(f"error: {path}: the file is damaged")
    assert list(work.iterdir()) == []
    assert not {"keras", "tensorflow", "tf_keras"} & sys.modules.keys()


def test_the_death_of_the_process_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "model.keras")
    monkeypatch.setattr("litefuse.frontends.keras_file._LOADER", f"{__name__}:die")
    with pytest.raises(LitefuseError, match=r"(?s)the process that read the file died.*keras\.models\.load_model"):
        litefuse.convert(path)
