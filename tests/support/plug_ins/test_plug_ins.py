from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.runtime.custom_op import find_kernel
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
        "[litefuse]\nall = mine\n"
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
    module = PlugIn("litefuse", "all", "mine", "mine")
    kernel = PlugIn("litefuse.kernels", "Scale", "mine:Kernel", "mine")
    fusion = PlugIn("litefuse.fusions", "mine", "mine", "mine")
    recognizer = PlugIn("litefuse.recognizers", "mine", "mine", "mine")
    target = PlugIn("litefuse.targets", "mine", "mine:Kernel", "mine")
    assert set(find_plug_ins()) == {module, kernel, fusion, recognizer, target}
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
    assert len(find_plug_ins()) == 5


@pytest.mark.parametrize(
    ("platform", "file"),
    [
        ("linux", "kernels.so"),
        ("linux", "libkernels.so"),
        ("darwin", "kernels.dylib"),
        ("darwin", "kernels.so"),
        ("win32", "kernels.dll"),
        ("linux", "kernels.dll"),
        ("win32", "kernels.so"),
    ],
)
def test_a_library_is_that_of_the_platform(
    platform: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "with_library" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / file).touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    plug_in = PlugIn("litefuse", "kernels", "with_library.inner:kernels.so", "mine")
    if (platform, file) in {("linux", "kernels.dll"), ("win32", "kernels.so")}:
        with pytest.raises(LitefuseError, match=r"kernels = with_library\.inner:kernels\.so .*has no library"):
            plug_in.load()
    else:
        assert plug_in.load() == folder / file


def test_a_library_that_does_not_load(installed: Path) -> None:
    (installed / "with_kernels").mkdir()
    (installed / "with_kernels" / "kernels.so").write_text("of another machine")
    take_plug_ins([PlugIn("litefuse", "kernels", "with_kernels:kernels.so", "mine")])
    for _ in range(2):
        with pytest.raises(KernelError, match=r"is not a shared library .*\nInstall mine again, or remove it\."):
            find_kernel("Mine")


@pytest.mark.usefixtures("installed")
def test_an_object_is_neither_a_module_nor_a_library() -> None:
    with pytest.raises(LitefuseError, match=r'neither a module nor a library\nWrite NAME = "package\.module"'):
        PlugIn("litefuse", "mine", "mine:Kernel", "mine").load()


MODULE = """
import litefuse, litefuse.targets

@litefuse.fusion("my.scale")
def scale(b, x):
    return b.custom("MyScale", [x], [x.type], {})

@litefuse.recognizer("my.scale")
def formula(x):
    return x * 3

@litefuse.custom_op("MyScale")
class MyScale(litefuse.CustomOp):
    def prepare(self, x):
        return x

    def invoke(self, inputs, outputs):
        outputs[0][...] = inputs[0] * 3

@litefuse.targets.target("my-chip")
class MyChip(litefuse.targets.Target):
    traits = litefuse.targets.TargetTraits()
"""
USE = """
import sys
import litefuse
from litefuse.demo import SAVED_MODEL
from litefuse.fusions import registered_fusions
from litefuse.fusions.recognizers import registered_recognizers
from litefuse.litert.runtime.custom_op import find_kernel, package_kernels
from litefuse.litert.targets import find_target, target_names

assert "my_plug_in" not in sys.modules
for find in (
    lambda: find_kernel("MyScale").__name__,
    lambda: registered_fusions()["my.scale"].names,
    lambda: [one.name for one in registered_recognizers() if one.name == "my.scale"],
    lambda: ("my-chip" in target_names(), find_target("my-chip").name),
    lambda: package_kernels(["MyScale", "Other", "CropAndResize"]),
)[int(sys.argv[1]):]:
    print(find())
"""


@pytest.mark.parametrize("first", range(5))
def test_a_module_registers_everything_wherever_it_is_asked_for_first(first: int, tmp_path: Path) -> None:
    (tmp_path / "my_plug_in.py").write_text(MODULE)
    about = tmp_path / "my_plug_in-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plug-in\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[litefuse]\nmine = my_plug_in\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-c", USE, str(first)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    told = ["MyScale", "('my.scale',)", "['my.scale']", "(True, 'my-chip')", "{'MyScale': 'my-plug-in'}"]
    assert done.stdout.splitlines() == told[first:], done.stderr


def test_a_plug_in_that_takes_a_name_that_is_taken(tmp_path: Path) -> None:
    code = "import litefuse\n@litefuse.fusion('embedding_matmul')\nclass Mine(litefuse.Fusion):\n    rewrite = None\n"
    (tmp_path / "clash.py").write_text(code)
    about = tmp_path / "clash-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: clash\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[litefuse.fusions]\nmine = clash\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "litefuse", "doctor", "fusions"]
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "is registered for 'embedding_matmul' already" in done.stderr
    assert "replace=True" in done.stderr
