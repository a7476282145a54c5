"""Compares a model with the original layer by layer, with the values that their processes read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.layers.layers import NO_NAME, Layer, Layers
from litefuse.conversion.verify.layers.model_values import Observation, ObservationJob, values_file
from litefuse.conversion.verify.layers.observed_copy import LayerGraph, LayerTensor
from litefuse.conversion.verify.layers.original_values import (
    Candidate,
    Match,
    OriginalObservationJob,
    Wanted,
    same_order,
)
from litefuse.conversion.verify.model_process import ModelJob
from litefuse.conversion.verify.original import Arrays, Call, OriginalJob
from litefuse.conversion.verify.quantized.judge import JUDGE, Judged, JudgeJob
from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.errors import LitefuseError
from litefuse.litert.results.difference import difference, kind_of
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.process import run_model

LookIntoOriginal: TypeAlias = Callable[[Sequence[Call], Observation, Path], Mapping[int, Match]]
"""Finds what intermediate tensors are compared with: from the calls, the model's tensors, and a folder."""

_MODEL = "litefuse.conversion.verify.layers.model_values:observe_model"
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
        return Layers(signature, number, layers, unseen, problem, True, judged.outputs, judged.clipped, faulty)


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
        observation = cast("Observation", run_model(_MODEL, job, what))
        return {
            names[tensor.name]: Match((Candidate(tensor.name, values_file(folder, tensor.index)),), certain=True)
            for tensor in observation.graph.tensors
            if tensor.index in observation.seen
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
            tensor.index,
            tensor.name,
            seen.shape,
            kind_of(np.dtype(seen.dtype)),
            tensor.position,
            tensor.count,
            frozenset(steps.get(tensor.index, ())),
            tensor.operands[0] if tensor.op in _COPYING else None,
        )
        for tensor in observed.graph.tensors
        if (seen := observed.seen.get(tensor.index)) is not None and tensor.index not in observed.graph.results
    )
    signatures = {call.signature: job.outputs[call.signature] for call in calls}
    return OriginalObservationJob(OriginalJob(job.model, job.tags, (tuple(calls),), signatures), wanted, folder)


def compared(
    observation: Observation,
    folder: Path,
    matches: Mapping[int, Match],
    results: Mapping[str, npt.NDArray[Any]],
    tolerance: float,
    judged: Judged | None = None,
) -> tuple[Layer, ...]:
    """Returns the layers, in the order in which they are computed.

    Args:
        observation: The tensors read from the model.
        folder: Where its values are.
        matches: What intermediate tensors are compared with, by their indices.
        results: The original's outputs, by their names.
        tolerance: The allowed error.
        judged: What quantization explains, in place of the tolerance; None if the model is not judged by that.
    """
    layers = {
        tensor.index: _layer(tensor, observation, folder, matches, results, tolerance)
        for tensor in observation.graph.tensors
    }
    if judged is not None:
        return tuple(_judged(observation.graph, layers, judged))
    return tuple(_traced(observation.graph, layers))


def _judged(graph: LayerGraph, layers: Mapping[int, Layer], judged: Judged) -> Iterator[Layer]:
    """Yields the layers, of which those differ where a difference arises that quantization does not explain."""
    onward = _onward(graph)
    for tensor, layer in zip(graph.tensors, _traced(graph, layers), strict=True):
        op = judged.ops.get(tensor.index)
        fault, excess = ("", None) if op is None else (op.fault, op.excess)
        through = _through(graph, layers, tensor) if fault else ()
        reaches = bool(fault) and tensor.index in onward
        told = replace(layer, differs=bool(fault), reaches=reaches, through=through)
        yield replace(told, excess=excess, fault=fault)


def _onward(graph: LayerGraph) -> set[int]:
    """Returns the tensors that what lasts is computed from."""
    onward = {*graph.ends}
    for tensor in reversed(graph.tensors):
        if tensor.index in onward:
            onward.update(tensor.operands)
    return onward


def faults_of_outputs(graph: LayerGraph, layers: Sequence[Layer]) -> dict[str, Layer]:
    """Returns the first layer with a fault that each output is computed from, by the output's name."""
    first: dict[int, Layer] = {}
    for tensor, layer in zip(graph.tensors, layers, strict=True):
        before = [first[operand] for operand in tensor.operands if operand in first]
        if before or layer.fault:
            first[tensor.index] = min(before, key=layers.index) if before else layer
    return {name: first[index] for index, name in graph.results.items() if index in first}


def _layer(
    tensor: LayerTensor,
    observation: Observation,
    folder: Path,
    matches: Mapping[int, Match],
    results: Mapping[str, npt.NDArray[Any]],
    tolerance: float,
) -> Layer:
    output = observation.graph.results.get(tensor.index, "")
    layer = Layer(tensor.name, tensor.op, output=output, dtype=tensor.dtype)
    seen = observation.seen.get(tensor.index)
    if seen is None:
        return replace(layer, problem="it has no values that can be read")
    layer = replace(layer, shape=seen.shape, change=seen.change)
    if seen.change > tolerance:
        return replace(layer, problem=f"looking at it changes the outputs by {seen.change:.2g}")
    values = np.load(values_file(folder, tensor.index), allow_pickle=np.dtype(seen.dtype) == object)
    originals = [_Original("", result, True)] if (result := results.get(output)) is not None else []
    if match := matches.get(tensor.index):
        if output not in results:
            originals += [_Original(value.node, _load(value.file), match.certain) for value in match.candidates]
        layer = replace(layer, original=match.candidates[0].node)
    errors = [(error, original) for original in originals if (error := _error(values, original.values)) is not None]
    if not errors:
        return replace(layer, problem="its shape or dtype is not the original's" if originals else NO_NAME)
    error, best = min(errors, key=lambda compared: compared[0])
    if not error <= tolerance and not best.certain:
        return replace(layer, problem="it may be another step of the node")
    return replace(
        layer,
        original=best.node or layer.original,
        original_dtype=_dtype(best.values),
        error=error,
        differs=not error <= tolerance,
    )


class _Original(NamedTuple):
    """A value of the original; if certain, it has to be that of the tensor."""

    node: str
    values: npt.NDArray[Any]
    certain: bool


def _error(values: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float | None:
    """Returns the error; None if the two cannot be compared."""
    if kind_of(values.dtype) != kind_of(expected.dtype) or not same_order(values.shape, expected.shape):
        return None
    return difference(values.reshape(expected.shape), expected).error


def _load(file: Path) -> npt.NDArray[Any]:
    # Written by the other process of this verification, into a folder of its own.
    return np.load(file, allow_pickle=True)


def _dtype(values: npt.NDArray[Any]) -> str:
    return "string" if values.dtype.kind in "OSU" else str(values.dtype)


def _traced(graph: LayerGraph, layers: Mapping[int, Layer]) -> Sequence[Layer]:
    """Propagates errors from the operands of tensors to their users."""
    # The largest error of the nearest compared tensors that each is computed from, its own if it is compared.
    before: dict[int, float] = {}
    added: dict[int, float | None] = {}
    for tensor in graph.tensors:
        given = max((before.get(operand, 0.0) for operand in tensor.operands), default=0.0)
        error = layers[tensor.index].error
        before[tensor.index] = given if error is None else error
        added[tensor.index] = None if error is None else max(error - given, 0.0) if error != given else 0.0
    # Whether a difference of each would be seen: it differs itself if it is compared, and reaches an output.
    reaches: dict[int, bool] = {}
    for tensor in reversed(graph.tensors):
        layer = layers[tensor.index]
        onward = tensor.index in graph.ends or reaches.get(tensor.index, False)
        if layer.error is not None:
            onward = onward and layer.differs
        reaches[tensor.index] = onward
        for operand in tensor.operands:
            reaches[operand] = reaches.get(operand, False) or onward
    return [
        replace(
            layers[tensor.index],
            added=added[tensor.index],
            reaches=layers[tensor.index].differs and reaches[tensor.index],
            through=_through(graph, layers, tensor) if layers[tensor.index].differs else (),
        )
        for tensor in graph.tensors
    ]


def _through(graph: LayerGraph, layers: Mapping[int, Layer], tensor: LayerTensor) -> tuple[str, ...]:
    """Returns the ops between a tensor and the compared tensors that it is computed from, the nearest first."""
    by_index = {layer_tensor.index: layer_tensor for layer_tensor in graph.tensors}
    ops: dict[int, str] = {}
    pending = list(tensor.operands)
    while pending:
        index = pending.pop(0)
        before = by_index.get(index)
        if before is not None and index not in ops and layers[index].error is None:
            ops[index] = f"{before.op} {before.name}"
            pending += before.operands
    return tuple(ops.values())
