"""Packages with conversion code and a kernel in C++: what ``litefuse kernels new --package`` writes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from litefuse.errors import LitefuseError
from litefuse.tools.scaffold.project import new_package
from tests.repository import ROOT, tracked
from tests.tools.cli.test_cli import run

EXAMPLE = ROOT / "examples" / "kernel_package"


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", *map(str, arguments), "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def outcome_of(folder: Path, target: Path) -> str:
    """Builds a wheel, installs it, and runs its tests; returns what they print."""
    for made in (folder / "dist", target):
        shutil.rmtree(made, ignore_errors=True)
    pip("wheel", folder, "--no-build-isolation", "--wheel-dir", folder / "dist")
    (wheel,) = (folder / "dist").iterdir()
    assert re.fullmatch(r"grid_norm-0\.1\.0-py3-none-\w+\.whl", wheel.name)
    pip("install", wheel, "--target", target)
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "tests")]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_a_wheel_converts_and_runs_and_a_wrong_kernel_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "grid_norm"
    new_package("grid_norm", folder)
    printed = outcome_of(folder, tmp_path / "installed")
    assert re.search(r"^2 passed", printed, re.MULTILINE), printed

    kernel = folder / "src" / "grid_norm" / "kernel.cc"
    right = kernel.read_text()
    kernel.write_text(right.replace("/ deviation", "/ deviation * 1.001"))
    assert kernel.read_text() != right
    printed = outcome_of(folder, tmp_path / "installed")
    assert re.search(r"^2 failed", printed, re.MULTILINE), printed
    assert "it computes something else" in printed


def test_the_example_is_what_is_written(tmp_path: Path) -> None:
    """Its page is run by the tests of pages: it is installed, and all commands and interpreters use it."""
    new_package("RowStandardize", tmp_path / "made")
    files = [path for path in (tmp_path / "made").rglob("*") if path.is_file()]
    written = {path.relative_to(tmp_path / "made"): path.read_text() for path in files}
    assert written == {path.relative_to(EXAMPLE): path.read_text() for path in tracked("examples/kernel_package/*")}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("my.op", "not an identifier in C"),
        ("Größe", "not an identifier in C"),
        ("", "not an identifier in C"),
        ("Random", "Python has another module random"),
        ("Litefuse", "Python has another module litefuse"),
        ("Lambda", "Python has another module lambda"),
    ],
)
def test_names_that_no_package_has(name: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match=problem):
        new_package(name, tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("options", [(), ("--package", "--from", "m.tflite")])
def test_either_of_a_model_or_a_package(options: tuple[str, ...]) -> None:
    result = run("kernels", "new", "Mine", *options)
    assert result.code == 2
    for command in ("--from model.tflite", "--package"):
        assert f"\n  litefuse kernels new Mine {command}\n" in result.err
