"""What docs/tutorials/writing-a-recognizer.md tells a user to do works, the installable plug-in included."""

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

PAGE = "writing-a-recognizer.md"


@pytest.fixture(scope="module")
def folder(tensorflow: TensorFlow, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's SavedModel."""
    path = tmp_path_factory.mktemp("page")
    tensorflow.call(run_code, blocks(PAGE, "python")[0], str(path))
    return path


@pytest.fixture(scope="module")
def plugins(folder: Path) -> Path:
    """A folder that the page's plug-in is installed in, as pip installs it."""
    module = blocks(PAGE, "python")[1].partition("\n\n\nresult =")[0]
    return install(folder, {"my_gelu.py": module, "pyproject.toml": blocks(PAGE, "toml")[0]})


def test_script(folder: Path) -> None:
    _, formula, class_ = blocks(PAGE, "python")
    code = formula.replace("print(result.report)", class_ + 'print(litefuse.convert("unnamed").report)')
    (folder / "page.py").write_text(code)
    printed = run(folder, sys.executable, "page.py")
    assert len(re.findall(r"my\.gelu .* fused into GELU", printed)) == 2
    assert re.search(r"my\.gelu +found 2 times\n +my\.gelu +not found", printed)


def test_what_came_closest(folder: Path) -> None:
    code = blocks(PAGE, "python")[1].partition("@litefuse.fusion")[0]
    (folder / "closest.py").write_text(
        code.replace("0.5 * x", "0.25 * x") + '\nprint(litefuse.convert("unnamed").report)\n'
    )
    assert re.search(r"my\.gelu +not found; closest: node .* is not ", run(folder, sys.executable, "closest.py"))


def test_plugin_computes_what_tensorflow_does(tensorflow: TensorFlow, folder: Path, plugins: Path) -> None:
    inputs = normal({"x": (None, 4)}, batches=(1, 3))
    expected = tensorflow.run_calls(folder / "unnamed", [("serving_default", each) for each in inputs])
    arrays: dict[str, Any] = {str(index): each["x"] for index, each in enumerate(inputs)}
    np.savez(folder / "inputs.npz", **arrays)
    script = (
        "import numpy, litefuse\n"
        "result = litefuse.convert('unnamed', require_fused=True)\n"
        "assert result.report.op_counts == {'GELU': 2}, result.report\n"
        "runner = litefuse.Interpreter(model_content=result.model_bytes).get_signature_runner()\n"
        "inputs = numpy.load('inputs.npz')\n"
        "numpy.savez('outputs.npz', **{name: runner(x=inputs[name])['y'] for name in inputs for _ in '12'})\n"
    )
    run(folder, sys.executable, "-c", script, plugins=plugins)
    found = np.load(folder / "outputs.npz")
    for index, outputs in enumerate(expected):
        np.testing.assert_allclose(found[str(index)], outputs["y"], rtol=1e-5, atol=1e-5)
