"""Compares a model with the original layer by layer, in the processes that they run in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from litefuse.conversion.verify.layers.comparison import compared, faults_of_outputs
from litefuse.conversion.verify.layers.layers import Layers
from litefuse.conversion.verify.layers.model_side import Observation, ObservationJob, values_file
from litefuse.conversion.verify.layers.original_side import Candidate, Match, OriginalObservationJob, Wanted
from litefuse.conversion.verify.model_process import ModelJob
from litefuse.conversion.verify.original import Arrays, Call, OriginalJob
from litefuse.conversion.verify.quantized.judge import JUDGE, Judged, JudgeJob
from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.errors import LitefuseError
from litefuse.litert.results.difference import kind_of
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.process import run_model

__all__ = ["LookIntoOriginal", "litert_original", "look_into", "observation_of_original", "worst_call"]

LookIntoOriginal: TypeAlias = Callable[[Sequence[Call], Observation, Path], Mapping[int, Match]]
"""Finds what intermediate tensors are compared with: from the calls, the model's tensors, and a folder."""

_MODEL = "litefuse.conversion.verify.layers.model_side:observe_model"
# Ops that run other subgraphs: only their results are compared.
_UNSEEN = frozenset({"IF", "WHILE", "STABLEHLO_WHILE", "STABLEHLO_CASE"})

# Ops whose result has the values of their first operand, in another shape or dtype.
_COPYING = frozenset({"DEQUANTIZE", "EXPAND_DIMS", "QUANTIZE", "RESHAPE", "SQUEEZE"})


def worst_call(verdicts: Sequence[OutputVerdict]) -> int:
    """Returns the number of the call, from 1, that differs most from the original; the first one, if none does."""
    worst = max(verdicts, key=lambda verdict: verdict.error if verdict.call else -1.0, default=None)
    return 1 if worst is None or not worst.error > 0 else max(worst.call, 1)


def look_into(
    job: ModelJob,
    where: str,
    rounds: Sequence[Sequence[Call]],
    expected: Sequence[Arrays],
    number: int,
    tolerance: float,
    look_into_original: LookIntoOriginal,
    announce: Callable[[str], None] = lambda _: None,
    *,
    quantized: bool = False,
    original: str | bytes | None = None,
) -> Layers:
    """Compares the layers of one call. What cannot be read is a sentence in the result.

    Args:
        job: The model, and its kernels.
        where: The model's name.
        rounds: The calls; each round begins with the initial state of the model.
        expected: The original's outputs for each call.
        number: The number of the call to compare, from 1.
        tolerance: The allowed error.
        look_into_original: Finds what the layers are compared with.
        announce: Called with each step.
        quantized: Whether it is a quantized model, whose ops are judged by what their quantization explains.
        original: The file of the original, or its content, if it is a LiteRT model.
    """
    calls = _until(rounds, number)
    signature = calls[-1].signature
    with make_temporary_folder() as temporary:
        own, others = Path(temporary, "model"), Path(temporary, "original")
        own.mkdir()
        others.mkdir()
        try:
            observed = cast("Observation", run_model(_MODEL, ObservationJob(job, calls, own), where, announce))
        except LitefuseError as error:
            return Layers(signature, number, problem=f"The layers of the model cannot be looked at: {error.message}.")
        matches: Mapping[int, Match] = {}
        problem = ""
        if not any(tensor.name for tensor in observed.graph.tensors):
            problem = "The file has no names of tensors, by which they would be compared."
        else:
            try:
                matches = look_into_original(calls, observed, others)
            except LitefuseError as error:
                problem = f"The layers of the original cannot be looked at: {error.message}."
        judged: Judged | None = None
        if quantized:
            judging = JudgeJob(job, calls, observed, own, matches, expected[number - 1], original)
            try:
                judged = cast("Judged", run_model(JUDGE, judging, where, announce))
            except LitefuseError as error:
                problem = f"{problem} It is not known what quantization explains: {error.message}.".strip()
        elif problem:
            return Layers(signature, number, problem=problem)
        layers = compared(observed, own, matches, expected[number - 1], tolerance, judged)
        unseen = tuple(
            f"{tensor.op} {tensor.name}"
            for tensor in observed.graph.tensors
            if tensor.op in _UNSEEN and tensor.position == 0
        )
        if judged is None:
            return Layers(signature, number, layers, unseen, problem)
        faulty = faults_of_outputs(observed.graph, layers)
        return Layers(signature, number, layers, unseen, problem, True, judged.outputs, faulty)


def _until(rounds: Sequence[Sequence[Call]], number: int) -> tuple[Call, ...]:
    """Returns the calls of a round, up to the one with this number among all calls."""
    left = number
    for calls in rounds:
        if left <= len(calls):
            return tuple(calls[:left])
        left -= len(calls)
    raise AssertionError(f"call {number} is missing")


def litert_original(reference: ModelJob, what: str) -> LookIntoOriginal:
    """Returns a function that matches layers with the tensors of the same names in another LiteRT model."""

    def look(calls: Sequence[Call], observed: Observation, folder: Path) -> dict[int, Match]:
        names = {tensor.name: tensor.index for tensor in observed.graph.tensors if tensor.index in observed.seen}
        job = ObservationJob(reference, tuple(calls), folder, frozenset(filter(None, names)))
        found = cast("Observation", run_model(_MODEL, job, what))
        return {
            names[tensor.name]: Match((Candidate(tensor.name, values_file(folder, tensor.index)),), certain=True)
            for tensor in found.graph.tensors
            if tensor.index in found.seen
        }

    return look


def observation_of_original(
    job: OriginalJob, calls: Sequence[Call], observed: Observation, folder: Path
) -> OriginalObservationJob:
    """Returns the job for the process with TensorFlow."""
    steps: dict[int, set[int]] = {}
    for tensor in observed.graph.tensors:
        for operand in tensor.operands:
            steps.setdefault(operand, set()).add(tensor.index)
    wanted = tuple(
        Wanted(
            each.index,
            each.name,
            seen.shape,
            kind_of(np.dtype(seen.dtype)),
            each.position,
            each.count,
            frozenset(steps.get(each.index, ())),
            each.operands[0] if each.op in _COPYING else None,
        )
        for each in observed.graph.tensors
        if (seen := observed.seen.get(each.index)) is not None and each.index not in observed.graph.results
    )
    signatures = {call.signature: job.outputs[call.signature] for call in calls}
    return OriginalObservationJob(OriginalJob(job.model, job.tags, (tuple(calls),), signatures), wanted, folder)
