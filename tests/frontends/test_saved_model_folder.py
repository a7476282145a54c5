"""Folders that are no SavedModels: with one in them, with several, and those of pretrained models without a graph."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import litefuse
from litefuse.errors import LitefuseError, SavedModelError
from litefuse.frontends.source_of import source_of
from litefuse.tools.demo import SAVED_MODEL


def make(folder: Path, *files: str) -> None:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


@pytest.mark.parametrize(
    ("files", "inner"),
    [
        (["saved_model.pb", "1/saved_model.pb"], "."),
        (["1/saved_model.pb"], "1"),
        (["inner/saved_model.pb", "other/notes.txt"], "inner"),
        # As transformers writes it.
        (["config.json", "tf_model.h5", "saved_model/1/saved_model.pb", "saved_model/1/variables/x"], "saved_model/1"),
        (["checkpoint", "eval/events", "export/best/1700000000/saved_model.pb"], "export/best/1700000000"),
        # The loader says that these forms are not read.
        (["1/saved_model.pbtxt"], "1"),
    ],
)
def test_the_only_saved_model_in_a_folder(files: list[str], inner: str, tmp_path: Path) -> None:
    make(tmp_path, *files)
    source = source_of(tmp_path)
    assert source.path == tmp_path / inner
    assert source.name == str(tmp_path / inner)


@pytest.mark.parametrize("parent", [".", "saved_model"])
def test_the_highest_version_is_taken(parent: str, tmp_path: Path) -> None:
    folder = tmp_path / parent
    make(folder, *(f"{version}/saved_model.pb" for version in ("9", "0012", "1")), "13/notes.txt", "x/notes.txt")
    source = source_of(tmp_path)
    assert source.path == folder / "0012"
    assert source.name == f"{folder / '0012'} (the highest version; there are also 1, 9)"


def test_the_report_says_which_version_was_converted(tmp_path: Path) -> None:
    for version in ("2", "10"):
        shutil.copytree(SAVED_MODEL, tmp_path / "model" / version)
    (tmp_path / "model" / "2" / "saved_model.pb").write_bytes(b"damaged")
    report = litefuse.convert(tmp_path / "model").report
    assert report.source == f"{tmp_path / 'model' / '10'} (the highest version; there are also 2)"


def test_several_models_are_listed(tmp_path: Path) -> None:
    make(tmp_path, "a/1/saved_model.pb", "a/2/saved_model.pb", *(f"b/m{n:02}/saved_model.pb" for n in range(12)))
    with pytest.raises(LitefuseError, match="there are several SavedModels in it") as caught:
        source_of(tmp_path)
    listed = caught.value.message.splitlines()[1:]
    assert listed == [f"  {tmp_path}/a/2", *(f"  {tmp_path}/b/m{n:02}" for n in range(9)), "  and 3 more"]
    assert caught.value.where == str(tmp_path)


def test_what_is_not_searched(tmp_path: Path) -> None:
    make(tmp_path / "deep", "a/b/c/d/saved_model.pb")
    make(tmp_path / "broad", *(f"{n}x/notes.txt" for n in range(1001)), "one/saved_model.pb")
    make(tmp_path / "elsewhere", "saved_model.pb")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "1").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "linked" / "loop").symlink_to(tmp_path / "linked")
    for name in ("deep", "broad", "linked"):
        assert source_of(tmp_path / name).path == tmp_path / name
        with pytest.raises(SavedModelError, match=r"holds no saved_model\.pb"):
            litefuse.convert(tmp_path / name)


@pytest.mark.parametrize("name", ["missing", "nul\0byte", "x" * 300])
def test_paths_that_lead_nowhere(name: str, tmp_path: Path) -> None:
    assert source_of(tmp_path / name).path == tmp_path / name


@pytest.mark.parametrize(
    ("weights", "config", "call"),
    [
        ("tf_model.h5", {"architectures": ["GPT2LMHeadModel"]}, "TFGPT2LMHeadModel.from_pretrained({folder!r}))"),
        ("model.safetensors", {"architectures": ["TFViTModel"]}, "TFViTModel.from_pretrained({folder!r}))"),
        ("pytorch_model.bin", {"architectures": None}, "TFAutoModel.from_pretrained({folder!r}, from_pt=True))"),
        ("tf_model.h5.index.json", ["no mapping"], "TFAutoModel.from_pretrained({folder!r}))"),
        ("tf_model.h5", {"architectures": ["x(); y"]}, "TFAutoModel.from_pretrained({folder!r}))"),
        ("tf_model.h5", {"architectures": [], "x": "y" * (1 << 20)}, "TFAutoModel.from_pretrained({folder!r}))"),
    ],
)
def test_a_pretrained_model_without_a_graph(weights: str, config: object, call: str, tmp_path: Path) -> None:
    make(tmp_path, weights)
    (tmp_path / "config.json").write_text(json.dumps(config))
    for path in (tmp_path, tmp_path / weights):
        with pytest.raises(LitefuseError, match=r"a pretrained model of transformers: weights \(") as caught:
            source_of(path)
        assert weights in caught.value.message
        assert call.format(folder=str(tmp_path)) in caught.value.hint
        assert "saved_model=True" in caught.value.hint


def test_weights_without_a_configuration_are_no_pretrained_model(tmp_path: Path) -> None:
    make(tmp_path, "tf_model.h5", "model.h5")
    assert source_of(tmp_path / "tf_model.h5").write is not None
    make(tmp_path, "config.json")
    assert source_of(tmp_path / "model.h5").write is not None
