"""Paths with letters outside of ASCII where the locale knows none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from litefuse.frontends.saved_model import load
from litefuse.tools.demo import SAVED_MODEL
from tests.frontends.saved_model.model_writer import saved_model, write

# Python makes UTF-8 of the C locale by itself unless it is told not to.
C_LOCALE = {**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-X", "utf8=0", "-m", "litefuse", *arguments]
    return subprocess.run(command, capture_output=True, env=C_LOCALE, timeout=300)


@pytest.mark.parametrize("name", ["mödel".encode(), b"m\xf6del"], ids=["UTF-8", "Latin-1"])
def test_the_commands_with_such_paths(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    shutil.copytree(SAVED_MODEL, folder)
    model = folder / os.fsdecode(name + b".tflite")
    for arguments in (
        ("convert", folder, "-o", model),
        ("convert", folder, "-o", model, "--in-process", "-q"),
        ("inspect", folder),
        ("inspect", model, "--json"),
        ("run", model, "--signature", "embed"),
    ):
        done = run(*arguments)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        assert b"Traceback" not in done.stderr
    assert sorted(path.name for path in folder.glob("*.tflite*")) == [model.name]


@pytest.mark.parametrize("encoding", ["cp1252", "cp932", "utf-8"])
@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_streams_that_lack_the_characters_of_a_name(tmp_path: Path, encoding: str, errors: str) -> None:
    """As files and pipes do on Windows, whose encoding is that of its language."""
    folder = tmp_path / "模型 ü"
    shutil.copytree(SAVED_MODEL, folder)
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": f"{encoding}:{errors}"}
    shown = "模型 ü".encode(encoding, "backslashreplace")
    for arguments, code in ((["inspect", folder], 0), (["inspect", folder / "模型 ü.tflite"], 1)):
        command = [sys.executable, "-m", "litefuse", *arguments]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
        assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr
        assert shown in (done.stderr if code else done.stdout)


def test_the_assets_of_a_model(tmp_path: Path) -> None:
    proto = saved_model()
    proto.meta_graphs[0].asset_file_def[0].filename = "wörter.txt"
    folder = write(tmp_path / "é", proto)
    (folder / "assets" / "vocabulary.txt").rename(folder / "assets" / "wörter.txt")
    assert load(folder).assets[9].read() == b"a\nb\n"
    program = (
        "import sys; from litefuse.frontends.saved_model import load\n"
        "sys.stdout.buffer.write(load(sys.argv[1]).assets[9].read())"
    )
    command = [sys.executable, "-X", "utf8=0", "-c", program, folder]
    done = subprocess.run(command, capture_output=True, env=C_LOCALE, timeout=300)
    assert (done.stdout, done.returncode) == (b"a\nb\n", 0), done.stderr
    done = run("inspect", folder)
    assert done.returncode == 0, done.stderr
    assert b"4 bytes" in done.stdout or b" 4 " in done.stdout
