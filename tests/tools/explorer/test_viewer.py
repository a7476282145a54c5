"""``litefuse report --explorer``, as far as it does without Model Explorer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from litefuse.errors import LitefuseError
from litefuse.tools.cli.app import app
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.explorer import viewer
from litefuse.tools.explorer.viewer import show_model
from tests.every import every
from tests.litert.runtime.models import Graph, model
from tests.tools.explorer.ports import free_port


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.stdout, result.stderr


def scaled(factor: float) -> bytes:
    """|x| times a constant, plus another one."""
    graph = Graph()
    x, by, plus = graph.input("x", (2, 3)), graph.tensor("by", (3,), value=[factor] * 3), graph.tensor("p", (), value=1)
    y, z, out = graph.tensor("y", (2, 3)), graph.tensor("z", (2, 3)), graph.output("out", (2, 3))
    graph.builtin("ABS", [x], [y])
    graph.builtin("MUL", [y, by], [z])
    graph.builtin("ADD", [z, plus], [out])
    return model(graph, signatures={"serve": 0})


def test_node_data_are_written_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "_PACKAGE", "model_explorer_that_is_not_there")
    one, other, folder = tmp_path / "one.tflite", tmp_path / "other.tflite", tmp_path / "data"
    one.write_bytes(scaled(2.0))
    other.write_bytes(scaled(2.5))
    code, out, err = run("report", one, other, "--explorer", "-o", folder)
    written = ", ".join(str(folder / f"{name}.json") for name in ("bytes", "time", "error"))
    assert (code, out) == (0, f"Written to {written}\n"), err
    times = json.loads((folder / "time.json").read_text())["serve"]["results"]
    assert {*times} <= {"0", "1", "2"}
    assert every(each["value"] >= 0 for each in times.values())
    errors = json.loads((folder / "error.json").read_text())["serve"]["results"]
    assert errors["0"]["value"] == 0.0
    assert errors["1"]["value"] == pytest.approx(0.2)  # 0.5 of 2.5
    assert 0 < errors["2"]["value"] < 0.2
    code, _, message = run("report", one, "--explorer")
    assert code == ExitCode.FAILED
    assert 'Model Explorer is not installed\nInstall it: pip install "litefuse[explorer]".' in message


def test_what_cannot_be_shown(demo_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "_PACKAGE", "json")  # one that is there
    assert run("report", demo_model, "--port", "8080")[0] == ExitCode.USAGE
    code, _, message = run("report", tmp_path / "absent.tflite", "--explorer")
    assert code == ExitCode.FAILED
    assert "absent.tflite: no such file or folder" in message
    (tmp_path / "cut.tflite").write_bytes(demo_model.read_bytes()[:1000])
    assert run("report", tmp_path / "cut.tflite", "--explorer")[0] == ExitCode.FAILED
    with free_port(taken=True) as port, pytest.raises(LitefuseError, match=f"port {port} is taken on this machine"):
        show_model(demo_model, port=port)


def test_a_server_that_ends(demo_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "_PACKAGE", "json")
    monkeypatch.setattr(viewer, "_SERVING", "litefuse.there_is_no_such_module")
    with free_port() as port, pytest.raises(LitefuseError, match="Model Explorer ended with the exit code 1"):
        show_model(demo_model, port=port)
