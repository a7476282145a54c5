"""Conversion of representative samples to calls of the model to quantize."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.archive import calls_of_archive
from litefuse.conversion.quantization.dataset import Samples
from litefuse.conversion.quantization.lazy_calls import Calls, Inputs, LazyCalls
from litefuse.conversion.quantization.recorded import RecordedSamples, Sample
from litefuse.errors import InterpreterError
from litefuse.litert.runtime.input_specs import InputSpec, fit_inputs, fitting, input_specs
from litefuse.litert.runtime.interpreter import Interpreter

__all__ = ["WHERE", "Calls", "calls_by_specs", "calls_of"]

#: The location in errors about a sample.
WHERE = "representative dataset"


def calls_of(samples: Samples, model: Path) -> Calls:
    """Converts samples to calls of a model's signatures.

    In an archive, an array is for the input of its name, ``SIGNATURE/NAME`` if the model has several signatures. It has
    one axis more than the input, or as many: then slices along the first axis are samples, each as long as the input's
    first dimension, or 1 if that is dynamic. Elsewhere, an example without the axis of the batch is a batch of one.

    Raises:
        InterpreterError: The archive cannot be read, a sample has an unknown input, lacks one or does not fit, or a
            signature has no samples.
    """
    interpreter = Interpreter(model)
    specs = {key: input_specs(interpreter, key) for key in interpreter.get_signature_list()}
    return calls_by_specs(samples, specs, specs)


def calls_by_specs(samples: Samples, specs: Mapping[str, Sequence[InputSpec]], wanted: Iterable[str]) -> Calls:
    """Converts samples to calls of some signatures, see :func:`calls_of`.

    Args:
        samples: The samples.
        specs: The inputs of each signature of the model.
        wanted: The keys of the signatures.

    Raises:
        InterpreterError: As :func:`calls_of` does.
    """
    calls = calls_of_archive(samples, specs) if isinstance(samples, Path) else _calls_of_samples(samples, specs)
    calls = {key: calls[key] for key in wanted}
    for key, of_signature in [*calls.items()]:
        if not of_signature and specs[key]:
            raise InterpreterError(f"no sample for the signature {key!r}", where=WHERE)
        if not of_signature:
            calls[key] = [{}]  # without inputs, all calls are alike
        for number, inputs in enumerate(calls[key], 1):
            for name, value in inputs.items():
                if value.dtype.kind in "fc" and not np.isfinite(value).all():
                    raise InterpreterError(
                        f"{name!r} has NaN or infinite elements", where=f"{WHERE}, sample {number} of {key!r}"
                    )
    return calls


def _calls_of_samples(
    samples: RecordedSamples | tuple[Sample, ...], specs: Mapping[str, Sequence[InputSpec]]
) -> dict[str, Sequence[Inputs]]:
    """Sorts samples by their signatures."""
    keys = [key for key, _ in samples.entries] if isinstance(samples, RecordedSamples) else [key for key, _ in samples]
    numbers: dict[str, list[int]] = {key: [] for key in specs}
    for number, key in enumerate(keys):
        numbers[_signature(key, specs, f"{WHERE}, sample {number + 1}")].append(number)
    read = samples.read if isinstance(samples, RecordedSamples) else samples.__getitem__

    def calls(key: str) -> LazyCalls:
        own = numbers[key]

        def call(index: int) -> Inputs:
            return _named(read(own[index]).inputs, specs[key], f"{WHERE}, sample {own[index] + 1}")

        return LazyCalls(len(own), call)

    return {key: calls(key) for key in specs}


def _signature(key: str | None, specs: Mapping[str, Sequence[InputSpec]], where: str) -> str:
    if key is None and len(specs) == 1:
        return next(iter(specs))
    if key is not None and key in specs:
        return key
    what = "names no signature" if key is None else f"is for a signature {key!r}"
    raise InterpreterError(
        f"the sample {what}",
        where=where,
        hint=f"The signatures are {', '.join(specs)}: a sample for one of several is a pair (signature, inputs).",
    )


def _named(inputs: Mapping[str | None, npt.NDArray[Any]], specs: Sequence[InputSpec], where: str) -> Inputs:
    if None in inputs:
        if len(specs) != 1:
            raise InterpreterError(
                f"the sample is one array, and the signature takes {len(specs)} inputs",
                where=where,
                hint=f"Pass a mapping from their names: {', '.join(spec.name for spec in specs)}.",
            )
        return {specs[0].name: fitting(_with_batch(inputs[None], specs[0]), specs[0], where)}
    shapes = {spec.name: spec for spec in specs}
    arrays = {
        str(name): _with_batch(value, shapes[str(name)]) if name in shapes else value for name, value in inputs.items()
    }
    return fit_inputs(arrays, specs, "the sample lacks", where)


def _with_batch(array: npt.NDArray[Any], spec: InputSpec) -> npt.NDArray[Any]:
    """Makes a batch of one of an example, as data sets have them."""
    is_example = array.ndim + 1 == len(spec.shape) and spec.shape[0] in {None, 1}
    return array[np.newaxis] if is_example else array
