from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from litefuse.support.plug_ins.entry_points import PlugIn, find_plug_ins, take_plug_ins


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package with plug-ins of all groups, and of one that is not litefuse's."""
    (tmp_path / "mine.py").write_text("class Kernel: pass\n")
    about = tmp_path / "mine-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[console_scripts]\nmine = mine:Kernel\n"
        "[litefuse.kernels]\nScale = mine:Kernel\n"
        "[litefuse.fusions]\nmine = mine\n"
        "[litefuse.recognizers]\nmine = mine\n"
        "[litefuse.targets]\nmine = mine:Kernel\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    take_plug_ins(None)
    yield tmp_path
    take_plug_ins(None)
    sys.modules.pop("mine", None)


@pytest.mark.usefixtures("installed")
def test_what_is_installed_is_found() -> None:
    kernel = PlugIn("litefuse.kernels", "Scale", "mine:Kernel", "mine")
    fusion = PlugIn("litefuse.fusions", "mine", "mine", "mine")
    recognizer = PlugIn("litefuse.recognizers", "mine", "mine", "mine")
    target = PlugIn("litefuse.targets", "mine", "mine:Kernel", "mine")
    assert set(find_plug_ins()) == {kernel, fusion, recognizer, target}
    assert find_plug_ins("litefuse.kernels") == (kernel,)
    assert find_plug_ins("litefuse.fusions", "litefuse.kernels") == (fusion, kernel)
    assert find_plug_ins("litefuse.recognizers") == (recognizer,)
    assert find_plug_ins("litefuse.nothing") == ()
    assert kernel.module == fusion.module == "mine"
    assert "mine" not in sys.modules
    assert kernel.load() is fusion.load().Kernel


def test_what_another_process_found_counts(installed: Path) -> None:
    given = (PlugIn("litefuse.kernels", "Other", "other:Kernel", "other"),)
    take_plug_ins(given)
    assert find_plug_ins() == given
    take_plug_ins(None)
    assert len(find_plug_ins()) == 4


def test_a_plug_in_that_takes_a_name_that_is_taken(tmp_path: Path) -> None:
    code = "import litefuse\n@litefuse.fusion('embedding_matmul')\nclass Mine(litefuse.Fusion):\n    rewrite = None\n"
    (tmp_path / "clash.py").write_text(code)
    about = tmp_path / "clash-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: clash\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[litefuse.fusions]\nmine = clash\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "litefuse", "fusions"]
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "is registered for 'embedding_matmul' already" in done.stderr
    assert "replace=True" in done.stderr
