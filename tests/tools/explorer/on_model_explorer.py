"""Model Explorer itself: the ids that it gives to nodes, and its server. Run by .ci/explorer, which installs it.

``python -m tests.tools.explorer.on_model_explorer`` records the ids.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import litefuse
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.explorer.node_data import byte_data
from litefuse.tools.explorer.viewer import HOST
from tests.litert.runtime.models import model
from tests.tools.explorer.ports import free_port
from tests.tools.explorer.test_nodes import RECORDED, many_kinds, named_like_ids

# In a process of its own: the adapter brings TensorFlow's libraries along.
CONVERT = """
import sys
import ai_edge_model_explorer_adapter as adapter
print(adapter.ConvertFlatbufferDirectlyToJson(adapter.VisualizeConfig(), sys.argv[1]))
"""


def recorded(path: Path) -> dict[str, list[list[Any]]]:
    """The graphs that Model Explorer makes of a file: the id, the label and the results of each node."""
    done = subprocess.run(
        [sys.executable, "-c", CONVERT, str(path)], capture_output=True, text=True, timeout=120, check=True
    )
    (collection,) = json.loads(done.stdout)
    return {
        graph["id"]: [[node["id"], node["label"], results(node)] for node in graph["nodes"]]
        for graph in collection["subgraphs"]
    }


def results(node: dict[str, Any]) -> list[str]:
    return [
        attribute["value"]
        for output in node["outputsMetadata"]
        for attribute in output["attrs"]
        if attribute["key"] == "tensor_name"
    ]


def files(folder: Path) -> dict[str, Path]:
    """The files of ``graphs.json``."""
    found = {name: folder / f"{name}.tflite" for name in ("many", "digits", "demo")}
    found["many"].write_bytes(many_kinds())
    found["digits"].write_bytes(model(named_like_ids(), signatures={"serve": 0}))
    litefuse.convert(SAVED_MODEL).save(found["demo"])
    return found


def test_the_recorded_graphs_are_those_of_model_explorer(tmp_path: Path) -> None:
    assert {name: recorded(path) for name, path in files(tmp_path).items()} == RECORDED


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
        command = [
            sys.executable,
            "-m",
            "litefuse",
            "report",
            str(copy),
            "--explorer",
            "--no-time",
            "--node-data",
            str(more),
        ]
        server = subprocess.Popen(
            [*command, "--port", str(port)],
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


def test_the_server_ends_with_the_command(demo_model: Path) -> None:
    environment = {**os.environ, "HTTPS_PROXY": f"http://{HOST}:9", "NO_PROXY": HOST, "no_proxy": HOST}
    with free_port() as port:
        command = [
            sys.executable,
            "-m",
            "litefuse",
            "report",
            str(demo_model),
            "--explorer",
            "--no-time",
            "--port",
            str(port),
        ]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, text=True) as server:
            wait_for(port, server)
            server.kill()
        while True:  # until it is gone; a server that stays is an endless test
            try:
                fetched(port, "/check_health")
            except OSError:
                break
            time.sleep(0.1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        content = {name: recorded(path) for name, path in files(Path(temporary)).items()}
    target = Path(__file__).with_name("graphs.json")
    target.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
