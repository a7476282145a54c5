"""The parts of examples/litert_tools run as they stand in its README, each in an environment of its own.

``.ci/litert-tools`` runs this: it installs packages, which no other test does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "litert_tools"
SAID = {
    "LiteRT's command line": ["(red) - score", "(praise) - score", "Quantization complete!"],
    "LiteRT's benchmark": ["Fully accelerated:     True"],
    "MediaPipe's tasks": ["colours.int8.tflite: blue is blue", "'the film is awful' is blame"],
    "Metadata from elsewhere": ["file labels.txt (tensor axis labels)", "written.tflite: green is green"],
    "TensorFlow Lite Support": ["colours.int8.tflite: red is red"],
    "Bundles": ["TFLiteModel"],
}
FILES = "The files"
# That of this environment, by the name that users have.
LITEFUSE = f'"{sys.executable}" -m litefuse'


def parts() -> dict[str, str]:
    """The commands of each part."""
    sections = (EXAMPLE / "README.md").read_text("utf-8").split("\n## ")[1:]
    blocks = {
        each.partition("\n")[0]: re.findall(r"^```sh\n(.*?)^```", each, re.DOTALL | re.MULTILINE) for each in sections
    }
    return {title: "".join(found) for title, found in blocks.items()}


def run(commands: str, folder: Path, path: Path) -> str:
    """Runs commands in a folder; returns what they print.

    Args:
        commands: Them, as for a shell.
        folder: Where they run.
        path: The folder of the programs that they find before all others.
    """
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        ["bash", "-ec", commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def programs(folder: Path, **commands: str) -> Path:
    """A folder, with programs that call others."""
    folder.mkdir(exist_ok=True)
    for name, command in commands.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def made_files(place: Path) -> Path:
    """A copy of the example's folder, with what litefuse makes."""
    folder = place / "litert_tools"
    shutil.copytree(EXAMPLE, folder)
    path = programs(place / "bin", python=f'"{sys.executable}"', litefuse=LITEFUSE)
    assert "words.txt" in run(parts()[FILES], folder, path)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_files(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("part", SAID)
def test_part(files: Path, tmp_path: Path, part: str) -> None:
    commands = parts()[part]
    assert commands.startswith("pip install ")
    folder = tmp_path / "example"
    shutil.copytree(files, folder)
    venv.create(tmp_path / "venv", with_pip=True)
    said = run(commands, folder, programs(tmp_path / "venv" / "bin", litefuse=LITEFUSE))
    print(said)
    for each in SAID[part]:
        assert each in said
