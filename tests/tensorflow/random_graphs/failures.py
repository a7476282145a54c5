"""Which random graphs fail, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import litefuse
from litefuse.errors import LitefuseError
from litefuse.support.processes.process import run_in_worker
from tests.tensorflow.checking import difference
from tests.tensorflow.op_suite.verdict import run_model
from tests.tensorflow.random_graphs import models

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow

# Errors of float32 and of float16, which a graph may have in its middle, grow along a graph.
_RTOL = {"float16": 1e-2}


def failures(tensorflow: TensorFlow, seeds: Sequence[int], *, gradients: bool = False) -> Iterator[tuple[int, str]]:
    """The graphs that fail, or whose gradients do, each with what is wrong: each is converted by itself."""
    path = tensorflow.save(models.build, tuple(seeds), gradients)
    for seed, expected in zip(seeds, tensorflow.call(models.run, str(path), tuple(seeds)), strict=True):
        if expected is None or any(value.size == 0 for results in expected for value in results.values()):
            continue  # the runtime's interpreter in Python returns no empty tensors
        problem = _problem(path, seed, models.calls(seed), expected)
        if problem:
            yield seed, problem


def _problem(path: Path, seed: int, calls: Sequence[Any], expected: Sequence[Any]) -> str:
    key = models.signature(seed)
    try:
        model = litefuse.convert(path, signatures=[key])
    except LitefuseError as error:
        return f"refused: {type(error).__name__}: {error}"
    kernels = bool(model.report.custom_ops)
    try:
        actual = run_in_worker(
            f"{run_model.__module__}:run_model", (model.model_bytes, key, [inputs for _, inputs in calls], kernels)
        )
    except LitefuseError as error:
        return f"fails at run time: {error}"
    for number, (ours, theirs) in enumerate(zip(actual, expected, strict=True), start=1):
        for name, value in theirs.items():
            problem = difference(ours[name], value, rtol=_RTOL.get(value.dtype.name, 1e-4))
            if problem:
                return f"call {number}, {name}: {problem}"
    return ""
