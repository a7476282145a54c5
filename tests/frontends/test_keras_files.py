"""Files of Keras's that are damaged or cannot be read here, found out before Keras is loaded; and their process."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError
from litefuse.frontends.keras_config import MAX_CONFIG_BYTES
from litefuse.frontends.keras_file import KerasFileJob
from litefuse.frontends.keras_hdf5 import UNCHECKED_BYTES
from litefuse.frontends.keras_loader import write_saved_model_of
from litefuse.tools.cli.app import app
from litefuse.tools.cli.failures import ExitCode
from tests.litert.runtime.models import Graph, model

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
    path = tmp_path / "model.h5"
    path.write_bytes(b"text")
    with pytest.raises(LitefuseError, match=r"model\.h5: the file is damaged, or not an HDF5 file"):
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


def zipped(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    metadata = {"metadata.json": json.dumps({"keras_version": "3.15.1"}).encode()}
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in ({"config.json": b"{}"} | metadata | members).items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name", ["../model.txt", "assets/../../model.txt", "/model.txt", "assets\\..\\model.txt", "model.py"]
)
def test_members_that_keras_does_not_write(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "model.keras", {name: b"text"})
    with pytest.raises(
        LitefuseError, match=r"model\.keras: the archive has '.*', which is none of the files that Keras"
    ):
        load(path)


def test_a_link_in_an_archive(tmp_path: Path) -> None:
    path = zipped(tmp_path / "model.keras", {})
    link = zipfile.ZipInfo("assets/words.txt")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(LitefuseError, match=r"'assets/words.txt', which is none of the files"):
        load(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["config.json", "model.weights.h5"])
def test_a_member_that_is_there_twice(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "model.keras", {name: b"{}"})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, "{}")
    with pytest.raises(LitefuseError, match=rf"the archive has '{name}' more than once"):
        load(path)


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("config.json", MAX_CONFIG_BYTES, "'config.json' in the archive is too large: it expands to 33,554,434 bytes"),
        ("metadata.json", 2**20, "'metadata.json' in the archive is too large: it expands to 1,048,578 bytes"),
    ],
)
def test_a_configuration_that_expands(tmp_path: Path, name: str, size: int, message: str) -> None:
    path = zipped(tmp_path / "model.keras", {name: b'"' + b" " * size + b'"'})
    assert path.stat().st_size < size / 500
    with pytest.raises(LitefuseError, match=message):
        load(path)


@pytest.mark.parametrize("name", ["model.weights.h5", "assets/words.txt"])
def test_an_archive_that_expands(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.keras"
    zipped(path, {})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as file, file.open(name, "w") as member:
        for _ in range(UNCHECKED_BYTES // 2**20):
            member.write(bytes(2**20))
    with pytest.raises(LitefuseError, match=r"bytes and expands to 268,435,\d\d\d, more than 100 times as many"):
        load(path)


def test_weights_that_are_an_archive_that_expands(tmp_path: Path) -> None:
    inner = BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file, file.open("0.npy", "w") as member:
        for _ in range(UNCHECKED_BYTES // 2**20 + 1):
            member.write(bytes(2**20))
    path = zipped(tmp_path / "model.keras", {"model.weights.npz": inner.getvalue()}, zipfile.ZIP_STORED)
    with pytest.raises(LitefuseError, match=r"bytes and expands to 269,\d\d\d,\d\d\d, more than 100 times as many"):
        load(path)


def hdf5(path: Path, fill: Callable[[Any, Any], None]) -> Path:
    h5py: Any = importlib.import_module("h5py")
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = "{}"
        file.attrs["keras_version"] = "2.15.0"
        fill(h5py, file)
    return path


def grow(h5py: Any, file: Any) -> None:
    file.create_dataset("model_weights/kernel", (2**40,), "f4", chunks=(2**10,))


def link(h5py: Any, file: Any) -> None:
    file["model_weights/inner/kernel"] = h5py.ExternalLink("other.h5", "/kernel")


def link_softly(h5py: Any, file: Any) -> None:
    file["model_weights"] = h5py.SoftLink("/elsewhere")


def keep_elsewhere(h5py: Any, file: Any) -> None:
    file.create_dataset("optimizer_weights/kernel", (4,), "f4", external=[("/etc/passwd", 0, 16)])


def piece_together(h5py: Any, file: Any) -> None:
    layout = h5py.VirtualLayout((4,), "f4")
    layout[...] = h5py.VirtualSource("other.h5", "kernel", (4,))
    file.create_virtual_dataset("kernel", layout)


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (grow, "its arrays would take 4,398,046,511,104, more than 100 times as many"),
        (link, "'/model_weights/inner/kernel' in the file is a link to another place"),
        (link_softly, "'/model_weights' in the file is a link to another place"),
        (keep_elsewhere, "'/optimizer_weights/kernel' in the file is an array of other files"),
        (piece_together, "'/kernel' in the file is an array of other files"),
    ],
)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_weights_that_are_not_in_the_file(
    tmp_path: Path, fill: Callable[[Any, Any], None], message: str, suffix: str, compression: int
) -> None:
    path = hdf5(tmp_path / "model.h5", fill)
    if suffix == ".keras":
        path = zipped(tmp_path / "model.keras", {"model.weights.h5": path.read_bytes()}, compression)
    with pytest.raises(LitefuseError, match=message):
        load(path)


def test_groups_that_hold_each_other_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(h5py: Any, file: Any) -> None:
        group = file.create_group("group")
        group["again"] = group
        group["root"] = file

    path = hdf5(tmp_path / "model.h5", fill)
    no_keras(monkeypatch, "h5py")
    with pytest.raises(LitefuseError, match="but keras and tensorflow cannot be found"):
        load(path)


@pytest.mark.parametrize("version", [b"3.15.1", 7, [1, 2]])
def test_configurations_of_other_types(tmp_path: Path, version: Any) -> None:
    def fill(h5py: Any, file: Any) -> None:
        file.attrs["keras_version"] = version
        file.attrs["model_config"] = [1, 2]

    with pytest.raises(LitefuseError, match="the model's configuration is damaged"):
        load(hdf5(tmp_path / "model.h5", fill))


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
    with pytest.raises(LitefuseError, match=rf'(?s)but {missing} cannot be found.*pip install "litefuse\[keras\]"'):
        load(path)


def test_an_hdf5_file_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.h5"
    path.touch()
    no_keras(monkeypatch, "keras", "tensorflow")
    with pytest.raises(LitefuseError, match=r"but h5py cannot be found"):
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


@pytest.mark.parametrize(
    "command", [("convert",), ("inspect",), ("verify", "add.tflite"), ("kernels", "new", "Op", "--from")], ids=" ".join
)
def test_every_command_looks_at_the_file_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def fill(h5py: Any, file: Any) -> None:
        code = ["4wE=", None, None]
        config = {"name": "plus_one", "function": "relu", "mask": code, "mask_type": "lambda"}
        file.attrs["model_config"] = json.dumps({"class_name": "Lambda", "config": config})

    path = hdf5(tmp_path / "model.h5", fill)
    monkeypatch.chdir(tmp_path)
    graph = Graph()
    graph.builtin("ADD", [graph.input("x", (2,)), graph.input("y", (2,))], [graph.output("z", (2,))])
    Path("add.tflite").write_bytes(model(graph, signatures={"serving_default": 0}))
    outcome = CliRunner().invoke(app, [*command, str(path)])
    assert outcome.exit_code == (ExitCode.NOT_COMPARED if command[0] == "verify" else ExitCode.FAILED)
    assert outcome.stderr.startswith(
        f"error: {path}: the file brings Python code along, in 'mask' of 'plus_one' (Lambda)"
    )
    assert {each.name for each in tmp_path.iterdir()} == {"add.tflite", "model.h5"}


def test_the_death_of_the_process_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "model.keras")
    monkeypatch.setattr("litefuse.frontends.keras_file._LOADER", f"{__name__}:die")
    with pytest.raises(LitefuseError, match=r"(?s)the process that read the file died.*keras\.models\.load_model"):
        litefuse.convert(path)
