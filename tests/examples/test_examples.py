"""The commands in the READMEs of ``examples`` run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed_by(name: str, tmp_path: Path) -> str:
    """Runs the commands of an example in a copy of its folder; returns what they print."""
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    commands = "".join(re.findall(r"^```sh\n(.*?)^```", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE))
    assert commands.startswith("python model.py\n")
    # The commands of this environment, by the names that users have.
    (folder / "bin").mkdir()
    for command, call in (("python", ""), ("litefuse", " -m litefuse")):
        script = folder / "bin" / command
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{call} "$@"\n')
        script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        ["bash", "-ec", commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_kernel(tmp_path: Path) -> None:
    printed = printed_by("no_kernel", tmp_path)
    assert "GroupNormSilu" in printed
    assert "with a generated kernel" in printed
    assert "Equal: the error of each output is at most 0.0001." in printed
    assert "with and without the kernel, results differ by" in printed


def test_a_kernel_in_python(tmp_path: Path) -> None:
    printed = printed_by("python_kernel", tmp_path)
    assert "fused into SortedGaps" in printed
    assert "Equal: the error of each output is at most 0.0001." in printed


def test_a_kernel_in_cpp(tmp_path: Path) -> None:
    printed = printed_by("cpp_kernel", tmp_path)
    assert "Written to libkernels.so: 1 kernel" in printed
    assert "Equal: the error of each output is at most 0.0001." in printed
    assert printed.count("Equal: the error of each result is at most 1e-05.") == 2
