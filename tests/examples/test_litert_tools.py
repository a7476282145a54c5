"""examples/litert_tools as far as the packages of the tests go; ``.ci/litert-tools`` installs the others."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import litefuse
from litefuse.litert.inspection.litert_model import inspect_litert_model
from tests.examples.on_litert_tools import EXAMPLE, FILES, SAID, made_files, parts

LABELS = {
    "colours.tflite": ["colours.txt"],
    "colours.int8.tflite": ["colours.txt"],
    "praise.tflite": ["judgements.txt"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_files(tmp_path_factory.mktemp("files"))


def test_all_parts_are_run() -> None:
    assert {FILES, *SAID} == parts().keys()
    table = (EXAMPLE / "README.md").read_text("utf-8").partition("\n## ")[0]
    for part in parts():
        assert f"| [{part}](#" in table


@pytest.mark.parametrize("file", LABELS)
def test_labels_go_along(files: Path, file: str) -> None:
    facts = inspect_litert_model(files / file)
    described = facts.to_json()["model_metadata"]
    outputs = described["subgraph_metadata"][0]["output_tensor_metadata"]
    assert [each["name"] for each in outputs[0]["associated_files"]] == LABELS[file]
    with zipfile.ZipFile(files / file) as archive:
        assert set(LABELS[file]) <= set(archive.namelist())
        for name in LABELS[file]:
            assert archive.read(name) == (EXAMPLE / name).read_bytes()


def test_what_tasks_of_mediapipe_refuse(files: Path, tmp_path: Path) -> None:
    """One subgraph and no op that writes a state: unrolled, but not as one op nor as a loop."""
    unrolled = inspect_litert_model(files / "praise.tflite")
    assert len(unrolled.to_json()["subgraphs"]) == 1
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" not in unrolled.op_counts
    fused = litefuse.convert(files / "praise").report
    assert fused.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    litefuse.convert(files / "praise", target="litert").save(tmp_path / "loop.tflite")
    assert len(inspect_litert_model(tmp_path / "loop.tflite").to_json()["subgraphs"]) > 1


@pytest.mark.parametrize("file", ["colours.tflite", "colours.int8.tflite"])
def test_benchmark_of_litert(files: Path, tmp_path: Path, file: str) -> None:
    result = tmp_path / "result.json"
    command = [sys.executable, "-m", "ai_edge_litert.tools.benchmark_litert_model", "--model", str(files / file)]
    done = subprocess.run(
        [*command, "--num_runs", "5", "--warmup_runs", "1", "--result_json", str(result)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(result.read_text())
    assert found["signature"] == "serving_default"
    assert found["latency"]["num_runs"] == 5
