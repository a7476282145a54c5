"""Compares the values of layers with those of the original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.layers.graph import LayerGraph, LayerTensor
from litefuse.conversion.verify.layers.layers import NO_NAME, Layer
from litefuse.conversion.verify.layers.model_side import Observation, values_file
from litefuse.conversion.verify.layers.names import same_order
from litefuse.conversion.verify.layers.original_side import Match
from litefuse.conversion.verify.quantized.judge import Judged
from litefuse.litert.results.difference import difference, kind_of

__all__ = ["compared", "faults_of_outputs"]


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
    found = {*graph.ends}
    for tensor in reversed(graph.tensors):
        if tensor.index in found:
            found.update(tensor.operands)
    return found


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
    found = [_Found("", result, True)] if (result := results.get(output)) is not None else []
    if match := matches.get(tensor.index):
        found += [_Found(candidate.node, _load(candidate.file), match.certain) for candidate in match.candidates]
        found = found[:1] if output in results else found
        layer = replace(layer, original=match.candidates[0].node)
    best: _Compared | None = None
    for each in found:
        this = _compare(values, each)
        if this is not None and (best is None or this.error < best.error):
            best = this
    if best is None:
        return replace(layer, problem="its shape or dtype is not the original's" if found else NO_NAME)
    if not best.error <= tolerance and not best.found.certain:
        return replace(layer, problem="it may be another step of the node")
    return replace(
        layer,
        original=best.found.node or layer.original,
        original_dtype=_dtype(best.found.values),
        error=best.error,
        differs=not best.error <= tolerance,
    )


class _Found(NamedTuple):
    """A value of the original.

    Attributes:
        node: The name of its node.
        values: The value.
        certain: Whether it has to be that of the tensor.
    """

    node: str
    values: npt.NDArray[Any]
    certain: bool


class _Compared(NamedTuple):
    """The error against a value of the original."""

    error: float
    found: _Found


def _compare(values: npt.NDArray[Any], found: _Found) -> _Compared | None:
    """Returns the error; None if the two cannot be compared."""
    expected = found.values
    if kind_of(values.dtype) != kind_of(expected.dtype) or not same_order(values.shape, expected.shape):
        return None
    return _Compared(difference(values.reshape(expected.shape), expected).error, found)


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
    by_index = {each.index: each for each in graph.tensors}
    found: dict[int, str] = {}
    pending = list(tensor.operands)
    while pending:
        index = pending.pop(0)
        before = by_index.get(index)
        if before is not None and index not in found and layers[index].error is None:
            found[index] = f"{before.op} {before.name}"
            pending += before.operands
    return tuple(found.values())
