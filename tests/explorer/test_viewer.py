"""``litefuse show``: Model Explorer's server with a model and node data."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from litefuse.cli.app import app
from litefuse.cli.failures import ExitCode
from litefuse.errors import LitefuseError
from litefuse.explorer import viewer
from litefuse.explorer.node_data import byte_data
from litefuse.explorer.viewer import HOST, show_model
from tests.runtime.models import Graph, model


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.stdout, result.stderr


@contextmanager
def free_port(*, taken: bool = False) -> Generator[int]:
    """A port of this machine, which is in use within the context if it is to be taken."""
    with socket.socket() as place:
        place.bind((HOST, 0))
        if taken:
            place.listen()
            yield place.getsockname()[1]
            return
        port = place.getsockname()[1]
    yield port


def fetched(port: int, path: str, data: Any = None) -> str:
    request = urllib.request.Request(f"http://{HOST}:{port}{path}", headers={"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, None if data is None else json.dumps(data).encode(), timeout=60) as answer:
        return answer.read().decode()


def wait_for(port: int, server: subprocess.Popen[str]) -> None:
    while server.poll() is None:
        try:
            assert fetched(port, "/check_health") == "model_explorer_ok"
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server ended")


def test_the_server_has_the_model_and_the_data(demo_model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "größe & #1.tflite"
    shutil.copyfile(demo_model, copy)
    more = tmp_path / "100% mine.json"
    more.write_text(json.dumps({"embed": {"results": {"2": {"value": 7}}}}))
    # Its look for newer versions of itself is answered here, at once, with a refusal.
    environment = {**os.environ, "HTTPS_PROXY": f"http://{HOST}:9", "NO_PROXY": HOST, "no_proxy": HOST}
    with free_port() as port:
        command = [sys.executable, "-m", "litefuse", "show", str(copy), "--bytes", "--node-data", str(more)]
        server = subprocess.Popen(
            [*command, "--no-open", "--port", str(port)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            wait_for(port, server)
            assert "Model Explorer" in fetched(port, "/")
            answers = [json.loads(fetched(port, f"/api/v1/load_node_data?node_data_index={each}")) for each in (0, 1)]
            assert json.loads(answers[0]["content"]) == json.loads(more.read_text())
            assert json.loads(answers[1]["content"]) == byte_data(demo_model).graphs
            convert: dict[str, Any] = {
                "cmdId": "convert",
                "extensionId": "builtin_tflite_flatbuffer",
                "modelPath": str(copy),
                "settings": {},
                "deleteAfterConversion": False,
            }
            (graphs,) = json.loads(fetched(port, "/apipost/v1/send_command", convert))["graphCollections"]
            assert [each["id"] for each in graphs["graphs"]] == ["embed", "serving_default", "initialize_variables"]
            server.send_signal(signal.SIGINT)
            printed, _ = server.communicate(timeout=60)
        finally:
            server.kill()
        assert server.returncode == 130, printed  # as any command that is interrupted
        assert "Stopping server" in printed
        found = re.search(r"^http\S+$", printed, flags=re.MULTILINE)
        assert found is not None, printed
        shown = json.loads(unquote(found[0].partition("data=")[2]))
        assert shown["models"] == [{"url": str(copy), "adapterId": "builtin_tflite_flatbuffer"}]
        assert shown["nodeData"] == ["node_data://100% mine/0", "node_data://bytes of constants/1"]


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
    code, out, err = run("show", one, "--bytes", "--time", "--verify", other, "--write-node-data", folder)
    assert (code, out.splitlines()) == (0, [str(folder / f"{each}.json") for each in ("bytes", "time", "error")]), err
    times = json.loads((folder / "time.json").read_text())["serve"]["results"]
    assert {*times} <= {"0", "1", "2"}
    assert all(each["value"] >= 0 for each in times.values())
    errors = json.loads((folder / "error.json").read_text())["serve"]["results"]
    assert errors["0"]["value"] == 0.0
    assert errors["1"]["value"] == pytest.approx(0.2)  # 0.5 of 2.5
    assert 0 < errors["2"]["value"] < 0.2
    code, _, message = run("show", one)
    assert code == ExitCode.FAILED
    assert 'Model Explorer is not installed\nInstall it: pip install "litefuse[explorer]".' in message


def test_what_cannot_be_shown(demo_model: Path, tmp_path: Path) -> None:
    assert run("show", demo_model, "--write-node-data", tmp_path)[0] == ExitCode.USAGE
    code, _, message = run("show", tmp_path / "absent.tflite")
    assert code == ExitCode.FAILED
    assert "absent.tflite: the file cannot be read: No such file or directory" in message
    (tmp_path / "cut.tflite").write_bytes(demo_model.read_bytes()[:1000])
    assert run("show", tmp_path / "cut.tflite")[0] == ExitCode.FAILED
    with free_port(taken=True) as port, pytest.raises(LitefuseError, match=f"port {port} is taken on this machine"):
        show_model(demo_model, port=port)


def test_a_server_that_ends(demo_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "_SERVING", "litefuse.there_is_no_such_module")
    with free_port() as port, pytest.raises(LitefuseError, match="Model Explorer ended with the exit code 1"):
        show_model(demo_model, port=port, opens=False)


def test_the_server_ends_with_the_command(demo_model: Path) -> None:
    environment = {**os.environ, "HTTPS_PROXY": f"http://{HOST}:9", "NO_PROXY": HOST, "no_proxy": HOST}
    with free_port() as port:
        command = [sys.executable, "-m", "litefuse", "show", str(demo_model), "--no-open", "--port", str(port)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, text=True) as server:
            wait_for(port, server)
            server.kill()
        while True:  # until it is gone; a server that stays is an endless test
            try:
                fetched(port, "/check_health")
            except OSError:
                break
            time.sleep(0.1)
