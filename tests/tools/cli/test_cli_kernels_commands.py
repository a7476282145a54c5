"""``litefuse kernels list``, ``new`` and ``export``."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from litefuse.kernels import PACK, native_library
from litefuse.kernels.pack.catalog import AvailableKernel, available_kernels, kernel_section
from litefuse.litert.cpp.compiler import native_sources
from litefuse.litert.runtime import custom_op
from litefuse.support.plug_ins.entry_points import PlugIn, take_plug_ins
from tests.every import every
from tests.litert.runtime.models import unary
from tests.tools.cli.test_cli import refused, run, spawn

KERNELS = """
import litefuse

class Base(litefuse.CustomOp):
    def prepare(self, x):
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs, outputs):
        outputs[0][...] = inputs[0]

@litefuse.custom_op("Cross")
class Cross(Base):
    dtypes = ("float32",)

@litefuse.custom_op("Mine")
@litefuse.compiled
class Mine(Base):
    pass
"""


@pytest.fixture
def kernel_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(custom_op, "_registered", {})
    path = tmp_path / "my_listed_kernels.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "scale.tflite"
    path.write_bytes(unary("Scale", {"factor": 2.0}))
    return path


def test_list(kernel_file: Path) -> None:
    outcome = run("kernels", "list", "--kernels", kernel_file)
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert f"Mine Python (numba) Python {kernel_file} not stated" in lines
    own = "C++, Python apps, Python" if native_library() is not None else "Python Python"
    first = lines.index(f"Cross Python Python {kernel_file} float32")
    second = lines.index(f"Cross {own} litefuse all real numbers; another goes before it")
    assert first < second
    assert "AsString Python Python litefuse all" in lines
    assert lines[0] == f"Kernels: {len(PACK) + 1} ops"


def test_list_without_others_does_not_say_where_they_are_from() -> None:
    # Other tests register kernels of their own in this process.
    lines = [line.split() for line in spawn("kernels", "list").out.splitlines()]
    assert lines[1] == ["op", "languages", "runs", "in", "dtypes"]
    assert every("litefuse" not in line for line in lines[2:-1])


def test_list_shows_what_does_not_load() -> None:
    section = kernel_section(
        [AvailableKernel("Gone", "broken", "lost", problem="it does not load"), *available_kernels()[:1]]
    )
    assert section.rows[0] == ("Gone", "", "", "lost", "it does not load")
    assert section.judgements[0] == "bad"


def test_list_as_json(kernel_file: Path) -> None:
    listed = json.loads(run("kernels", "list", "--kernels", kernel_file, "--json").out)["kernels"]
    assert {"op": "Mine", "form": "compiled", "source": str(kernel_file), "dtypes": [], "problem": ""} in listed
    assert {each["op"] for each in listed} == {*PACK, "Mine"}
    assert every(each["dtypes"] for each in listed if each["source"].startswith("litefuse"))
    native = {each["op"] for each in listed if each["form"] == "native"}
    assert ("ExtractImagePatches" in native) == (native_library() is not None)
    text = [(each["form"], each["dtypes"]) for each in listed if each["op"] == "tftext:Ngrams"]
    assert text == [("numpy", ["string"])]


def test_list_names_entry_points() -> None:
    take_plug_ins(
        [
            PlugIn("litefuse.kernels", "Plugin", "tests.litert.runtime.test_custom_op:Plugin", ""),
            PlugIn("litefuse.kernels", "Gone", "tests.no_such_module:Gone", "lost"),
        ]
    )
    try:
        found = {each.op: each for each in available_kernels()}
    finally:
        take_plug_ins(None)
    assert (found["Plugin"].form, found["Plugin"].source) == ("numpy", "tests.litert.runtime.test_custom_op")
    assert (found["Gone"].form, found["Gone"].source) == ("broken", "lost")
    assert "does not load: ModuleNotFoundError" in found["Gone"].dtype_text


def test_new(model: Path, tmp_path: Path) -> None:
    outcome = spawn("kernels", "new", "Scale", "--from", model, cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("Written to scale, for 1 call of Scale in scale.tflite\n")
    assert "cd scale && python -m pytest" in outcome.out
    assert "pip install pytest cmake\n       python -m pytest\n" in (tmp_path / "scale" / "README.md").read_text()
    assert sorted(path.name for path in (tmp_path / "scale").iterdir()) == [
        *("CMakeLists.txt", "README.md", "kit", "models", "registry.cc", "scale.cc", "scale.py", "test_scale.py")
    ]
    assert spawn("run", model, "--kernels", "scale/scale.py", cwd=tmp_path).code == 0


def test_new_what_is_wrong(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "made"
    refused(run("kernels", "new", "Skale", "--from", model, "--output", target), "'Skale'", "There are: Scale.")
    refused(
        run("kernels", "new", "Scale", "--from", tmp_path / "none.tflite", "--output", target),
        "no such file or folder",
    )
    refused(run("kernels", "new", "Scale", "--from", model, "--output", model), "this is a file, not a folder")
    refused(run("kernels", "new", "Scale", "--from", model, "--output", tmp_path), "the folder is not empty")
    refused(run("kernels", "new", "Scale", "--from", tmp_path, "--output", target))
    assert not target.exists()
    neither = run("kernels", "new", "Scale")
    assert neither.code == 2
    assert "\n  litefuse kernels new Scale --from model.tflite\n" in neither.err


def test_export(tmp_path: Path) -> None:
    target = tmp_path / "sources"
    outcome = run("kernels", "export", "-o", target)
    assert outcome.code == 0
    assert "README.md says how an app uses them" in outcome.out
    readme = (target / "README.md").read_text()
    for word in ("AddCustom", "TfLiteInterpreterOptionsAddCustomOp", "load_delegate", "TfLiteExternalDelegateCreate"):
        assert word in readme
    assert "$ANDROID_NDK/build/cmake/android.toolchain.cmake" in readme
    assert "- `kernels/extract_image_patches.cc`" in readme
    origin = native_sources()
    for path in (*origin.glob("kernels/*"), *origin.glob("src/*"), origin / "CMakeLists.txt"):
        if path.is_file():
            assert (target / path.relative_to(origin)).read_bytes() == path.read_bytes()
    refused(run("kernels", "export", "-o", target), "the folder is not empty")


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_cannot_be_filled_is_left_as_it_was(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    copied: list[Any] = []

    def copy(target: Path, content: bytes) -> None:
        copied.append(target)
        if len(copied) % 4 == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        target.write_bytes(content)

    monkeypatch.setattr("litefuse.litert.cpp.folders.write_new", copy)
    target = tmp_path / "made"
    if there:
        target.mkdir()
    full = "the folder cannot be written: No space left on device"
    refused(run("kernels", "export", "-o", target), str(target), full)
    refused(run("kernels", "new", "Scale", "--from", model, "--output", target), str(target), full)
    assert len(copied) == 8
    assert target.is_dir() == there
    assert not list(tmp_path.glob("made/*"))


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_an_app_compiles_what_the_readme_shows(tmp_path: Path) -> None:
    run("kernels", "export", "-o", tmp_path / "sources")
    code = re.findall(r"```cpp\n(#define ADD.*?)```", (tmp_path / "sources" / "README.md").read_text(), re.DOTALL)
    app = tmp_path / "app.cc"
    app.write_text(
        '#include "litefuse/kernels.h"\n'
        "struct Resolver { void AddCustom(const char*, const TfLiteRegistration*) {} };\n"
        f"int main() {{\nResolver resolver;\n{code[0]}\n}}\n"
    )
    command = ["c++", "-std=c++17", "-fsyntax-only", f"-I{tmp_path / 'sources' / 'include'}", str(app)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_names_the_commands() -> None:
    outcome = run("kernels", "--help")
    assert every(name in outcome.out for name in ("list", "new", "export"))
