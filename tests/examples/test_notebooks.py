"""The notebooks in ``examples`` run from the first cell to the last, which asserts what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.every import every

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
EXECUTE = "from nbclient.cli import main; main()"


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def executed(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Runs a notebook in an empty folder; returns it with what its cells show.

    Raises:
        CalledProcessError: A cell fails.
    """
    path = folder / "notebook.ipynb"
    path.write_text(json.dumps(content), encoding="utf-8")
    # Settings and kernels of this user do not count.
    own = {name: str(folder / "settings") for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    subprocess.run(
        [sys.executable, "-c", EXECUTE, "--inplace", "--kernel_name=python3", "--timeout=600", str(path)],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    return read(path)


def code_cells(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def test_the_notebooks() -> None:
    assert NAMES == ["composite_kernels", "keras_lstm", "slow_model"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_stored_without_outputs(name: str) -> None:
    content = read(NOTEBOOKS / f"{name}.ipynb")
    for cell in code_cells(content):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    # Each page begins and ends with words, and its facts are asserted.
    assert content["cells"][0]["cell_type"] == content["cells"][-1]["cell_type"] == "markdown"
    assert "assert " in "".join(code_cells(content)[-1]["source"])


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_results(name: str, tmp_path: Path) -> None:
    try:
        content = executed(read(NOTEBOOKS / f"{name}.ipynb"), tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.fail(error.stderr[-5000:])
    outputs = [output for cell in code_cells(content) for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    shown = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})]
    assert len(shown) >= 2
    assert every('<div class="litefuse-report">' in each for each in shown)


def test_a_fact_that_is_not_true_fails(tmp_path: Path) -> None:
    content = read(NOTEBOOKS / "keras_lstm.ipynb")
    content["cells"] = [{**code_cells(content)[0], "source": "fact = 1\nassert fact == 2"}]
    with pytest.raises(subprocess.CalledProcessError) as caught:
        executed(content, tmp_path)
    assert "AssertionError" in caught.value.stderr
