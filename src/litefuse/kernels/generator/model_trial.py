"""Runs a model with the kernels of its chains and as it was: does it compute the same, and which is faster?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy.typing as npt

from litefuse.kernels.generator.trial import timed_in_turn
from litefuse.litert.inputs.model_inputs import LEVELS, Manner, ModelInputs
from litefuse.litert.results.difference import difference

__all__ = ["ModelTrial", "ModelTrialJob", "run_model_trial"]

# Later ops may enlarge the difference that a kernel is allowed.
_TOLERANCE = 1e-4
# The batch and the other dynamic sizes, the larger first; a model may take only some.
_SIZES = (8, 4, 1)
_SECONDS = 1.0
# What is not faster by more may be noise.
_LEAST_GAIN = 0.02
# And so may be what one of several signatures loses.
_MOST_LOSS = 0.1


class ModelTrialJob(NamedTuple):
    """Files to compare and measure.

    Attributes:
        plain: The model's file.
        outlined: The one with composites in the place of chains.
        kernels: The library with the kernels of the chains.
        library: The library with the kernels of other composites, for both.
        is_timed: Whether to measure.
    """

    plain: Path
    outlined: Path
    kernels: Path
    library: Path | None
    is_timed: bool = True


class ModelTrial(NamedTuple):
    """How the model with kernels compares with the one without.

    Attributes:
        with_seconds: How long a call of each signature takes with them, on one thread; 0 if that was not measured.
        without_seconds: How long it takes without, in LiteRT with XNNPACK.
        problem: Why they cannot be taken; None if it computes the same and is faster.
    """

    with_seconds: float = 0.0
    without_seconds: float = 0.0
    problem: str | None = None


class _Caller:
    """An interpreter whose signatures are called."""

    def __init__(self, path: Path, libraries: Sequence[Path]) -> None:
        from ai_edge_litert.interpreter import Interpreter, load_delegate

        delegates = [load_delegate(str(library)) for library in libraries]
        self._interpreter: Any = Interpreter(str(path), num_threads=1, experimental_delegates=delegates or None)
        self._keys = list(self._interpreter.get_signature_list())
        self._key = ""
        self._runners = {key: self._interpreter.get_signature_runner(key) for key in self._keys}
        self._inputs: Mapping[str, npt.NDArray[Any]] = {}

    def set(self, key: str, inputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Sets the inputs of a signature for the calls that follow; that of a model without any has an empty key."""
        self._key, self._inputs = key, inputs
        if key in self._runners:
            return
        for detail in self._interpreter.get_input_details():
            self._interpreter.resize_tensor_input(detail["index"], inputs[detail["name"]].shape)
        self._interpreter.allocate_tensors()

    def call(self) -> dict[str, npt.NDArray[Any]]:
        if self._key in self._runners:
            return self._runners[self._key](**self._inputs)
        for detail in self._interpreter.get_input_details():
            self._interpreter.set_tensor(detail["index"], self._inputs[detail["name"]])
        self._interpreter.invoke()
        outputs = self._interpreter.get_output_details()
        return {output["name"]: self._interpreter.get_tensor(output["index"]) for output in outputs}


def run_model_trial(job: ModelTrialJob, announce: Callable[[str], None] = lambda _: None) -> ModelTrial:
    """Runs both on the same inputs, compares the results, and measures."""
    announce("time-model")
    others = [] if job.library is None else [job.library]
    inputs = ModelInputs.of_file(job.plain)
    try:
        plain, outlined = _Caller(job.plain, others), _Caller(job.outlined, [*others, job.kernels])
    except (RuntimeError, ValueError) as error:
        return ModelTrial(problem=f"LiteRT does not load the model: {_line(error)}")
    seconds = [0.0, 0.0]
    for key in inputs.signatures:
        problem = _prepared(inputs, key, outlined, plain)
        if problem is not None:
            return ModelTrial(problem=problem)
        if not job.is_timed:
            continue
        measured = timed_in_turn(outlined.call, plain.call, _SECONDS / len(inputs.signatures))
        seconds = [total + more for total, more in zip(seconds, measured, strict=True)]
        if measured[0] > measured[1] * (1 + _MOST_LOSS):
            times = f"{measured[0] * 1e6:,.0f} µs, without {measured[1] * 1e6:,.0f} µs"
            return ModelTrial(problem=f"the signature {key!r} takes longer with the kernels: {times}")
    if not job.is_timed:
        return ModelTrial()
    trial = ModelTrial(seconds[0], seconds[1])
    if trial.without_seconds * (1 - _LEAST_GAIN) <= trial.with_seconds < trial.without_seconds:
        return trial._replace(problem="the model as a whole gains less than can be measured")
    return trial


def _prepared(inputs: ModelInputs, key: str, outlined: _Caller, plain: _Caller) -> str | None:
    """Calls a signature of both, twice, with inputs that the model takes; returns what is wrong."""
    refusal = ""
    for size in _SIZES:
        for limit in LEVELS:
            shapes = inputs.shapes(key, batch=size, size=size)
            arrays = inputs.drawer(key, Random(0)).draw(shapes, Manner(limit))
            try:
                plain.set(key, arrays)
                expected = [plain.call(), plain.call()]
            except (RuntimeError, ValueError) as error:
                refusal = _line(error)
                continue
            try:
                outlined.set(key, arrays)
                results = [outlined.call(), outlined.call()]
            except (RuntimeError, ValueError) as error:
                return f"the model refuses with the kernels what it takes without: {_line(error)}"
            for one, other in zip(results, expected, strict=True):
                for name, right in other.items():
                    away = difference(one[name], right)
                    if not away.error <= _TOLERANCE:
                        what = away.problem or f"it differs by {away.error:.2g}"
                        return f"the model does not compute the same with the kernels: output {name!r}: {what}"
            return None
    return f"LiteRT does not run the model: {refusal}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
