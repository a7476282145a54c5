"""Conversion of representative samples to calls of the model to quantize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.quantization.dataset import Sample, Samples
from litefuse.runtime.inputs import InputSpec, fit_inputs, fitting, input_specs, load_arrays
from litefuse.runtime.interpreter import Interpreter

__all__ = ["WHERE", "Calls", "calls_of"]

Calls: TypeAlias = dict[str, list[dict[str, npt.NDArray[Any]]]]
"""The inputs of calls, by signature."""

#: The location in errors about a sample.
WHERE = "representative dataset"


def calls_of(samples: Samples, model: Path) -> Calls:
    """Converts samples to calls of a model's signatures.

    In an archive, an array is for the input of its name, ``SIGNATURE/NAME`` if the model has several signatures. It has
    one axis more than the input, or as many: then slices along the first axis are samples, each as long as the input's
    first dimension, or 1 if that is dynamic.

    Raises:
        InterpreterError: The archive cannot be read, a sample has an unknown input, lacks one or does not fit, or a
            signature has no samples.
    """
    interpreter = Interpreter(model)
    specs = {key: input_specs(interpreter, key) for key in interpreter.get_signature_list()}
    calls: Calls = {key: [] for key in specs}
    if isinstance(samples, Path):
        _read_archive(samples, specs, calls)
    else:
        for number, sample in enumerate(samples, 1):
            where = f"{WHERE}, sample {number}"
            key = _signature(sample, specs, where)
            calls[key].append(_named(sample.inputs, specs[key], where))
    for key, of_signature in calls.items():
        if not of_signature and specs[key]:
            raise InterpreterError(f"there is no sample for the signature {key!r}", where=WHERE)
        if not of_signature:
            of_signature.append({})  # without inputs, all calls are alike
        for number, inputs in enumerate(of_signature, 1):
            for name, value in inputs.items():
                if value.dtype.kind in "fc" and not np.isfinite(value).all():
                    raise InterpreterError(
                        f"{name!r} holds what is no finite number", where=f"{WHERE}, sample {number} of {key!r}"
                    )
    return calls


def _signature(sample: Sample, specs: Mapping[str, Sequence[InputSpec]], where: str) -> str:
    if sample.signature is None and len(specs) == 1:
        return next(iter(specs))
    if sample.signature in specs:
        return str(sample.signature)
    what = "names no signature" if sample.signature is None else f"is for a signature {sample.signature!r}"
    raise InterpreterError(
        f"the sample {what}",
        where=where,
        hint=f"The signatures are {', '.join(specs)}: a sample for one of several is a pair (signature, inputs).",
    )


def _named(
    inputs: Mapping[str | None, npt.NDArray[Any]], specs: Sequence[InputSpec], where: str
) -> dict[str, npt.NDArray[Any]]:
    if None in inputs:
        if len(specs) != 1:
            raise InterpreterError(
                f"the sample is one array, and the signature takes {len(specs)} inputs",
                where=where,
                hint=f"Pass a mapping from their names: {', '.join(spec.name for spec in specs)}.",
            )
        return {specs[0].name: fitting(inputs[None], specs[0], where)}
    return fit_inputs({str(name): value for name, value in inputs.items()}, specs, "the sample lacks", where)


def _read_archive(path: Path, specs: Mapping[str, Sequence[InputSpec]], calls: Calls) -> None:
    arrays = load_arrays(path)
    names = {
        (key, spec): spec.name if len(specs) == 1 else f"{key}/{spec.name}" for key in specs for spec in specs[key]
    }
    where = str(path)
    if unknown := sorted(arrays.keys() - names.values()):
        raise InterpreterError(
            f"the arrays {', '.join(unknown)} are for no input",
            where=where,
            hint=f"The inputs are {', '.join(names.values())}.",
        )
    for key, of_signature in specs.items():
        if missing := [names[key, spec] for spec in of_signature if names[key, spec] not in arrays]:
            raise InterpreterError(f"the file lacks {', '.join(missing)}", where=where)
        pieces = {spec.name: _pieces(arrays[names[key, spec]], spec, where) for spec in of_signature}
        numbers = {name: len(each) for name, each in pieces.items()}
        if len(set(numbers.values())) > 1:
            raise InterpreterError(f"the numbers of samples differ: {numbers}", where=where)
        calls[key] += [
            {name: each[i] for name, each in pieces.items()} for i in range(max(numbers.values(), default=0))
        ]


def _pieces(array: npt.NDArray[Any], spec: InputSpec, where: str) -> list[npt.NDArray[Any]]:
    if array.ndim == len(spec.shape) + 1:
        return [fitting(each, spec, where) for each in array]
    if array.ndim != len(spec.shape):
        raise InterpreterError(
            f"the array for {spec.name!r} is {array.dtype} {list(array.shape)}, not a series of {spec}", where=where
        )
    length = spec.shape[0] or 1
    if len(array) % length:
        raise InterpreterError(
            f"the array for {spec.name!r} has {len(array)} rows, which pieces of {length} do not divide", where=where
        )
    return [fitting(array[start : start + length], spec, where) for start in range(0, len(array), length)]
