"""Execution of one signature of a LiteRT model, or of a model without signatures, for the command ``run``.

The model's process imports this.
"""

from __future__ import annotations

import statistics
import struct
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.inputs.model_inputs import LEVELS, Manner, ModelInputs
from litefuse.litert.runtime.input_specs import InputSpec, input_specs, load_inputs, no_input, stored_strings
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.loading import load_kernels
from litefuse.support.files.readable import os_errors
from litefuse.support.plug_ins.entry_points import what_was_raised
from litefuse.support.report.sections import Section, count_of, listed
from litefuse.tools.cli.run_job import ArraySummary, RunFacts, RunJob, RunResult

_SHOWN = 5
_HEADINGS = ("name", "dtype", "shape", "min", "max", "mean", "first values")


@dataclass(frozen=True)
class Execution:
    """The result of running a model.

    Attributes:
        outputs: The outputs of the last run, by name.
        seconds: The time of each run.
        changed: The outputs whose values differ between the first and the last run.
    """

    outputs: Mapping[str, npt.NDArray[Any]]
    seconds: tuple[float, ...]
    changed: tuple[str, ...]


def run_job(job: RunJob, announce: Callable[[str], None]) -> RunResult:
    """Runs a model as a job specifies, and writes its outputs if requested.

    Args:
        job: The job.
        announce: Called with the name of each step at its start.

    Returns:
        What it gave, and the sections to print.

    Raises:
        LitefuseError: A kernel's file cannot be imported, the model cannot be loaded or run, or the outputs cannot be
            written.
    """
    if job.kernels:
        announce("import the kernels")
        load_kernels(job.kernels)
    announce("load the model")
    interpreter = open_model(job.model)
    specs = input_specs(interpreter, job.signature)
    given = job.inputs
    title = f"Random inputs, seed {job.seed}"
    limit: int | None = None
    if given is not None:
        arrays = load_inputs(given, specs)
        execution = execute(interpreter, job.signature, arrays, job.repeat, announce)
    else:
        arrays, execution, limit = _execute_drawn(interpreter, specs, job, announce)
        title += f", only integers below {limit}, because others are refused" if limit else ""
    sections: list[Section] = []
    if job.inputs is None and specs:
        sections.append(Section(title, summary_rows(arrays), headings=_HEADINGS))
    if job.partial is None:
        sections.append(Section("Outputs", summary_rows(execution.outputs), headings=_HEADINGS))
    else:
        announce("write the outputs")
        try:
            save_outputs(execution.outputs, job.partial, alone=bool(job.output) and job.output.suffix.lower() == ".npy")
        except LitefuseError as error:
            error.where = str(job.output)
            raise
        sections.append(Section(f"Outputs written to {job.output}"))
    if job.repeat > 1:
        times = [
            ("first", f"{execution.seconds[0] * 1000:.3f} ms"),
            ("median of the others", f"{statistics.median(execution.seconds[1:]) * 1000:.3f} ms"),
        ]
        note = f"The outputs changed from the first run to the last: {', '.join(execution.changed)}"
        sections.append(Section(f"Time, {count_of(job.repeat, 'run')}", times, note=note if execution.changed else ""))
    facts = RunFacts(
        str(job.model),
        job.signature,
        given is None,
        limit,
        tuple(_array_summary(name, value) for name, value in arrays.items()),
        tuple(_array_summary(name, value) for name, value in execution.outputs.items()),
        execution.seconds,
        execution.changed,
    )
    announce("close the model")
    return RunResult(facts, sections)


def _execute_drawn(
    interpreter: Interpreter, specs: Sequence[InputSpec], job: RunJob, announce: Callable[[str], None]
) -> tuple[dict[str, npt.NDArray[Any]], Execution, int | None]:
    """Runs a model on inputs drawn from its graph; with smaller integers if it rejects others.

    Returns the inputs, the result, and the upper bound of integers, if there is one.
    """
    if unknown := sorted(job.shapes.keys() - {spec.name for spec in specs}):
        raise no_input(unknown, specs)
    inputs = ModelInputs.of_file(job.model)
    keys = [*interpreter.get_signature_list()]
    key = job.signature or (keys[0] if keys else "")
    shapes = inputs.shapes(key, batch=1, size=1, given=job.shapes)
    refused: LitefuseError | None = None
    for limit in LEVELS:
        arrays = inputs.drawer(key, Random(job.seed)).draw(shapes, Manner(limit=limit))
        try:
            return arrays, execute(interpreter, job.signature, arrays, job.repeat, announce), limit
        except LitefuseError as error:  # from the runtime or a kernel
            refused = refused or error
            if not any(array.dtype.kind in "iuO" for array in arrays.values()):
                break  # other limits would draw the same inputs
    assert refused is not None
    raise refused


def open_model(path: Path) -> Interpreter:
    """Loads a model.

    Raises:
        InterpreterError: It cannot be loaded.
    """
    return Interpreter(path)


def execute(
    interpreter: Interpreter,
    signature: str | None,
    inputs: Mapping[str, npt.NDArray[Any]],
    repeat: int,
    announce: Callable[[str], None] = lambda _: None,
) -> Execution:
    """Runs a signature ``repeat`` times in a row with the same inputs.

    Raises:
        InterpreterError: The model rejects the inputs or fails.
        LitefuseError: A kernel fails.
    """
    seconds: list[float] = []
    first: dict[str, npt.NDArray[Any]] = {}
    outputs: dict[str, npt.NDArray[Any]] = {}
    of_signature = "" if signature is None else f" signature {signature!r}"
    interpreter.announce_steps(lambda step: announce(f"{step}{of_signature and ','}{of_signature}"))
    try:
        runner = None if not interpreter.get_signature_list() else interpreter.get_signature_runner(signature)
        for number in range(repeat):
            if number == 1:  # the later runs are measured, so no steps are announced
                interpreter.announce_steps(None)
                announce(f"run again{of_signature and ','}{of_signature}")
            started = time.perf_counter()
            results = runner(**inputs) if runner is not None else _run_subgraph(interpreter, inputs)
            seconds.append(time.perf_counter() - started)
            # Copies: the next run overwrites the runtime's memory.
            outputs = {name: np.array(value) for name, value in results.items()}
            first = first or outputs
    except LitefuseError:
        raise
    except Exception as error:  # from the runtime or a kernel
        where = ", ".join(getattr(error, "__notes__", ()))  # from a kernel: its op and node
        text = what_was_raised(error) if where else f"{type(error).__name__}: {error}"
        raise InterpreterError(f"the model does not run: {text}", where=where) from error
    changed = tuple(name for name, value in outputs.items() if not _same(first[name], value))
    return Execution(outputs, tuple(seconds), changed)


def _run_subgraph(interpreter: Interpreter, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    details = {detail["name"]: detail["index"] for detail in interpreter.get_input_details()}
    for name, value in inputs.items():
        interpreter.resize_tensor_input(details[name], value.shape)
    interpreter.allocate_tensors()
    for name, value in inputs.items():
        interpreter.set_tensor(details[name], value)
    interpreter.invoke()
    return {detail["name"]: interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()}


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def summary_rows(outputs: Mapping[str, npt.NDArray[Any]]) -> list[tuple[str, ...]]:
    """Returns for each output its name, dtype, shape, minimum, maximum, mean and first values."""
    return [(name, *_summary(value)) for name, value in outputs.items()]


def _summary(value: npt.NDArray[Any]) -> tuple[str, ...]:
    is_text = value.dtype.kind in "OSU"
    # Python numbers, since bfloat16 and the like do not support format specs.
    first = [_text(item) for item in value.reshape(-1)[:_SHOWN].tolist()]
    shown = " ".join(first) + (" ..." if value.size > _SHOWN else "")
    head = ("string" if is_text else str(value.dtype), str(list(value.shape)))
    if is_text or not value.size or value.dtype.kind == "c":
        return (*head, "", "", "", shown)
    wide = value.astype(np.float64)
    statistics = (wide.min(), wide.max(), wide.mean())  # NaN if an element is NaN
    return (*head, *(f"{number:.6g}" for number in statistics), shown)


def _array_summary(name: str, value: npt.NDArray[Any]) -> ArraySummary:
    is_text = value.dtype.kind in "OSU"
    dtype = "string" if is_text else str(value.dtype)
    first = tuple(value.reshape(-1)[:_SHOWN].tolist())
    if is_text or not value.size or value.dtype.kind == "c":
        return ArraySummary(name, dtype, value.shape, None, None, None, first)
    wide = value.astype(np.float64)
    return ArraySummary(name, dtype, value.shape, float(wide.min()), float(wide.max()), float(wide.mean()), first)


def _text(item: Any) -> str:
    if isinstance(item, bytes):
        return repr(item.decode("utf-8", "replace"))
    return str(item) if isinstance(item, int) else f"{item:.6g}"


def save_outputs(outputs: Mapping[str, npt.NDArray[Any]], path: Path, *, alone: bool = False) -> None:
    """Writes outputs as an ``.npz`` file, or the only one as an ``.npy`` file; strings as fixed-size bytes.

    Arrays of bfloat16 become float32.

    Raises:
        InterpreterError: The file cannot be written, or there are several arrays for an ``.npy`` file.
    """
    stored = {name: array for output, value in outputs.items() for name, array in _stored(output, value).items()}
    if alone:
        if len(stored) != 1:
            problem = f"an .npy file holds one array, and the outputs are {len(stored)}: {listed(stored, 3)}"
            raise InterpreterError(problem, hint="Name an .npz file, which holds all.")
        with os_errors("the outputs cannot be written", path, InterpreterError), path.open("wb") as file:
            np.lib.format.write_array(file, next(iter(stored.values())), allow_pickle=False)
        return
    try:
        # Equivalent to numpy.savez, whose own arguments may clash with the names of the arrays.
        with os_errors("the outputs cannot be written", path, InterpreterError), zipfile.ZipFile(path, "w") as archive:
            for name, array in stored.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    except (ValueError, struct.error) as error:  # a name of more than 65,535 bytes, or one that is not text
        raise InterpreterError(
            f"the outputs cannot be written: a .npz file has no such names ({error})", where=str(path)
        ) from error


def _stored(name: str, value: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    if value.dtype.kind == "O":
        return stored_strings(name, value)
    return {name: value if value.dtype.isbuiltin == 1 else value.astype(np.float32)}
