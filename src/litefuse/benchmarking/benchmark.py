"""Measures LiteRT models: latency, memory and the time of each op, in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from litefuse.benchmarking.calls import CALLS, PAIR
from litefuse.benchmarking.file_ops import FileOps, checked_ops
from litefuse.benchmarking.job import CallTimes, ModelJob, NodeCalls, PairJob
from litefuse.benchmarking.machine import cores, processor, versions
from litefuse.benchmarking.measurement import Benchmark, Latency, Measurement, Ratio
from litefuse.benchmarking.node_calls import NODES, NodeJob
from litefuse.benchmarking.op_times import Alone, needs_alone, op_times
from litefuse.benchmarking.operators_alone import ALONE, AloneJob, OpAlone
from litefuse.benchmarking.sizes import tried_inputs
from litefuse.errors import InterpreterError, LimitError, LitefuseError, MissingKernelError
from litefuse.processes.limits import ProcessLimits, processes_limited
from litefuse.result import ConversionResult
from litefuse.runtime.transfer import kernel_by_value, registered_by_value
from litefuse.verify.model_run import run_with_kernels
from litefuse.verify.reference import name_and_content

if TYPE_CHECKING:
    from litefuse.runtime.custom_op import CustomOp

__all__ = ["benchmark"]

Model = ConversionResult | str | os.PathLike[str] | bytes


def benchmark(
    model: ConversionResult | str | os.PathLike[str] | bytes,
    other: ConversionResult | str | os.PathLike[str] | bytes | None = None,
    *,
    signatures: Iterable[str] | None = None,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    threads: int = 1,
    calls: int = 1000,
    seconds: float = 2.0,
    warm_up: int = 3,
    ops: bool = True,
    xnnpack: bool = True,
    custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] = (),
    kernel_modules: Iterable[str] = (),
    timeout: float | None = None,
    memory: int | None = None,
) -> Benchmark:
    """Measures how long calls of a LiteRT model take, how much memory, and which ops take the time.

    The model runs in LiteRT, with litefuse's kernels for custom ops, in processes that are started for that. One loads
    and calls it as it is. Another one calls it with a clock around each node that the runtime runs; where XNNPACK runs
    many ops as one node, XNNPACK itself says what each of its operators takes, and a third process finds out which
    operators it makes of which op. Copying inputs and outputs is not measured.

    Two models are each measured alone, and then called in turn in one process, which their ratio is from: what else the
    machine does meanwhile slows both.

    Without ``inputs``, inputs are drawn from the model's graph; dynamic dimensions are 1 for the first of an input, and
    32 for others, or another size if the model does not run with that.

    Args:
        model: The result of a conversion, the file of a LiteRT model, or its content.
        other: Another model to compare it with, such as one of another converter, or before quantization.
        signatures: The keys of the signatures to measure; None for all.
        inputs: The inputs by name, for the only signature that is measured. Real numbers are quantized for a model that
            takes integers in their place.
        shapes: Shapes of drawn inputs by their names.
        seed: The seed of drawn inputs.
        threads: How many threads the runtime uses.
        calls: The largest number of calls to measure.
        seconds: How long the measured calls may take; one is made at least. The ops are timed for half as long.
        warm_up: The number of calls, after the first, before those that are measured.
        ops: Whether to time the ops.
        xnnpack: Whether LiteRT may use XNNPACK.
        custom_ops: Kernels to use before all others.
        kernel_modules: Files and names of modules that register kernels, and libraries of native ones, loaded in the
            processes that run the models.
        timeout: The time in seconds in which all has to be done; None for no limit.
        memory: The maximum memory of each process in bytes, without mapped files; None for no limit.

    Returns:
        The measurements of each signature.

    Raises:
        ModelCrashError: The process that ran a model died, in the runtime or in a kernel.
        LimitError: It took longer or more memory than the limits.
        LitefuseError: A model cannot be loaded or called.
    """
    _check(threads=threads, calls=calls, warm_up=warm_up, seconds=seconds)
    job = ModelJob(
        b"",
        None,
        inputs=None if inputs is None else {name: np.asarray(value) for name, value in inputs.items()},
        shapes={name: tuple(shape) for name, shape in (shapes or {}).items()},
        seed=seed,
        custom_ops=tuple(map(_sendable, custom_ops)),
        registered=registered_by_value(),
        kernel_modules=tuple(kernel_modules),
        threads=threads,
        xnnpack=xnnpack,
        warm_up=warm_up,
        calls=calls,
        seconds=seconds,
    )
    wanted = None if signatures is None else tuple(signatures)
    models = [_OfModel.read(each, wanted) for each in ([model] if other is None else [model, other])]
    _check_inputs(job, models)
    with processes_limited(ProcessLimits(timeout, memory)):
        found = [[each.measured(job, key, ops=ops) for key in each.keys] for each in models]
        ratios = {} if other is None else _ratios(models, found)
    return Benchmark(
        tuple(measurement for of_model in found for measurement, _ in of_model),
        ratios,
        cpu=processor(),
        cores=cores(),
        versions=versions(),
    )


class _OfModel:
    """A model to measure.

    Attributes:
        name: Its name in messages.
        content: Its file, or its content.
        file: Its ops.
        keys: The keys of the signatures to measure; one empty key for a model without signatures.
    """

    def __init__(self, name: str, content: str | bytes, file: FileOps, keys: Sequence[str]) -> None:
        self.name, self.content, self.file, self.keys = name, content, file, keys

    @classmethod
    def read(cls, model: Model, wanted: Sequence[str] | None) -> _OfModel:
        name, content = name_and_content(model)
        file = checked_ops(content, name)
        there = [*file.subgraphs]
        if unknown := [key for key in wanted or () if key not in there or not key]:
            has = ", ".join(filter(None, there)) or "none"
            raise InterpreterError(f"no signature {unknown[0]!r}", where=name, hint=f"The model has: {has}.")
        return cls(name, content, file, there if wanted is None else wanted)

    def measured(self, job: ModelJob, key: str, *, ops: bool) -> tuple[Measurement, ModelJob]:
        """Measures a signature; returns the job whose inputs the model took, too."""
        job, times = self._called(replace(job, model=self.content, signature=key or None), key)
        measurement = Measurement(
            self.name,
            job.signature,
            times.inputs,
            job.inputs is None,
            job.threads,
            job.xnnpack,
            times.load,
            times.cold,
            Latency.of(times.warm),
            times.memory,
            notes=tuple(_notes(job, times)),
        )
        return (self._with_ops(measurement, job, key) if ops else measurement), job

    def _called(self, job: ModelJob, key: str) -> tuple[ModelJob, CallTimes]:
        """Calls the model, with other drawn inputs if it refuses some."""
        shapes = {name: shape for name, shape in (job.shapes or {}).items() if name in self.file.inputs[key]}
        refused: LitefuseError | None = None
        for size, limit in tried_inputs(self.file.inputs[key].values(), job):
            tried = replace(job, shapes=shapes, size=size, limit=limit)
            try:
                return tried, cast("CallTimes", self._run(CALLS, tried, tried))
            except (LimitError, MissingKernelError):
                raise
            except InterpreterError as error:
                refused = refused or error
        assert refused is not None
        raise refused

    def _with_ops(self, measurement: Measurement, job: ModelJob, key: str) -> Measurement:
        half = replace(job, seconds=job.seconds / 2, warm_up=min(job.warm_up, 1))
        notes = [*measurement.notes]
        try:
            timed = cast("NodeCalls", self._run(NODES, NodeJob(half), half))
        except LimitError:
            raise
        except LitefuseError:
            try:
                timed = cast("NodeCalls", self._run(NODES, NodeJob(half, operators=False), half))
            except LimitError:
                raise
            except LitefuseError as error:
                return replace(measurement, notes=(*notes, f"The ops could not be timed: {error.message}."))
        found, partitions = op_times(self.file, key, timed.nodes, self._alone(half, timed))
        if timed.seconds > 1.5 * measurement.warm.mean or measurement.warm.mean > 1.5 * timed.seconds:
            notes.append(
                f"Calls took {timed.seconds * 1e3:.3g} ms while the ops were timed, and "
                f"{measurement.warm.mean * 1e3:.3g} ms before: "
                "the machine was busy, or the ops are too short to be timed well."
            )
        return replace(
            measurement,
            memory=replace(measurement.memory, arena=timed.arena),
            profiled=timed.seconds,
            ops=found,
            partitions=partitions,
            notes=tuple(notes),
        )

    def _alone(self, job: ModelJob, timed: NodeCalls) -> Alone:
        ops = needs_alone(timed.nodes)
        if not ops:
            return Alone({})
        try:
            found = self._run(ALONE, AloneJob(replace(job, seconds=job.seconds / 2), ops), job)
        except LimitError:
            raise
        except LitefuseError as error:
            return Alone({}, f"XNNPACK could not be asked about single ops: {error.message}")
        return Alone(cast("dict[tuple[int, int], OpAlone]", found))

    def _run(self, target: str, argument: object, job: ModelJob) -> object:
        return run_with_kernels(target, argument, self.name, (*job.custom_ops, *job.kernel_modules))


def _ratios(models: Sequence[_OfModel], found: Sequence[Sequence[tuple[Measurement, ModelJob]]]) -> dict[str, Ratio]:
    """Calls the signatures that two models share in turn; the only ones of both, whatever their keys are."""
    first, second = (dict(zip(each.keys, of_model, strict=True)) for each, of_model in zip(models, found, strict=True))
    pairs = [(key, first[key][1], second[key][1]) for key in first if key in second]
    if not pairs and len(first) == len(second) == 1:
        pairs = [(key, one[1], other[1]) for (key, one), other in zip(first.items(), second.values(), strict=True)]
    ratios: dict[str, Ratio] = {}
    for key, one, other in pairs:
        name = f"{models[0].name} and {models[1].name}"
        times = run_with_kernels(PAIR, PairJob(one, other), name, (*one.custom_ops, *one.kernel_modules))
        ratios[key] = Ratio.of(*cast("tuple[list[float], list[float]]", times))
    return ratios


def _notes(job: ModelJob, times: CallTimes) -> list[str]:
    notes: list[str] = []
    if job.limit is not None:
        notes.append(f"Integers below {job.limit} alone were drawn, since others are refused.")
    if len(times.warm) < 5:
        notes.append(f"Only {len(times.warm)} calls were measured; give more time (--seconds) for percentiles.")
    return notes


def _check(*, threads: int, calls: int, warm_up: int, seconds: float) -> None:
    if threads < 1 or calls < 1 or warm_up < 0 or not 0 < seconds < float("inf"):
        raise LitefuseError(
            "a benchmark takes a positive number of threads, calls and seconds, and of calls before them; not "
            f"{threads} threads, {calls} calls, {seconds} seconds and {warm_up} calls before"
        )


def _check_inputs(job: ModelJob, models: Sequence[_OfModel]) -> None:
    """Checks the names of inputs whose shapes are given, and that inputs are for one signature."""
    names = {name for each in models for key in each.keys for name in each.file.inputs[key]}
    if unknown := sorted((job.shapes or {}).keys() - names):
        raise InterpreterError(
            f"the model has no input {', '.join(map(repr, unknown))}",
            where=models[0].name,
            hint=f"The inputs are: {', '.join(sorted(names)) or 'none'}.",
        )
    if job.inputs is not None and any(len(each.keys) > 1 for each in models):
        keys = ", ".join(max((each.keys for each in models), key=len))
        raise LitefuseError("inputs are for one signature", hint=f"Name it; the model has {keys}.")


def _sendable(kernel: type[CustomOp] | str | os.PathLike[str]) -> bytes | str:
    return os.fsdecode(kernel) if isinstance(kernel, str | os.PathLike) else kernel_by_value(kernel)
