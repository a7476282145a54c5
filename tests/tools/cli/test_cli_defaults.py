"""A command without an option does what the Python function does without the parameter; each option arrives."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
import pytest

from litefuse.errors import LitefuseError
from litefuse.tools.cli.app import app
from litefuse.tools.cli.parameters import TARGET, model_output
from litefuse.tools.cli.run_job import RunJob
from litefuse.tools.demo import SAVED_MODEL
from tests.tools.cli.test_cli import refused, run

#: Commands with what they need, and the function that each of them calls.
COMMANDS = {
    "convert": (["convert", "model"], "litefuse.conversion.api.convert"),
    "quantize": (["quantize", "model", "-o", "out"], "litefuse.conversion.api.quantize"),
    "lm": (["lm", "model"], "litefuse.tools.language_models.api.language_model"),
    "verify": (["verify", "model", "original"], "litefuse.conversion.verify.against_original.verify_model"),
    "check": (["check", "model"], "litefuse.conversion.verify.targets.check.check"),
    "benchmark": (["benchmark", "model"], "litefuse.tools.benchmarking.benchmark.benchmark"),
    "batch": (["batch", "models"], "litefuse.tools.batch_runs.run.batch"),
    "export-micro": (["export-micro", "model"], "litefuse.tools.scaffold.micro.export.export_micro"),
    "kernels test": (["kernels", "test", "library", "model"], "litefuse.tools.kernel_check.check.check_kernels"),
    "kernels build": (["kernels", "build", "a.cc", "-o", "out"], "litefuse.litert.cpp.kernel_library.build_kernels"),
    "kernels generate": (
        ["kernels", "generate", "model", "-o", "out"],
        "litefuse.tools.scaffold.kernel_folders.generate_for",
    ),
    "run": (["run", "model"], "litefuse.support.processes.process.run_model"),
}

#: What a command gives that no option says: the command's place for files, and what it shows.
OWN = {"limits", "on_step", "progress", "temporary_folder"}

#: Options that are for the command itself.
SHOWN = {"html", "kernels", "output", "plug_ins", "save", "timings"}
#: Options that the command follows around the function: the exit code, and what it reads and writes itself.
AROUND = {"check --require-accelerated", "kernels build --for", "run --prompt"}

#: Values of options that no type says, and what an option needs beside it; an option that stands for an argument.
VALUES: dict[str, list[str]] = {
    "dump_ir_after": ["--dump-ir", "dump", "--dump-ir-after", "inline"],
    "composites": ["--composites", "keep"],
    "expected": ["--inputs", "arrays.npz", "--expected", "arrays.npz"],
    "inputs": ["--inputs", "arrays.npz"],
    "register": ["--register", "Op=space::Register"],
    "quantize": ["--quantize", "float16"],
    "quantized_io": ["--quantized-io", "integer"],
    "rename": ["--rename", "x=y"],
    "shape": ["--shape", "x=2"],
    "shapes": ["--shape", "x=2"],
    "top": ["--top", "0"],
}


class _StoppedError(LitefuseError):
    """In place of the work."""


@pytest.fixture
def received(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[inspect.Signature, dict[str, Any]]]:
    """Runs a command up to its function: its signature, and the arguments that it was given."""
    monkeypatch.chdir(tmp_path)
    np.savez("arrays.npz", x=np.zeros(3, np.float32))

    def call(function: str, arguments: Collection[str]) -> tuple[inspect.Signature, dict[str, Any]]:
        module, _, name = function.rpartition(".")
        signature = inspect.signature(getattr(importlib.import_module(module), name))
        calls: list[dict[str, Any]] = []

        def stop(*positional: Any, **named: Any) -> None:
            calls.append(signature.bind(*positional, **named).arguments)
            raise _StoppedError("it was called")

        with monkeypatch.context() as patched:
            patched.setattr(function, stop)
            outcome = run(*arguments)
        assert len(calls) == 1, outcome
        return signature, calls[0]

    return call


def _plain(value: Any) -> Any:
    """A value as one may write it otherwise: nothing in place of an empty list, one in place of a list of one."""
    if not isinstance(value, list | tuple | dict):
        return value
    values = cast("Collection[Any]", value)
    return next(iter(values), None) if len(values) < 2 else values


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "run"])
def test_a_default_of_a_command_is_that_of_its_function(command: str, received: Callable[..., Any]) -> None:
    arguments, function = COMMANDS[command]
    signature, given = received(function, arguments)
    defaults = {
        name: signature.parameters[name].default
        for name in given
        if name not in OWN and signature.parameters[name].default is not inspect.Parameter.empty
    }
    positional = {"quantize", "original"}  # what the command was called with
    assert len(defaults) > (2 if command not in {"convert", "lm", "quantize"} else -1)  # whose defaults are not passed
    for name in defaults.keys() - positional:
        assert _plain(given[name]) == _plain(defaults[name]), name


def test_run_without_options_calls_a_model_once_on_the_inputs_of_seed_0(received: Callable[..., Any]) -> None:
    arguments, function = COMMANDS["run"]
    _, given = received(function, arguments)
    job = next(each for each in given.values() if isinstance(each, RunJob))
    assert job == RunJob(Path("model"), None, None, 0, {}, (), None, None, 1)


def _command(name: str) -> click.Command:
    command: click.Command | None = app
    for part in name.split():
        command = cast("click.Group", command).get_command(click.Context(app), part)
    assert command is not None
    return command


def _value(option: click.Option) -> list[str]:
    """Another value than the default, as one writes it."""
    name = max(option.opts, key=len)
    if option.name in VALUES:
        return VALUES[option.name]
    if option.is_flag:
        return [option.secondary_opts[0] if option.default is True else name]
    if isinstance(option.type, click.Choice):
        return [name, next(str(choice) for choice in reversed(option.type.choices) if choice != option.default)]
    return [name, "litert" if option.type is TARGET else "7"]


OPTIONS = {
    f"{command} {max(option.opts, key=len)}": (command, option)
    for command in COMMANDS
    for option in _command(command).params
    if isinstance(option, click.Option) and option.name not in SHOWN and option.expose_value
}


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - AROUND))
def test_each_option_reaches_the_function(name: str, received: Callable[..., Any]) -> None:
    command, option = OPTIONS[name]
    arguments, function = COMMANDS[command]
    _, without = received(function, arguments)
    given = [each for each in arguments if option.name != "expected" or each != "original"]
    _, value = received(function, [*given, *_value(option)])
    own = OWN - {"limits"}
    assert {k: v for k, v in value.items() if k not in own} != {k: v for k, v in without.items() if k not in own}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("net.pb", "net.tflite"),
        ("größe.v2.keras", "größe.v2.tflite"),
        ("saved.v2", "saved.v2.tflite"),
        (".", "inside.tflite"),
        ("..", "folder.tflite"),
        ("saved.v2/..", "inside.tflite"),
        ("/", "model.tflite"),
        ("missing.pb", "missing.pb.tflite"),
    ],
)
def test_the_file_is_named_after_the_model(
    model: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder" / "inside"
    (folder / "saved.v2").mkdir(parents=True)
    for file in ("net.pb", "größe.v2.keras"):
        (folder / file).touch()
    monkeypatch.chdir(folder)
    written: list[Path] = []

    def stop(path: Path, *_: Any, **__: Any) -> None:
        written.append(path)
        raise _StoppedError("it was called")

    monkeypatch.setattr("litefuse.tools.cli.convert.check_writable", stop)
    run("convert", model)
    assert written == [Path(name)]


WRONG = """
import litefuse

@litefuse.fusion("embedding_matmul", replace=True)
class Doubled(litefuse.Fusion):
    ids_in_range = True

    def rewrite(self, composite, b):
        table, ids = composite.args
        rows = b.embedding_lookup(ids, table)
        return b.add(rows, rows)
"""


def test_a_wrong_fusion_is_refused_without_options(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    convert = ("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--plug-in", wrong)
    refused(run(*convert, "--require-fused=embedding_matmul"), "embedding_matmul")
    outcome = run(*convert)
    (line,) = [each for each in outcome.out.splitlines() if each.startswith("  not fused")]
    assert "embedding_matmul" in line
    assert "does not run" not in line
    unchecked = run(*convert, "--require-fused=embedding_matmul", "--check-fusions", "no")
    assert unchecked.code == 0, unchecked


def test_a_quantized_file_is_named_after_its_form(tmp_path: Path) -> None:
    (tmp_path / "größe.tflite").touch()
    assert model_output(None, tmp_path / "größe.tflite", ".int8") == Path("größe.int8.tflite")
    command = app.get_command(None, "quantize")
    assert command is not None
    (option,) = (parameter for parameter in command.params if parameter.name == "output")
    assert not option.required
