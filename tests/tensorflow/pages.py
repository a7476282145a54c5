"""Pages of the documentation whose code is run, and whose plug-ins are installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["blocks", "install", "run", "run_code"]

_DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """A page's code in a language. The page has its name in one of the folders of the documentation."""
    (path,) = _DOCS.rglob(page)
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), flags=re.MULTILINE | re.DOTALL)


def run_code(tf: Any, code: str, folder: str) -> None:
    """Runs code of the page in TensorFlow's process, in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        exec(code, {"tf": tf, "__name__": "page"})
    finally:
        os.chdir(before)


def run(folder: Path, *command: str, plugins: Path | None = None) -> str:
    """What a command printed that runs in the folder, with plug-ins installed."""
    path = os.pathsep.join(str(each) for each in (plugins, os.environ.get("PYTHONPATH")) if each)
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(folder: Path, files: Mapping[str, str]) -> Path:
    """Installs a package of these files as pip does, and returns the folder that it is in."""
    source, target = folder / "source", folder / "plugins"
    source.mkdir()
    for name, content in files.items():
        (source / name).write_text(content)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    run(folder, *pip, "--target", str(target), str(source))
    return target
