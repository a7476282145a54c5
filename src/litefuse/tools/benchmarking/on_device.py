"""Measures models on a device, by LiteRT's own tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LimitError, LitefuseError
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.tools.benchmarking.android import Device, ToolJob
from litefuse.tools.benchmarking.calls import described
from litefuse.tools.benchmarking.job import ModelJob, NodeCalls
from litefuse.tools.benchmarking.measurement import Measurement, Memory, Ratio
from litefuse.tools.benchmarking.subject import Subject, with_ops
from litefuse.tools.benchmarking.tool_output import profiled_nodes

__all__ = ["measured_on_device"]

# How often two models are measured in turn.
_ROUNDS = 5


def measured_on_device(
    device: Device, subjects: Sequence[Subject], pairs: Sequence[tuple[str, str]], asked: ModelJob, *, ops: bool
) -> tuple[list[list[Measurement]], dict[str, Ratio]]:
    """Measures the signatures of one or two models.

    Args:
        device: The device.
        subjects: The models.
        pairs: The keys of signatures of two models that are compared.
        asked: What is asked of each of them.
        ops: Whether to time the ops.

    Returns:
        The measurements of each model; and how two compare, by the keys of the first one's signatures.

    Raises:
        LitefuseError: The device or the tool fails.
    """
    with make_temporary_folder() as place:
        tasks = [
            {key: _task(subject, key, asked, Path(place) / f"model{number}.tflite") for key in subject.keys}
            for number, subject in enumerate(subjects)
        ]
        found = [
            [_measured(device, subject, key, task, ops=ops) for key, task in of.items()]
            for subject, of in zip(subjects, tasks, strict=True)
        ]
        ratios = {one: _ratio(device, tasks[0][one].tool, tasks[1][other].tool) for one, other in pairs}
    return found, ratios


class _Task(NamedTuple):
    """A signature to measure.

    Attributes:
        job: What is asked.
        inputs: The inputs by their names, in the order of the subgraph.
        tool: What the tool is to do.
    """

    job: ModelJob
    inputs: dict[str, npt.NDArray[Any]]
    tool: ToolJob


def _task(subject: Subject, key: str, asked: ModelJob, file: Path) -> _Task:
    job, drawn = subject.drawn(asked, key)
    inputs = {name: np.asarray(drawn[name]) for name in subject.file.inputs[key]}
    if isinstance(subject.content, str):
        file = Path(subject.content)
    else:
        file.write_bytes(subject.content)
    values = tuple(inputs.values())
    limits = job.warm_up, job.calls, job.seconds
    return _Task(job, inputs, ToolJob(file, job.signature, values, job.threads, job.xnnpack, *limits))


def _measured(device: Device, subject: Subject, key: str, task: _Task, *, ops: bool) -> Measurement:
    job, tool = task.job, task.tool
    with device.prepared(tool) as folder:
        run = device.measure(folder, tool)
        notes = [] if run.has_median else ["The tool does not tell the median: the mean stands in its place."]
        if not all(each.shape for each in task.inputs.values()):
            notes.append("The tool drew the inputs: it does not take scalars.")
        measurement = Measurement(
            subject.name,
            job.signature,
            described(task.inputs),
            job.inputs is None,
            job.threads,
            job.xnnpack,
            run.load,
            run.first,
            run.warm,
            Memory(tool.model.stat().st_size, run.memory),
            notes=tuple(notes),
        )
        if not ops:
            return measurement
        try:
            profiled, profile = device.profile(folder, tool._replace(seconds=tool.seconds / 2))
            nodes = profiled_nodes(profile.times, profile.runtime_info, subject.file)
        except LimitError:
            raise
        except (LitefuseError, ValueError) as error:
            reason = error.message if isinstance(error, LitefuseError) else "it wrote files of another kind"
            told = f"The tool could not time the ops: {reason}"
            return replace(measurement, notes=(*measurement.notes, told))
    seconds = max(profiled.warm.mean, sum(each.seconds for each in nodes))
    timed = NodeCalls(nodes, profiled.warm.count, seconds, 0)
    alone = subject.alone(job, timed)  # on this machine, which tells the names of operators, but no times
    names = {key: each._replace(seconds=None) for key, each in alone.ops.items()}
    complete = with_ops(measurement, subject.file, key, timed, alone._replace(ops=names))
    return replace(complete, memory=measurement.memory)


def _ratio(device: Device, first: ToolJob, second: ToolJob) -> Ratio:
    """Runs the tool with one model and the other in turn; a pair of runs counts as a pair of calls."""
    times: list[list[float]] = [[], []]
    with device.prepared(first) as one, device.prepared(second) as other:
        for _ in range(_ROUNDS):
            for folder, tool, own in zip((one, other), (first, second), times, strict=True):
                run = device.measure(folder, tool._replace(seconds=tool.seconds / _ROUNDS))
                own.append(run.warm.p50)
    return Ratio.of(*times)
