"""Entry points of the process that loads a model and calls it, or calls two models in turn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy.typing as npt

from litefuse.litert.runtime.process_memory import working_set
from litefuse.tools.benchmarking.jobs import Arrays, CallTimes, ModelJob, PairJob
from litefuse.tools.benchmarking.measurement import Input, Memory
from litefuse.tools.benchmarking.opened_model import OpenedModel, import_kernels, inputs_of

#: The functions to run in the process.
CALLS = "litefuse.tools.benchmarking.calls:call_model"
PAIR = "litefuse.tools.benchmarking.calls:call_in_turn"

_now = time.perf_counter


def call_model(job: ModelJob, announce: Callable[[str], None]) -> CallTimes:
    """Loads a model and calls it.

    Raises:
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    import_kernels(job, announce)
    inputs = inputs_of(job)
    before = Resident.now(reset=True)
    begun = _now()
    model = OpenedModel(job, inputs, announce)
    load = _now() - begun
    announce("first call")
    cold = _timed(model)
    announce("warm up")
    warm_up(model, job)
    announce("call")
    warm: list[float] = []
    end = _now() + job.seconds
    while len(warm) < job.calls:
        warm.append(_timed(model))
        if _now() >= end:
            break
    after = Resident.now()
    announce("close the model")
    return CallTimes(_described(inputs), load, cold, warm, _memory(job, before, after))


def call_in_turn(job: PairJob, announce: Callable[[str], None]) -> tuple[list[float], list[float]]:
    """Loads two models and calls them in turn.

    Returns:
        The seconds of the calls of each, as many of the one as of the other.

    Raises:
        LitefuseError: A kernel cannot be imported, or one of the models cannot be loaded or called.
    """
    import_kernels(job.first, announce)
    models: list[OpenedModel] = []
    for model_job in job:
        models.append(OpenedModel(model_job, inputs_of(model_job), announce))
        announce("warm up")
        models[-1].set_inputs()
        models[-1].invoke()
        warm_up(models[-1], model_job)
    announce("call in turn")
    times: tuple[list[float], list[float]] = ([], [])
    end = _now() + job.first.seconds
    while len(times[0]) < job.first.calls:
        # The one that was called last finds its data in the caches: each is that as often as the other.
        order = (0, 1) if len(times[0]) % 2 == 0 else (1, 0)
        for number in order:
            times[number].append(_timed(models[number]))
        if _now() >= end:
            break
    announce("close the models")
    return times


def warm_up(model: OpenedModel, job: ModelJob) -> None:
    """Makes calls that are not measured, for no longer than the measured ones may take."""
    end = _now() + job.seconds
    for _ in range(job.warm_up):
        model.set_inputs()
        model.invoke()
        if _now() >= end:
            break


def _timed(model: OpenedModel) -> float:
    model.set_inputs()
    begun = _now()
    model.invoke()
    return _now() - begun


def _described(inputs: Arrays) -> tuple[Input, ...]:
    return tuple(Input(name, _dtype(value), value.shape) for name, value in inputs.items())


def _dtype(value: npt.NDArray[Any]) -> str:
    return "string" if value.dtype.kind in "OSU" else str(value.dtype)


class Resident:
    """The resident memory of this process, in bytes; None for what the system does not say.

    Attributes:
        total: What is resident now.
        peak: The most that was, since the peak was reset where that is possible.
        private: What is resident now and not of files.
    """

    def __init__(self, total: int | None, peak: int | None, private: int | None) -> None:
        self.total, self.peak, self.private = total, peak, private

    @classmethod
    def now(cls, *, reset: bool = False) -> Resident:
        if sys.platform == "win32":
            return cls(*(working_set() or (None, None, None)))
        if sys.platform != "linux":
            import resource

            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS
            return cls(peak, peak, None)
        with suppress(OSError):
            if reset:
                Path("/proc/self/clear_refs").write_text("5")
        sizes: dict[str, int] = {}
        with suppress(OSError, ValueError, IndexError):
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in {"VmHWM", "VmRSS", "RssAnon"}:
                    sizes[name] = int(value.split()[0]) * 1024
        return cls(sizes.get("VmRSS"), sizes.get("VmHWM"), sizes.get("RssAnon"))


def _memory(job: ModelJob, before: Resident, after: Resident) -> Memory:
    size = len(job.model) if isinstance(job.model, bytes) else Path(job.model).stat().st_size
    return Memory(size, growth(before.total, after.peak), growth(before.private, after.private))


def growth(before: int | None, after: int | None) -> int | None:
    """Returns by how much memory grew; None if it is not known."""
    return None if before is None or after is None else max(0, after - before)
