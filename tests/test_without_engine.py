"""What works where the lowering engine is not installed, and what says that it needs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from litefuse.tools.demo import SAVED_MODEL
from tests.conversion.test_quantize import product
from tests.litert.runtime.models import model

# A package in the engine's place that is as good as none: child processes find it too.
_ABSENT = """raise ModuleNotFoundError("No module named 'litert_converter'", name="litert_converter")\n"""
_COMMANDS = """
import json, sys, traceback
from click.testing import CliRunner
from litefuse.tools.cli.app import app

outcomes = {}
for name, arguments in json.loads(sys.argv[1]).items():
    done = CliRunner().invoke(app, arguments)
    raised = done.exception if not isinstance(done.exception, SystemExit) else None
    told = "".join(traceback.format_exception(raised)) if raised is not None else ""
    outcomes[name] = [done.exit_code, done.stdout, done.stderr, told]
print(json.dumps(outcomes))
"""
_LOADED = "import sys; {code}; print([name for name in sys.modules if name.partition('.')[0] == 'litert_converter'])"


def without_engine(folder: Path, *command: str) -> str:
    """Runs Python where there is no engine; returns what it prints."""
    absent = folder / "absent" / "litert_converter"
    absent.mkdir(parents=True, exist_ok=True)
    (absent / "__init__.py").write_text(_ABSENT)
    path = os.pathsep.join([str(absent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def outcomes(folder: Path, commands: Mapping[str, list[str]]) -> dict[str, Any]:
    return json.loads(without_engine(folder, "-c", _COMMANDS, json.dumps(commands)).splitlines()[-1])


def written(folder: Path) -> str:
    path = folder / "model.tflite"
    path.write_bytes(model(product(), signatures={"serve": 0}))
    return path.name


@pytest.mark.parametrize(
    "code",
    [
        "import litefuse",
        "import litefuse; [getattr(litefuse, name) for name in litefuse.__all__]",
        "from litefuse.tools.cli.app import app; app(['--help'], standalone_mode=False)",
        "from litefuse.tools.cli.app import app; [app([c, '-h'], standalone_mode=0) for c in app.list_commands(None)]",
    ],
    ids=["import", "names", "help", "help of commands"],
)
def test_what_never_loads_the_engine(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED.format(code=code)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_commands_that_need_no_engine(tmp_path: Path) -> None:
    file = written(tmp_path)
    (tmp_path / "custom.tflite").write_bytes(model(product("Mine"), signatures={"serve": 0}))
    commands = {
        "doctor fusions": ["doctor", "fusions"],
        "kernels list": ["kernels", "list"],
        "kernels new": ["kernels", "new", "Mine", "--from", "custom.tflite", "--output", "mine"],
        "kernels export": ["kernels", "export", "-o", "exported"],
        "inspect": ["inspect", file],
        "run": ["run", file],
        "benchmark": ["benchmark", file, "--repeat", "3", "--top", "0"],
        "diff": ["diff", file, file],
        "check": ["check", file],
        "report": ["report", file, "-o", "page.html"],
        "quantize": ["quantize", file, "--quantize", "dynamic", "-o", "quantized.tflite"],
        "verify": ["verify", "quantized.tflite", file, "--max-error", "0.1"],
        "export-micro": ["export-micro", file, "-o", "app"],
    }
    found = outcomes(tmp_path, commands)
    assert {name: told for name, (*_, told) in found.items() if told} == {}
    assert {name: (out, err) for name, (code, out, err, _) in found.items() if code} == {}
    assert (tmp_path / "quantized.tflite").stat().st_size < (tmp_path / file).stat().st_size


def test_commands_that_need_it_say_so(tmp_path: Path) -> None:
    file = written(tmp_path)
    commands = {
        "demo": ["demo"],
        "convert": ["convert", str(SAVED_MODEL), "-o", "converted.tflite"],
        "convert in this process": ["convert", str(SAVED_MODEL), "-o", "converted.tflite", "--in-process"],
        "inspect": ["inspect", str(SAVED_MODEL), "--json"],
        "verify": ["verify", file, str(SAVED_MODEL)],
        "report": ["report", file, str(SAVED_MODEL), "-o", "page.html"],
    }
    found = outcomes(tmp_path, commands)
    assert {name: told for name, (*_, told) in found.items() if told} == {}
    for name in ("demo", "convert", "convert in this process", "inspect"):
        code, _, err, _ = found[name]
        assert (name, code) == (name, 1)
        assert "error: the lowering engine, litert-converter, " in err, name
    error = json.loads(found["inspect"][1])["error"]
    assert error["type"] == "MissingEngineError"
    assert error["hint"]
    assert not (tmp_path / "converted.tflite").exists()
