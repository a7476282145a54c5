"""How commands end: where their output cannot be written, and interrupted at any point of their start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.models import Graph, model

COMMANDS = {
    "--version": "--version",
    "--help": "--help",
    "help of a command": "run --help",
    "doctor fusions": "doctor fusions",
    "kernels list": "kernels list",
    "inspect": f"inspect {SAVED_MODEL} --json",
    "run": "run MODEL",
    "verify": "verify MODEL MODEL",
    "convert": f"convert {SAVED_MODEL} --signature embed -o m.tflite",
}


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.builtin("ADD", [x, x], [y])
    path = tmp_path_factory.mktemp("small") / "small.tflite"
    path.write_bytes(model(graph, signatures={"serve": 0}))
    return path


def shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f'litefuse() {{ {sys.executable} -m litefuse "$@"; }}\n{text}'
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)


def without_notes(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("INFO: ")]  # of the runtime


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_that_cannot_be_written(small_model: Path, tmp_path: Path, name: str) -> None:
    command = f"litefuse {COMMANDS[name].replace('MODEL', str(small_model))}"
    done = shell(f"{command} >&-", tmp_path)
    assert done.returncode == 1
    assert without_notes(done.stderr) == ["error: the output cannot be written: Bad file descriptor"]
    done = shell(f"set -o pipefail; {command} | head -0", tmp_path)  # 0 where it was faster than head
    assert done.returncode in {0, 141}
    assert without_notes(done.stderr) == []
    if Path("/dev/full").exists():
        done = shell(f"{command} >/dev/full", tmp_path)
        assert done.returncode == 1
        assert without_notes(done.stderr) == ["error: the output cannot be written: No space left on device"]
        done = shell(f"{command} >/dev/full 2>&1", tmp_path)
        assert done.returncode == 1


def test_a_reader_that_left_before(tmp_path: Path) -> None:
    done = shell("{ sleep 1; litefuse doctor fusions; } | true; echo ${PIPESTATUS[0]}", tmp_path)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_an_error_that_cannot_be_told(tmp_path: Path) -> None:
    for redirection in ("2>&-", *(("2>/dev/full",) if Path("/dev/full").exists() else ())):
        for command in ("litefuse inspect nothing", "litefuse nosuch"):
            done = shell(f"{command} {redirection}", tmp_path)
            assert done.returncode in {1, 2}
            assert (done.stdout, done.stderr) == ("", "")


def test_no_file_of_ours_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    done = shell(f"litefuse convert -q {SAVED_MODEL} --signature embed -o m.tflite <&- >&- 2>&-", tmp_path)
    assert done.returncode == 0  # nothing is printed
    assert shell("litefuse inspect m.tflite", tmp_path).returncode == 0


# An interrupt comes when a module is asked for, or right after a process was started.
INTERRUPTING = """
import importlib.abc, os, signal, subprocess, sys

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r} and os.getppid() == {parent}:
            sys.meta_path.remove(self)
            os.killpg(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
if {name!r} == "Popen":
    start = subprocess.Popen.__init__
    def init(self, *arguments, **options):
        start(self, *arguments, **options)
        os.killpg(os.getpgid(0), signal.SIGINT)
    subprocess.Popen.__init__ = init
"""
MODULES = [
    "litefuse.support.processes.process",
    "Popen",
    "click",
    "litefuse.tools.cli.app",
    "litefuse.tools.cli.COMMAND",
]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("name", ["convert", "run"])
def test_an_interrupt_at_the_start(small_model: Path, tmp_path: Path, name: str, module: str) -> None:
    (tmp_path / "hooks").mkdir()
    text = INTERRUPTING.format(name=module.replace("COMMAND", name), parent=os.getpid())
    (tmp_path / "hooks" / "sitecustomize.py").write_text(text)
    (tmp_path / "out").mkdir()
    command = COMMANDS[name].replace("MODEL", str(small_model)).split()
    process = subprocess.Popen(
        [sys.executable, "-m", "litefuse", *command],
        cwd=tmp_path / "out",
        env=os.environ | {"PYTHONPATH": str(tmp_path / "hooks")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert (out, without_notes(err)) == ("", [])
    assert not list((tmp_path / "out").iterdir())
    deadline = time.monotonic() + 60
    while True:  # nobody is left of the process group
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline, "a child is left"
        time.sleep(0.05)


def test_an_interrupt_that_is_ignored_stays_so(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING.format(name="click", parent=os.getpid()))
    done = subprocess.run(
        [sys.executable, "-m", "litefuse", "doctor", "fusions"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert done.returncode == 0, done.stderr
