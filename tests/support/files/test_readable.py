"""Paths that cannot be read: each command, and each function, tells in the same words why."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import litefuse
import litefuse.tools.demo
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.kernels.generator.op_calls import read_calls
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.metadata.description import Finish
from litefuse.litert.runtime.input_specs import load_arrays
from litefuse.support.files.readable import check_file, check_there, is_there
from litefuse.tools.batch_runs.models_file import read_models_file
from litefuse.tools.cli.app import app

NOTHING = "no such file or folder"

COMMANDS = [
    *(
        "batch PATH -o out",
        "benchmark PATH",
        "check PATH --target micro",
        "convert PATH -o out.tflite",
        "diff PATH PATH",
    ),
    *(
        "diff PATH PATH",
        "export-micro PATH -o out",
        "export-web PATH -o out",
        "inspect PATH",
        "kernels build PATH -o out.so",
    ),
    *(
        "kernels generate PATH -o out",
        "kernels new Op --from PATH -o out",
        "kernels test PATH PATH",
        "quantize PATH --quantize dynamic -o out.tflite",
    ),
    *("report PATH -o out.html", "run PATH", "report PATH --explorer -o out", "verify PATH PATH"),
]

FILES: dict[str, Callable[[Path], object]] = {
    "Interpreter": litefuse.Interpreter,
    "diff": lambda path: litefuse.diff(str(path), str(path)),
    "inspect": inspect_litert_model,
    "load_arrays": load_arrays,
    "metadata": lambda path: Finish.of(path, None),
    "models.toml": read_models_file,
    "read_calls": lambda path: read_calls(path, ["Op"]),
    "recipe": lambda path: litefuse.Quantization(recipe=str(path)).entries,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_says_that_there_is_nothing(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, said in {"none.tflite": NOTHING, "x" * 300: "File name too long"}.items():
        result = CliRunner().invoke(app, [name if word == "PATH" else word for word in command.split()])
        assert isinstance(result.exception, SystemExit), result.exception
        assert said in result.stderr, command
        assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
@pytest.mark.parametrize("function", FILES)
def test_what_is_no_file_is_not_opened(function: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("nowhere")
    (tmp_path / "file").write_bytes(b"x")
    cases: dict[Any, str] = {
        tmp_path / "none": NOTHING,
        tmp_path / "file" / "below": NOTHING,
        tmp_path / "lost": "this is a link to nowhere, where nothing is",
        tmp_path / "loop": "cannot be read",
        tmp_path / ("x" * 300): "cannot be read",
        tmp_path / "a\0b": "null character",
        tmp_path: "this is a folder, not a file",
        tmp_path / "pipe": "a device, pipe or the like",
        Path("/dev/zero"): "a device, pipe or the like",
    }
    for path, said in cases.items():
        with pytest.raises(LitefuseError, match=said) as caught:
            FILES[function](path)
        assert caught.value.where


def test_who_may_not_read_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"x")
    assert check_file(path) == check_there(path) == path
    assert is_there(path)

    def refused(*_: object) -> bool:
        return False

    monkeypatch.setattr(os, "access", refused)  # who runs the tests may be allowed everything
    with pytest.raises(InterpreterError, match="Permission denied"):
        check_file(path, InterpreterError)


def test_a_long_path_is_shortened() -> None:
    with pytest.raises(LitefuseError) as caught:
        check_there("a/" * 5000)
    assert len(str(caught.value)) < 400


def test_a_name_that_no_file_can_have_is_not_written(tmp_path: Path) -> None:
    result = litefuse.convert(litefuse.tools.demo.SAVED_MODEL, checks=litefuse.Checks(file=False))
    for name in ("x" * 300, "a\0b"):
        with pytest.raises(LitefuseError, match="cannot be written"):
            result.save(tmp_path / name)
    assert [*tmp_path.iterdir()] == []
