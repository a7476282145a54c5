"""Runs the programs that import JAX: never in the process of the tests, which may hold the lowering engine."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import litefuse
from tests.tensorflow.checking import difference, run_calls

_ROOT = Path(__file__).parents[2]


def run(module: str, *arguments: str, **environment: str) -> str:
    """The output of a program of this package."""
    return _output([sys.executable, "-m", f"tests.with_jax.{module}", *arguments], _ROOT, environment)


def run_code(code: str, folder: Path, **environment: str) -> str:
    """The output of a program that is given as text, in a folder."""
    program = folder / "program.py"
    program.write_text(code)
    return _output([sys.executable, str(program)], folder, environment)


def _output(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=_settings(environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", **environment}


class Maker:
    """A process that writes the files of a name when a test first asks for them.

    Args:
        module: A program of this package, which ends in :func:`serve`.
        folder: Where it writes.
        **environment: Its environment, beside this process's.
    """

    def __init__(self, module: str, folder: Path, **environment: str) -> None:
        self._folder = folder
        self._made: set[str] = set()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.with_jax.{module}", str(folder)],
            cwd=_ROOT,
            env=_settings(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def __call__(self, name: str, kind: str) -> Path:
        """The path ``FOLDER/NAME.KIND``, once that is made."""
        if name not in self._made:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(f"{name}\n")
            self._process.stdin.flush()
            if f"{_MADE} {name}\n" not in iter(self._process.stdout.readline, ""):  # others may be printed as well
                self._errors.seek(0)
                pytest.fail(self._errors.read().decode(errors="replace"))
            self._made.add(name)
        return self._folder / f"{name}.{kind}"

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


_MADE = "made"


def serve(make: Callable[[str, Path], None]) -> None:
    """Calls a function with each name on the standard input, and the folder that is the program's argument."""
    # What is imported stays: collecting garbage need not look at it.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        make(line.strip(), Path(sys.argv[1]))
        print(_MADE, line.strip(), flush=True)


def check(
    path: Path, expected: Path, *, rtol: float = 1e-5, name: str = "x", **options: Any
) -> litefuse.ConversionResult:
    """Converts a SavedModel, and compares two calls, each made twice in a row, with the outputs in a file."""
    result = litefuse.convert(path, **options)
    arrays = dict(np.load(expected))
    for call, inputs, outputs in _calls(arrays, name):
        for ours in run_calls(result.model_bytes, [("serving_default", inputs)] * 2):
            assert len(ours) == len(outputs)
            for position, value in enumerate(outputs):
                problem = difference(ours[f"output_{position}"], value, rtol=rtol)
                assert not problem, f"call {call}, output {position}: {problem}"
    return result


def _calls(
    arrays: dict[str, npt.NDArray[Any]], name: str
) -> Iterator[tuple[int, dict[str, npt.NDArray[Any]], list[npt.NDArray[Any]]]]:
    for call in (0, 1):
        outputs = [arrays[f"{call}.{position}"] for position in range(len(arrays)) if f"{call}.{position}" in arrays]
        yield call, {name: arrays[f"{call}.x"]}, outputs
