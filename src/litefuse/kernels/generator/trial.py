"""Trials: do a kernel and its body, or a model with kernels and as it was, compute the same, and which is faster?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.litert.inputs.kinds import kinds_of
from litefuse.litert.inputs.model_inputs import LEVELS, OTHER_NUMBERS, Manner, ModelInputs
from litefuse.litert.results.difference import Difference, difference

# Of quantized numbers, so many may be rounded to the other side.
_IN_THE_MIDDLE = 0.005
#: The largest difference of real numbers, relative to the largest; others must be equal. As for fusions.
TOLERANCE = 1e-5
# The batch sizes and the sizes of other dynamic dimensions, in turn; the calls of the same sizes show whether anything
# is left over from the one before.
_SIZES = ((3, 3), (3, 3), (2, 5), (1, 8), (17, 17), (1, 1))
# What the kernel says where it takes sizes that agree, and the body repeats what is of size 1.
_SIZES_DIFFER = "sizes that are to be the same"
# The sizes of dynamic dimensions for the measurement: the first whose inputs have no more elements.
_MEASURED = (256, 128, 64, 32, 16, 8, 4, 2, 1)
_MOST_ELEMENTS = 1 << 20
# Each is called for this long.
_SECONDS = 0.4
_ROUNDS = 9


class TrialJob(NamedTuple):
    """A trial of one kernel: the models and shapes to run it with.

    Attributes:
        composite: The model of the composite.
        body: The model of its body.
        library: The library with the kernel.
        is_timed: Whether to measure.
        shapes: Further shapes of the inputs to compare both with, by name.
        measured: The shapes to measure with; None for the largest of usual ones.
    """

    composite: bytes
    body: bytes
    library: Path
    is_timed: bool
    shapes: Sequence[Mapping[str, tuple[int, ...]]] = ()
    measured: Mapping[str, tuple[int, ...]] | None = None


class Trial(NamedTuple):
    """How a kernel compares with the body.

    Attributes:
        error: The largest difference.
        problem: Why the kernel cannot be taken; None if it computes the same.
        kernel_seconds: How long a call takes with the kernel, on one thread; 0 if that was not measured.
        body_seconds: How long the body takes in LiteRT with XNNPACK.
    """

    error: float = 0.0
    problem: str | None = None
    kernel_seconds: float = 0.0
    body_seconds: float = 0.0


class _Refused(Exception):  # noqa: N818  not an error: other inputs may do
    pass


class _Runner:
    """An interpreter that is called with inputs of any shape."""

    def __init__(self, content: bytes, library: Path | None) -> None:
        from ai_edge_litert.interpreter import Interpreter, load_delegate

        delegates = None if library is None else [load_delegate(str(library))]
        try:
            made: Any = Interpreter(model_content=content, num_threads=1, experimental_delegates=delegates)
        except (RuntimeError, ValueError) as error:
            raise _Refused(" ".join(str(error).split())) from None
        self._interpreter = made
        self._shapes: list[tuple[int, ...]] = []

    def set(self, inputs: Mapping[str, npt.NDArray[Any]]) -> None:
        try:
            details = self._interpreter.get_input_details()
            arrays = [inputs[detail["name"]] for detail in details]
            shapes = [array.shape for array in arrays]
            if shapes != self._shapes:
                for detail, shape in zip(details, shapes, strict=True):
                    self._interpreter.resize_tensor_input(detail["index"], shape)
                self._shapes = []
                self._interpreter.allocate_tensors()
                self._shapes = shapes
            for detail, array in zip(details, arrays, strict=True):
                self._interpreter.set_tensor(detail["index"], array)
        except (RuntimeError, ValueError) as error:
            raise _Refused(" ".join(str(error).split())) from None

    def call(self) -> None:
        try:
            self._interpreter.invoke()
        except RuntimeError as error:
            raise _Refused(" ".join(str(error).split())) from None

    @property
    def quantized(self) -> set[int]:
        """The numbers of the results that are quantized."""
        details = self._interpreter.get_output_details()
        return {number for number, detail in enumerate(details) if len(detail["quantization_parameters"]["scales"])}

    def results(self) -> list[npt.NDArray[Any]]:
        details = self._interpreter.get_output_details()
        try:
            return [self._interpreter.get_tensor(detail["index"]) for detail in details]
        except (RuntimeError, ValueError) as error:
            raise _Refused(" ".join(str(error).split())) from None


def run_trial(job: TrialJob, announce: Callable[[str], None] = lambda _: None) -> Trial:
    """Runs both on the same inputs, which are drawn from the body, twice in a row and with several sizes; measures."""
    announce("check-kernel")
    inputs = ModelInputs(job.body)
    try:
        kernel, body = _Runner(job.composite, job.library), _Runner(job.body, None)
    except _Refused as error:
        return Trial(problem=f"LiteRT does not load the body: {error}")
    problem = "the body does not run on random inputs"
    for limit in LEVELS:
        try:
            trial = _compared(job, inputs, kernel, body, Manner(limit))
        except _Refused as error:
            problem = f"the body does not run on random inputs: {error}"
            continue
        if trial.problem is not None or not job.is_timed:
            return trial
        announce("time-kernel")
        return _timed(trial, job, inputs, kernel, body, Manner(limit))
    return Trial(problem=problem)


def _compared(job: TrialJob, inputs: ModelInputs, kernel: _Runner, body: _Runner, manner: Manner) -> Trial:
    (key,) = inputs.signatures
    drawer = inputs.drawer(key, Random(0))
    worst, ran, quantized = 0.0, 0, body.quantized
    results: list[list[npt.NDArray[Any]]] = []
    refusal = ""
    usual = [inputs.shapes(key, batch=batch, size=size) for batch, size in _SIZES]
    chosen = [*usual, *job.shapes]
    others = ((usual[1], other) for other in OTHER_NUMBERS)
    # Differences of tiny and equal numbers are all rounding, of which the largest value says nothing.
    kinds = [kind for kind in kinds_of(job.body) if kind.manner.scale >= 1 and not kind.manner.constant]
    kinds = [kind for kind in kinds if not kind.undefined]
    further = (
        (inputs.shapes(key, batch=kind.size, size=kind.size), kind.manner._replace(limit=manner.limit))
        for kind in kinds
    )
    calls = chain(((shapes, manner) for shapes in chosen), others, further)
    for tried, (shapes, how) in enumerate(calls):
        extra = tried - len(chosen)
        if 0 <= extra < len(OTHER_NUMBERS) and ran >= len(_SIZES) and _moved(results):
            continue
        if extra >= len(OTHER_NUMBERS) and sum(map(math.prod, shapes.values())) > _MOST_ELEMENTS:
            continue
        arrays = drawer.draw(shapes, how)
        if not _is_taken(kernel, arrays) and len(usual) <= tried < len(chosen):
            continue  # where the kernel refuses a size, LiteRT may read outside of a tensor
        try:
            body.set(arrays)
            body.call()
            expected = body.results()
        except _Refused as error:
            refusal = str(error)
            continue  # sizes and numbers that the body does not take
        try:
            kernel.set(arrays)
            kernel.call()
            made = kernel.results()
        except _Refused as error:
            if _SIZES_DIFFER in str(error):
                continue
            return Trial(problem=f"the kernel refuses what the body takes: {error}")
        if extra >= len(OTHER_NUMBERS) and not all(map(_is_finite, expected)):
            continue  # numbers beyond what the body is for
        ran += 1
        for number, (value, right) in enumerate(zip(made, expected, strict=True)):
            away = _difference(value, right, quantized=number in quantized)
            if not away.error <= TOLERANCE:
                what = away.problem or f"it differs by {away.error:.2g}"
                return Trial(away.error, f"the kernel does not compute what the body computes: output {number}: {what}")
            worst = max(worst, away.error)
        results.append(expected)
    if not ran:
        raise _Refused(refusal)
    if inputs.moving[key] and not _moved(results):
        return Trial(problem="its results did not change with the generated inputs, so they prove nothing")
    return Trial(worst)


def _difference(found: npt.NDArray[Any], right: npt.NDArray[Any], *, quantized: bool) -> Difference:
    """Returns the difference of two results; few quantized numbers, as between two steps, may be a step away."""
    if quantized and found.shape == right.shape:
        steps = np.abs(found.astype(np.int64) - right)
        if steps.max(initial=0) <= 1 and np.count_nonzero(steps) <= _IN_THE_MIDDLE * steps.size:
            return Difference(0.0)
    return difference(found, right)


def _is_taken(kernel: _Runner, arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Whether a kernel takes inputs, also those that the body does not take: it is not to end the process."""
    try:
        kernel.set(arrays)
        kernel.call()
    except _Refused:
        return False
    return True


def _is_finite(value: npt.NDArray[Any]) -> bool:
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())


def _moved(results: list[list[npt.NDArray[Any]]]) -> bool:
    """Whether every result took several values."""
    return all(
        any((array != array.flat[0]).any() for array in values if array.size)
        or len({array.flat[0].tobytes() for array in values if array.size}) > 1
        for values in zip(*results, strict=True)
    )


def _timed(trial: Trial, job: TrialJob, inputs: ModelInputs, kernel: _Runner, body: _Runner, manner: Manner) -> Trial:
    (key,) = inputs.signatures
    drawer = inputs.drawer(key, Random(1))
    for shapes in _usual_shapes(inputs, key) if job.measured is None else [job.measured]:
        arrays = drawer.draw(shapes, manner)
        try:
            for runner in (body, kernel):
                runner.set(arrays)
                runner.call()
            seconds = timed_in_turn(kernel.call, body.call, _SECONDS)
            return trial._replace(kernel_seconds=seconds[0], body_seconds=seconds[1])
        except (_Refused, LitefuseError):
            continue
    return trial._replace(problem="it could not be measured: the body takes none of the sizes that were tried")


def _usual_shapes(inputs: ModelInputs, key: str) -> Iterator[dict[str, tuple[int, ...]]]:
    """Yields shapes to measure with, the largest first."""
    for size in _MEASURED:
        # A batch of large items is one of them.
        sizes = [inputs.shapes(key, batch=1, size=size), inputs.shapes(key, batch=size, size=size)]
        if sum(math.prod(shape) for shape in sizes[0].values()) < 1 << 16:
            sizes.reverse()
        if sum(map(math.prod, sizes[0].values())) <= _MOST_ELEMENTS or size == 1:
            yield sizes[0]


def timed_in_turn(one: Callable[[], object], other: Callable[[], object], seconds: float) -> tuple[float, float]:
    """Calls both in turn; returns the seconds of a call of each: medians, which another process does not disturb."""
    counts: list[int] = []
    for call in (one, other):
        started = time.perf_counter()
        call()
        counts.append(max(1, int(seconds / _ROUNDS / max(time.perf_counter() - started, 1e-6))))
    measured: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        for call, count, times in zip((one, other), counts, measured, strict=True):
            started = time.perf_counter()
            for _ in range(count):
                call()
            times.append((time.perf_counter() - started) / count)
    return median(measured[0]), median(measured[1])


# Later ops may enlarge the difference that a kernel is allowed.
_MODEL_TOLERANCE = 1e-4
# The batch and the other dynamic sizes, the larger first; a model may take only some.
_MODEL_SIZES = (8, 4, 1)
_MODEL_SECONDS = 1.0
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
        measured = timed_in_turn(outlined.call, plain.call, _MODEL_SECONDS / len(inputs.signatures))
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
    for size in _MODEL_SIZES:
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
                return f"with the kernels, the model refuses inputs that it accepts without them: {_line(error)}"
            for one, other in zip(results, expected, strict=True):
                for name, right in other.items():
                    away = difference(one[name], right)
                    if not away.error <= _MODEL_TOLERANCE:
                        what = away.problem or f"it differs by {away.error:.2g}"
                        return f"the model does not compute the same with the kernels: output {name!r}: {what}"
            return None
    return f"LiteRT does not run the model: {refusal}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
