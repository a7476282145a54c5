"""What docs/tutorials/writing-a-fusion.md tells a user to do works, the installable plug-in included."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import normal
from tests.tensorflow.pages import blocks, install, run, run_code

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

PAGE = "writing-a-fusion.md"


@pytest.fixture(scope="module")
def folder(tensorflow: TensorFlow, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's SavedModel."""
    path = tmp_path_factory.mktemp("page")
    tensorflow.call(run_code, blocks(PAGE, "python")[0], str(path))
    return path


@pytest.fixture(scope="module")
def plugins(folder: Path) -> Path:
    """A folder that the page's plug-in is installed in, as pip installs it."""
    _, fusion, kernel = blocks(PAGE, "python")
    classes = [fusion.partition("\n\n\nresult =")[0], kernel.partition("\n\n\ninterpreter =")[0]]
    assert len([line for line in "\n".join(classes).splitlines() if line.strip()]) < 50
    return install(folder, {"gelu_plugin.py": "\n\n".join(classes), "pyproject.toml": blocks(PAGE, "toml")[0]})


def test_script(folder: Path) -> None:
    _, fusion, kernel = blocks(PAGE, "python")
    (folder / "page.py").write_text(fusion + kernel)
    printed = run(folder, sys.executable, "page.py")
    assert re.search(r"scaled_gelu .* fused into ScaledGelu", printed)
    assert "{'y': array([[1.68" in printed  # 2 gelu(1)


def test_plugin_at_the_command_line(folder: Path, plugins: Path) -> None:
    litefuse = [sys.executable, "-m", "litefuse"]
    listed = run(folder, *litefuse, "fusions", plugins=plugins)
    assert re.search(r"scaled_gelu .*gelu\(x \[...\] float32\) \* scale becomes the custom op ScaledGelu", listed)
    converted = run(folder, *litefuse, "convert", "gelu", "--require-fused", plugins=plugins)
    assert "fused into ScaledGelu" in converted
    assert "y" in run(folder, *litefuse, "run", "gelu.tflite", "--shape", "x=3,4", plugins=plugins)


def test_plugin_computes_what_tensorflow_does(tensorflow: TensorFlow, folder: Path, plugins: Path) -> None:
    calls = [("serving_default", each) for each in normal({"x": (None, 4)}, batches=(1, 3)) for _ in "12"]
    expected = tensorflow.run_calls(folder / "gelu", calls)
    script = (
        "import numpy, litefuse\n"
        "result = litefuse.convert('gelu', require_fused=True)\n"
        "runner = litefuse.Interpreter(model_content=result.model_bytes).get_signature_runner()\n"
        "inputs = numpy.load('inputs.npz')\n"
        "numpy.savez('outputs.npz', **{name: runner(x=inputs[name])['y'] for name in inputs})\n"
    )
    arrays: dict[str, Any] = {str(index): inputs["x"] for index, (_, inputs) in enumerate(calls)}
    np.savez(folder / "inputs.npz", **arrays)
    run(folder, sys.executable, "-c", script, plugins=plugins)
    found = np.load(folder / "outputs.npz")
    for index, outputs in enumerate(expected):
        np.testing.assert_allclose(found[str(index)], outputs["y"], rtol=1e-5, atol=1e-6)


def test_a_plugin_that_takes_a_name_that_is_taken(folder: Path, tmp_path: Path) -> None:
    code = "import litefuse\n@litefuse.fusion('embedding_matmul')\nclass Mine(litefuse.Fusion):\n    rewrite = None\n"
    (tmp_path / "clash.py").write_text(code)
    about = tmp_path / "clash-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: clash\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[litefuse.fusions]\nmine = clash\n")
    with pytest.raises(AssertionError, match=r"is registered for 'embedding_matmul' already(.|\n)*replace=True"):
        run(folder, sys.executable, "-m", "litefuse", "fusions", plugins=tmp_path)
