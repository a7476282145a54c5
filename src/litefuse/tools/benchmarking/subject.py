"""A model that is measured: what is asked of its processes, and what their answers make."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import cast

from litefuse.conversion.verify.model_process import run_with_kernels
from litefuse.conversion.verify.reference import name_and_content
from litefuse.errors import InterpreterError, LimitError, LitefuseError, MissingKernelError
from litefuse.litert.inputs.drawer import LEVELS
from litefuse.litert.runtime.model_reader import Tensor
from litefuse.support.report.sections import count_of, time_text
from litefuse.support.result import ConversionResult
from litefuse.tools.benchmarking.calls import CALLS
from litefuse.tools.benchmarking.file_ops import FileOps, checked_ops
from litefuse.tools.benchmarking.jobs import CallTimes, ModelJob, NodeCalls
from litefuse.tools.benchmarking.measurement import Latency, Measurement
from litefuse.tools.benchmarking.node_calls import NODES, NodeJob
from litefuse.tools.benchmarking.op_times import Alone, needs_alone, op_times
from litefuse.tools.benchmarking.operators_alone import ALONE, AloneJob, OpAlone

# Fewer calls have no percentiles.
_FEW = 5
# The sizes of dynamic dimensions besides the first: tokens of a text, pixels of an image, what little models take.
_SIZES = (32, 224, 7, 1)
# With several dynamic dimensions, the larger sizes together may be too much.
_MOST_ELEMENTS = 1 << 24


class Subject:
    """A model to measure.

    Attributes:
        name: Its name in messages.
        content: Its file, or its content.
        file: Its ops.
        keys: The keys of the signatures to measure; one empty key for a model without signatures.

    Args:
        model: The model.
        wanted: The keys of the signatures; None for all.
        on_step: Called with each step of its processes when it begins.

    Raises:
        InterpreterError: No such model or signature, or it is damaged.
    """

    def __init__(
        self,
        model: ConversionResult | str | os.PathLike[str] | bytes,
        wanted: Sequence[str] | None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._on_step = on_step
        self.name, self.content = name_and_content(model)
        self.file: FileOps = checked_ops(self.content, self.name)
        there = [*self.file.subgraphs]
        if wanted is not None and not wanted:
            raise LitefuseError("no signature is named, and all are measured if signatures is None", where=self.name)
        if unknown := [key for key in wanted or () if key not in there or not key]:
            has = ", ".join(filter(None, there)) or "none"
            raise InterpreterError(f"no signature {unknown[0]!r}", where=self.name, hint=f"The model has: {has}.")
        self.keys: list[str] = there if wanted is None else [*dict.fromkeys(wanted)]

    def job(self, asked: ModelJob, key: str) -> ModelJob:
        """Returns what is asked of this model."""
        shapes = {name: shape for name, shape in (asked.shapes or {}).items() if name in self.file.inputs[key]}
        return replace(asked, model=self.content, signature=key or None, shapes=shapes)

    def called(self, asked: ModelJob, key: str) -> tuple[ModelJob, CallTimes]:
        """Calls the model, with other drawn inputs if it refuses some.

        Returns:
            The job whose inputs it took, and the times.

        Raises:
            LitefuseError: It takes none of them.
        """
        job = self.job(asked, key)
        refused: LitefuseError | None = None
        for size, limit in _tried_inputs(self.file.inputs[key].values(), job):
            tried = replace(job, size=size, limit=limit)
            try:
                return tried, cast("CallTimes", self._run(CALLS, tried, tried))
            except (LimitError, MissingKernelError):
                raise
            except InterpreterError as error:
                refused = refused or error
        assert refused is not None
        raise refused

    def measured(self, asked: ModelJob, key: str, *, ops: bool) -> tuple[Measurement, ModelJob]:
        """Measures a signature; returns the job whose inputs the model took, too.

        Raises:
            LitefuseError: The model cannot be loaded or called.
        """
        job, times = self.called(asked, key)
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

    def _with_ops(self, measurement: Measurement, job: ModelJob, key: str) -> Measurement:
        half = replace(job, seconds=job.seconds / 2, warm_up=min(job.warm_up, 1))
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
                notes = (*measurement.notes, f"The ops could not be timed: {error.message}.")
                return replace(measurement, notes=notes)
        return _with_times(measurement, self.file, key, timed, self._alone(half, timed))

    def _alone(self, job: ModelJob, timed: NodeCalls) -> Alone:
        """Finds out what XNNPACK makes of each op, as far as that is needed."""
        ops = needs_alone(timed.nodes)
        if not ops:
            return Alone({})
        try:
            ops_alone = self._run(ALONE, AloneJob(replace(job, seconds=job.seconds / 2), ops), job)
        except LimitError:
            raise
        except LitefuseError as error:
            return Alone({}, f"XNNPACK could not run single ops: {error.message}")
        return Alone(cast("dict[tuple[int, int], OpAlone]", ops_alone))

    def _run(self, target: str, argument: object, job: ModelJob) -> object:
        kernels = *job.custom_ops, *job.kernel_modules
        return run_with_kernels(target, argument, self.name, kernels, self._on_step)


def _with_times(measurement: Measurement, file: FileOps, key: str, timed: NodeCalls, alone: Alone) -> Measurement:
    times, partitions = op_times(file, key, timed.nodes, alone)
    notes = [*measurement.notes]
    slow, fast = timed.seconds, measurement.seconds
    if slow > 1.5 * fast or fast > 1.5 * slow:
        notes.append(
            f"Calls took {time_text(slow)} while the ops were timed, and {time_text(fast)} before: the machine was "
            "busy, or the ops are too short to be timed well."
        )
    return replace(
        measurement,
        memory=replace(measurement.memory, arena=timed.arena),
        profiled=timed.seconds,
        ops=times,
        partitions=partitions,
        notes=tuple(notes),
    )


def _notes(job: ModelJob, times: CallTimes) -> list[str]:
    notes: list[str] = []
    if job.limit is not None:
        notes.append(f"Only integers below {job.limit} were used, because others are refused.")
    if len(times.warm) < _FEW:
        measured = count_of(len(times.warm), "call")
        notes.append(f"Only {measured} were measured; allow more time (--seconds) for percentiles.")
    return notes


def _tried_inputs(inputs: Collection[Tensor], job: ModelJob) -> Iterator[tuple[int, int | None]]:
    """Yields sizes of dynamic dimensions, and upper bounds of integers, in the order in which they are tried."""
    if job.inputs is not None:
        yield 1, None
        return
    sizes = _SIZES if any(None in input_.shape[1:] for input_ in inputs) else _SIZES[:1]
    bounded = any(input_.dtype is None or input_.dtype.kind in "iuO" for input_ in inputs)
    fitting = [size for size in sizes if _elements(inputs, size) <= _MOST_ELEMENTS] or [_SIZES[-1]]
    for size in fitting:
        for limit in LEVELS if bounded else LEVELS[:1]:
            yield size, limit


def _elements(inputs: Collection[Tensor], size: int) -> int:
    return sum(
        math.prod((1 if axis == 0 else size) if fixed is None else fixed for axis, fixed in enumerate(tensor.shape))
        for tensor in inputs
    )
