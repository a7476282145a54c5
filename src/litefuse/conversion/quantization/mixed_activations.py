"""Activations of int8, and of int16 where the outputs need them: as few layers as an error allows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.conversion.quantization.dataset import SampleProgress
from litefuse.conversion.quantization.difference import Reference
from litefuse.conversion.quantization.mixed_precision import (
    SAMPLES_OF_LAYERS,
    WEIGHTED,
    Layer,
    Measured,
    Search,
    curve_points,
    upgrades,
)
from litefuse.conversion.quantization.samples import Calls
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.support.report.quantized import LayerForm, MixedPrecision

_NARROW, _WIDE, _REAL = "int8", "int16", "float32"
_CURVE_POINTS = 5


class _Group(NamedTuple):
    """A layer: an op, and those after it that take nothing else.

    Attributes:
        op: The name of the op in LiteRT's schema.
        results: The first results of all of them.
        size: The bytes of the constants in float32.
    """

    op: str
    results: list[str]
    size: int


def mix_activations(
    path: Path,
    target: Path,
    write: Callable[[Collection[str]], None],
    max_error: float,
    calls: Calls,
    announce: Callable[[str], None] = lambda _: None,
) -> MixedPrecision:
    """Writes a model with as few layers of int16 as its outputs need to differ by at most a given error.

    Each layer is made int8 with all others int16, and its effect on the outputs measured. From int8 throughout on, that
    layer becomes int16 next whose effect is largest, until the error of the whole is small enough; then those become
    int8 again that need not be int16. If even int16 throughout differs more, the model is that.

    Args:
        path: The model in floating point.
        target: The file of the quantized one.
        write: Writes the target with the ops of these results in int16, and all others in int8.
        max_error: The largest difference of an output, relative to its largest element.
        calls: Samples to measure it on.
        announce: Called with the progress.
    """
    groups = _groups(path)
    whole, part = Reference(path, calls), Reference(path, calls, SAMPLES_OF_LAYERS)

    def measure(wide: Iterable[str], reference: Reference = whole) -> tuple[int, float]:
        write([result for name in wide for result in groups[name].results])
        error: Any = reference.difference(target).error
        return target.stat().st_size, math.inf if error is None or math.isnan(error) else float(error)

    narrow = measure(())
    if narrow[1] <= max_error:
        groups = _with_results(groups, target, _NARROW)
        point = Measured(dict.fromkeys(groups, _NARROW), *narrow)
        return MixedPrecision(curve_points([point]), _forms(groups, point.assignment, {}))
    measure(groups)
    groups = _with_results(groups, target, _WIDE)
    progress, errors = SampleProgress(announce, "quantize", len(groups)), dict[str, float]()
    for name in groups:
        errors[name] = measure((other for other in groups if other != name), part)[1]
        progress.advance()
    layers = [Layer(name, {_NARROW: 1, _WIDE: 2}, {_NARROW: error, _WIDE: 0.0}) for name, error in errors.items()]
    search = Search(upgrades(layers), lambda forms: measure(_wide(forms)))
    chosen = search.smallest(max_error)
    for name in sorted(_wide(chosen.assignment), key=errors.__getitem__):
        forms = {**chosen.assignment, name: _NARROW}
        fewer = Measured(forms, *measure(_wide(forms)))
        if fewer.error <= max_error:
            chosen = fewer
    curve = search.curve(_CURVE_POINTS, chosen)
    measure(_wide(chosen.assignment))
    return MixedPrecision(curve_points(curve), _forms(groups, chosen.assignment, errors))


def _wide(forms: Mapping[str, str]) -> list[str]:
    return [name for name, form in forms.items() if form == _WIDE]


def _forms(
    groups: Mapping[str, _Group], forms: Mapping[str, str], errors: Mapping[str, float]
) -> tuple[LayerForm, ...]:
    return tuple(
        LayerForm(name, group.op, forms[name], group.size, {_NARROW: errors[name]} if name in errors else {})
        for name, group in groups.items()
    )


def _groups(path: Path) -> dict[str, _Group]:
    """Returns the layers of the signatures by the name of their first result; subgraphs inside stay as they are."""
    groups: dict[str, _Group] = {}
    with content_of(path) as content:
        model = Model(content)
        for number in sorted({signature.graph for signature in model.signatures.values()}):
            graph = model.graphs[number]
            readers = Counter([*graph.outputs, *(operand for op in graph.ops for operand in {*op.inputs})])
            groups_of: dict[int, _Group] = {}  # by the tensor that they compute
            for op in graph.ops:
                if not op.outputs or str(graph.tensor(op.outputs[0]).dtype) != _REAL:
                    continue
                name, computed = graph.tensor(op.outputs[0]).name, _computed(graph, op)
                group = groups_of.get(computed[0]) if len(computed) == 1 and readers[computed[0]] == 1 else None
                if group is None or op.name in WEIGHTED:
                    size = sum(graph.stored_bytes(operand) for operand in op.inputs if graph.is_constant(operand))
                    group = groups[name] = _Group(op.name, [], size)
                group.results.append(name)
                groups_of |= dict.fromkeys(op.outputs, group)
    return groups


def _computed(graph: Graph, op: Op) -> list[int]:
    """Returns the operands of real numbers but constants."""
    return [
        operand
        for operand in op.inputs
        if operand >= 0 and not graph.is_constant(operand) and str(graph.tensor(operand).dtype) == _REAL
    ]


def _with_results(groups: Mapping[str, _Group], path: Path, dtype: str) -> dict[str, _Group]:
    """Returns the layers that a quantized model computes in a dtype: others have no such kernel, or stay real."""
    with content_of(path) as content:
        graphs = Model(content).graphs
        names = {
            graph.tensor(output).name
            for graph in graphs
            for op in graph.ops
            for output in op.outputs
            if str(graph.tensor(output).dtype) == dtype
        }
    return {name: group for name, group in groups.items() if names.intersection(group.results)}
