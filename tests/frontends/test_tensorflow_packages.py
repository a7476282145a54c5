"""Packages of TensorFlow that overwrite each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.frontends import keras_loader
from litefuse.frontends.tensorflow_packages import conflict, is_corrected, tensorflow_packages


def installed(folder: Path, *names: str) -> dict[str, str]:
    for name in names:
        info = folder / f"{name.replace('-', '_')}-2.21.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.21.0\n")
    return tensorflow_packages([str(folder)])


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["numpy", "tensorflow_cpu"], ["tensorflow-cpu"]),
        (["tensorflow"], ["tensorflow"]),
        (["tensorflow", "tensorflow-intel"], ["tensorflow-intel"]),
        ([], []),
    ],
    ids=["cpu", "full", "windows", "none"],
)
def test_one_package(tmp_path: Path, names: list[str], found: list[str]) -> None:
    assert [*installed(tmp_path, *names)] == found
    assert conflict(found) is None


def test_two_packages(tmp_path: Path) -> None:
    packages = installed(tmp_path, "tensorflow", "tensorflow-cpu", "keras")
    assert packages == {"tensorflow": "2.21.0", "tensorflow-cpu": "2.21.0"}
    told = conflict(packages)
    assert told is not None
    assert "pip uninstall -y tensorflow tensorflow-cpu && pip install tensorflow-cpu" in told.remedy


def test_a_tensorflow_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError(f"{name} is broken")

    def found(name: str) -> str:
        return name

    def both() -> dict[str, str]:
        return {"tensorflow": "2.20.0", "tensorflow-cpu": "2.21.0"}

    monkeypatch.setattr(keras_loader.importlib, "import_module", broken)
    monkeypatch.setattr(keras_loader.importlib.util, "find_spec", found)
    monkeypatch.setattr(keras_loader, "tensorflow_packages", both)
    with pytest.raises(keras_loader.LitefuseError, match=r"tensorflow is broken\n.*overwrite each other"):
        keras_loader.import_keras("keras", "model.keras")


@pytest.mark.parametrize(
    ("version", "corrected"),
    [
        ("2.15.1", False),
        ("3.11.9", False),
        ("3.12.3", False),
        ("3.12.4", True),
        ("3.12.10", True),
        ("3.13.4", False),
        ("3.15.0", False),
        ("3.15.1", True),
        ("3.16.0", True),
        ("4.0.0", True),
    ],
)
def test_the_releases_of_keras_that_read_files_safely(version: str, corrected: bool) -> None:
    assert is_corrected(version) is corrected
