"""Measures LiteRT models: latency, memory and the time of each op, in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from litefuse.conversion.verify.model_process import run_with_kernels
from litefuse.conversion.verify.reference import name_and_content
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.runtime.input_specs import GivenArrays, given_arrays
from litefuse.litert.runtime.transfer import kernels_by_value, registered_by_value
from litefuse.support.options.declared import answering
from litefuse.support.options.input_shapes import drawn_shapes
from litefuse.support.options.limits import Limits
from litefuse.support.options.names import listed_names, refuse_one_string
from litefuse.support.processes.limits import chosen_limits, processes_limited
from litefuse.support.progress.show import shown_progress
from litefuse.support.result import ConversionResult
from litefuse.tools.benchmarking.calls import PAIR
from litefuse.tools.benchmarking.jobs import ModelJob, PairJob
from litefuse.tools.benchmarking.measurement import Benchmark, Ratio
from litefuse.tools.benchmarking.subject import Subject
from litefuse.tools.environment.machine import cores, processor, versions

if TYPE_CHECKING:
    from litefuse.litert.runtime.custom_op import CustomOp


@answering(limits=Limits)
def benchmark(
    model: ConversionResult | str | os.PathLike[str] | bytes,
    other: ConversionResult | str | os.PathLike[str] | bytes | None = None,
    *,
    signatures: Iterable[str] | None = None,
    inputs: GivenArrays | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    threads: int = 1,
    repeat: int = 1000,
    seconds: float = 2.0,
    warm_up: int = 3,
    ops: bool = True,
    xnnpack: bool = True,
    custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] = (),
    kernels: Iterable[str] = (),
    limits: Limits | Mapping[str, Any] | float | None = None,
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
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
        inputs: The inputs by name, or in an ``.npz`` file, or the array of the only one, for the only signature that is
            measured. Real numbers are quantized for a model that takes integers in their place.
        shapes: Shapes of drawn inputs by their names.
        seed: The seed of drawn inputs.
        threads: How many threads the runtime uses.
        repeat: The largest number of calls to measure.
        seconds: How long the measured calls may take; one is made at least. The ops are timed for half as long.
        warm_up: The number of calls, after the first, before those that are measured.
        ops: Whether to time the ops.
        xnnpack: Whether LiteRT may use XNNPACK.
        custom_ops: Kernels to use before all others.
        kernels: Files and names of modules that register kernels, and libraries of native ones, loaded in the
            processes that run the models.
        limits: What it may take: seconds for all, or ``litefuse.Limits(timeout, memory)``; None for no limit.
        progress: Show the progress, as :func:`litefuse.convert` does.
        on_step: Called with the name of each step when it begins.

    Returns:
        The measurements of each signature.

    Raises:
        ModelCrashError: The process that ran a model died, in the runtime or in a kernel.
        LimitError: It took longer or more memory than the limits.
        LitefuseError: A model cannot be loaded or called.
    """
    chosen = Limits.of(limits, "limits")
    _check(threads=threads, calls=repeat, warm_up=warm_up, seconds=seconds)
    job = ModelJob(
        b"",
        None,
        inputs=None if inputs is None else given_arrays(inputs, "inputs"),
        shapes=drawn_shapes(shapes),
        seed=seed,
        custom_ops=kernels_by_value(custom_ops),
        registered=registered_by_value(),
        kernel_modules=tuple(kernels),
        threads=threads,
        xnnpack=xnnpack,
        warm_up=warm_up,
        calls=repeat,
        seconds=seconds,
    )
    refuse_one_string(kernels, "kernels")
    wanted = listed_names(signatures, "signatures")
    both = [model] if other is None else [model, other]
    title = " and ".join(name_and_content(content)[0] for content in both)
    with shown_progress(f"Measuring {title}", show=progress, also=on_step) as announce:
        subjects = [Subject(content, wanted, announce) for content in both]
        if len({subject.name for subject in subjects}) < len(subjects):
            # Results and contents may have the same name, by which their measurements are told apart.
            subjects[1].name += " (the other)"
        _check_inputs(job, subjects)
        with processes_limited(chosen_limits(chosen.timeout, chosen.memory)):
            return _measured(subjects, job, announce, ops=ops)


def _measured(subjects: Sequence[Subject], job: ModelJob, on_step: Callable[[str], None], *, ops: bool) -> Benchmark:
    measured = [[subject.measured(job, key, ops=ops) for key in subject.keys] for subject in subjects]
    jobs = [
        dict(zip(subject.keys, (own for _, own in of), strict=True))
        for subject, of in zip(subjects, measured, strict=True)
    ]
    ratios = {first: _in_turn(subjects, jobs[0][first], jobs[1][second], on_step) for first, second in _pairs(subjects)}
    measurements = tuple(measurement for of in measured for measurement, _ in of)
    return Benchmark(measurements, ratios, cpu=processor(), cores=cores(), versions=versions())


def _pairs(subjects: Sequence[Subject]) -> list[tuple[str, str]]:
    """Returns the keys of the signatures that two models share; those of the only ones, whatever they are."""
    if len(subjects) == 1:
        return []
    first, second = (subject.keys for subject in subjects)
    shared = [(key, key) for key in first if key in second]
    return shared or ([(first[0], second[0])] if len(first) == len(second) == 1 else [])


def _in_turn(subjects: Sequence[Subject], first: ModelJob, second: ModelJob, on_step: Callable[[str], None]) -> Ratio:
    name = " and ".join(subject.name for subject in subjects)
    kernels = *first.custom_ops, *first.kernel_modules
    times = run_with_kernels(PAIR, PairJob(first, second), name, kernels, on_step)
    return Ratio.of(*cast("tuple[list[float], list[float]]", times))


def _check(*, threads: int, calls: int, warm_up: int, seconds: float) -> None:
    if threads < 1 or calls < 1 or warm_up < 0 or not 0 < seconds < float("inf"):
        raise LitefuseError(
            "a benchmark takes a positive number of threads, calls and seconds, and of calls before them; not "
            f"{threads} threads, {calls} calls, {seconds} seconds and {warm_up} calls before"
        )


def _check_inputs(job: ModelJob, subjects: Sequence[Subject]) -> None:
    """Checks the names of inputs whose shapes are given, and that inputs are for one signature."""
    names = {name for subject in subjects for key in subject.keys for name in subject.file.inputs[key]}
    if unknown := sorted((job.shapes or {}).keys() - names):
        raise InterpreterError(
            f"the model has no input {', '.join(map(repr, unknown))}",
            where=subjects[0].name,
            hint=f"The inputs are: {', '.join(sorted(names)) or 'none'}.",
        )
    if job.inputs is not None and any(len(subject.keys) > 1 for subject in subjects):
        keys = ", ".join(max((subject.keys for subject in subjects), key=len))
        raise LitefuseError("inputs are for one signature", hint=f"Name it; the model has {keys}.")
