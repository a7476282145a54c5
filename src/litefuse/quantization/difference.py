"""What quantization does to a model's outputs: the model before and after it, run in LiteRT."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.quantization.samples import Calls
from litefuse.runtime.inputs import InputSpec, input_specs
from litefuse.runtime.interpreter import Interpreter
from litefuse.runtime.scales import dequantized, quantized

__all__ = ["Difference", "difference_on_random_inputs", "difference_on_samples"]


class Difference(NamedTuple):
    """What quantization does to a model's outputs.

    Attributes:
        error: The largest difference, on one random input of each signature or on samples, in units of the largest
            element of each output; None if it was not measured.
        unchecked: Why not.
    """

    error: float | None
    unchecked: str | None = None


def difference_on_random_inputs(before: Path, after: Path) -> Difference:
    """The difference between two models on one random input of each signature.

    Raises:
        LitefuseError: LiteRT does not run the second, but the first.
    """
    unchecked = ""
    for size, numbers in product(_OPEN_SIZES, _NUMBERS):
        try:
            calls = _random_calls(before, size, numbers)
            expected = list(_outputs(before, calls))
        except _Unknown as reason:
            return Difference(None, str(reason))
        except _NOT_RUN as reason:
            message = reason.message if isinstance(reason, LitefuseError) else reason
            unchecked = unchecked or f"the model does not run on random inputs: {message}"
            continue
        return _difference_of(expected, after, calls)
    return Difference(None, unchecked)


def difference_on_samples(before: Path, after: Path, calls: Calls) -> Difference:
    """The difference between two models on the first samples of each signature.

    Raises:
        LitefuseError: LiteRT does not run one of the two.
    """
    some = {key: inputs[:_SAMPLES] for key, inputs in calls.items()}
    return _difference_of(list(_outputs(before, some)), after, some)


# How many samples of each signature are compared.
_SAMPLES = 16
# The sizes that open dimensions but the first are tried with: of images, for example, few models take the least.
_OPEN_SIZES = (1, 32, 224)
# Below which integers are: they may be indices, of which 0 is always one.
_NUMBERS = (5, 1)
# What LiteRT raises where it refuses a model or a call.
_NOT_RUN = (LitefuseError, RuntimeError, ValueError)

_Outputs: TypeAlias = dict[tuple[str, str], npt.NDArray[Any]]


def _difference_of(expected: Sequence[_Outputs], after: Path, calls: Calls) -> Difference:
    try:
        found = list(_outputs(after, calls))
    except _NOT_RUN as error:
        raise LitefuseError(
            f"the quantized model does not run in LiteRT: {error}",
            hint="Convert it without quantization, or try another form of it.",
        ) from error
    pairs = ((one[key], other[key]) for one, other in zip(expected, found, strict=True) for key in one)
    return Difference(max(itertools.starmap(_difference, pairs), default=0.0))


class _Unknown(Exception):  # noqa: N818  no error: the model is not run
    """There are no random inputs for a model; the text says why."""


def _random_calls(path: Path, size: int, numbers: int) -> Calls:
    interpreter = Interpreter(path)
    calls: Calls = {}
    for key in interpreter.get_signature_list():
        random = np.random.default_rng(0)
        specs = sorted(input_specs(interpreter, key), key=attrgetter("name"))
        calls[key] = [{spec.name: _input(spec, size, numbers, random) for spec in specs}]
    return calls


def _outputs(path: Path, calls: Calls) -> Iterator[_Outputs]:
    """The outputs of each call of all signatures, in floating point, by signature and name."""
    interpreter = Interpreter(path)
    for key, of_signature in calls.items():
        runner = interpreter.get_signature_runner(key)
        takes, gives = runner.get_input_details(), runner.get_output_details()
        for inputs in of_signature:
            outputs = runner(**{name: quantized(value, takes[name]) for name, value in inputs.items()})
            yield {(key, name): dequantized(np.array(value), gives[name]) for name, value in outputs.items()}


def _input(spec: InputSpec, size: int, numbers: int, random: np.random.Generator) -> npt.NDArray[Any]:
    """A random input, whose open dimensions but the first are of a size, and whose integers are less than a number."""
    if spec.dtype == object:
        raise _Unknown("it takes strings")
    shape = [each if each is not None else size if axis else 1 for axis, each in enumerate(spec.shape)]
    if spec.dtype.kind in "fcV":
        return random.normal(size=shape).astype(spec.dtype)
    return random.integers(0, numbers, shape).astype(spec.dtype)


def _difference(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> float:
    if before.dtype.kind in "OSU" or not before.size:
        return 0.0
    wide = np.complex128 if before.dtype.kind == "c" else np.float64
    largest = float(np.abs(before.astype(wide)).max())
    return float(np.abs(before.astype(wide) - after.astype(wide)).max()) / (largest or 1.0)
