"""Runs the programs that import JAX: never in the process of the tests, which may hold the lowering engine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import litefuse
from tests.tensorflow.checking import difference, run_calls

__all__ = ["check", "is_installed", "run", "run_code"]

_ROOT = Path(__file__).parents[2]


def is_installed(*packages: str) -> bool:
    """Whether all of these packages are there."""
    return all(importlib.util.find_spec(package) is not None for package in packages)


def run(module: str, *arguments: str, **environment: str) -> str:
    """The output of a program of this package."""
    return _output([sys.executable, "-m", f"tests.with_jax.{module}", *arguments], _ROOT, environment)


def run_code(code: str, folder: Path, **environment: str) -> str:
    """The output of a program that is given as text, in a folder."""
    program = folder / "program.py"
    program.write_text(code)
    return _output([sys.executable, str(program)], folder, environment)


def _output(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    settings = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", **environment}
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
