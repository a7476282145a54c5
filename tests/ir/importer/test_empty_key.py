"""A signature whose key is empty: the others can be converted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import GraphError
from litefuse.frontends.saved_model.messages import SavedModel
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "model"
    shutil.copytree(SAVED_MODEL, model)
    file = model / "saved_model.pb"
    proto = SavedModel.FromString(file.read_bytes())
    signatures = proto.meta_graphs[0].signature_def
    signatures[""].CopyFrom(signatures["serving_default"])
    file.write_bytes(proto.SerializeToString())
    return model


@pytest.mark.parametrize("keys", [None, [""]])
def test_an_empty_key_is_refused(folder: Path, keys: list[str] | None) -> None:
    with pytest.raises(GraphError, match="a signature has an empty name") as caught:
        litefuse.convert(folder, signatures=keys)
    assert "select others" in caught.value.hint


def test_the_others_are_converted(folder: Path) -> None:
    assert litefuse.convert(folder, signatures=["embed"]).report.signatures == ("embed",)


def test_it_is_inspected_all_the_same(folder: Path) -> None:
    done = CliRunner().invoke(app, ["inspect", str(folder)])
    assert done.exit_code == 0
    assert "an empty name" in done.output
    assert "serving_default" in done.output
