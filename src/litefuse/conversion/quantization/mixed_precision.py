"""Automatic mixed precision: for the weights of each layer the smallest form that the outputs can bear."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.conversion.quantization.dataset import SampleProgress
from litefuse.conversion.quantization.difference import Reference, calls_of_random_inputs, difference_on_random_inputs
from litefuse.conversion.quantization.litert_quantizer import apply_recipe
from litefuse.conversion.quantization.quantizer_mends import halve_biases, share_buffers
from litefuse.conversion.quantization.recipe import mixed_recipe
from litefuse.conversion.quantization.samples import Calls
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import complete_file
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.report.quantized import CurvePoint, LayerForm, MixedPrecision

Assignment = Mapping[str, str]
"""The form of each layer, by the layer's name."""


@dataclass(frozen=True)
class Layer:
    """A layer whose weights have several forms to choose from.

    Attributes:
        name: Its name.
        sizes: How many bytes its weights take in each form, the exact form last.
        errors: The error of the model's outputs if this layer alone has the form; infinity where it has none such. That
            of the exact form is 0.
    """

    name: str
    sizes: Mapping[str, int]
    errors: Mapping[str, float]


class Measured(NamedTuple):
    """A point of the curve of size against error.

    Attributes:
        assignment: The form of each layer.
        size: The size of the file, in bytes.
        error: The error of its outputs.
    """

    assignment: Assignment
    size: int
    error: float


def upgrades(layers: Sequence[Layer]) -> list[Assignment]:
    """Orders assignments from the smallest file to the most exact one.

    Errors of layers are taken to be independent, so that their squares add up. Each step gives that layer another form
    that loses most squared error for each byte; a form that costs more bytes for less than a later one is skipped.

    Returns:
        The assignments: the first has the smallest form of each layer, the last one the exact form.
    """
    forms = {layer.name: _smallest(layer) for layer in layers}
    states = [dict(forms)]
    while steps := [step for layer in layers for step in _steps(layer, forms[layer.name])]:
        best = max(steps)
        forms[best.layer] = best.form
        states.append(dict(forms))
    return [*states]


class _Step(NamedTuple):
    """A larger form of a layer; the greatest is the best."""

    gain: float
    saved: int
    layer: str
    form: str


def _smallest(layer: Layer) -> str:
    return min((form for form in layer.sizes if math.isfinite(layer.errors[form])), key=layer.sizes.__getitem__)


def _steps(layer: Layer, form: str) -> list[_Step]:
    size, error = layer.sizes[form], layer.errors[form]
    return [
        _Step((error**2 - layer.errors[other] ** 2) / (more - size), -more, layer.name, other)
        for other, more in layer.sizes.items()
        # What is exact is a step even if no error was seen: the last state is exact.
        if more > size and (layer.errors[other] < error or layer.errors[other] == 0)
    ]


@dataclass
class Search:
    """The search for the smallest file whose error is small enough.

    Attributes:
        states: Assignments from the smallest file to the most exact one.
        measure: Makes the file of an assignment and returns its size, in bytes, and its error.
        measured: What was measured, by the index of the state.
    """

    states: Sequence[Assignment]
    measure: Callable[[Assignment], tuple[int, float]]
    measured: dict[int, Measured] = field(default_factory=dict[int, Measured])

    def at(self, index: int) -> Measured:
        """Measures a state, once."""
        if index not in self.measured:
            self.measured[index] = Measured(self.states[index], *self.measure(self.states[index]))
        return self.measured[index]

    def smallest(self, max_error: float) -> Measured:
        """Returns the smallest file that was measured whose error is at most the given one.

        Errors fall from state to state but for noise: halves are searched, and each result is one that was measured.
        The last state is exact, and measured if no other will do.
        """
        low, high = 0, len(self.states) - 1
        while low < high:
            middle = (low + high) // 2
            if self.at(middle).error <= max_error:
                high = middle
            else:
                low = middle + 1
        self.at(high)
        fitting = [point for point in self.measured.values() if point.error <= max_error]
        return min(fitting, key=lambda point: point.size) if fitting else self.at(len(self.states) - 1)

    def curve(self, points: int, *others: Measured) -> list[Measured]:
        """Measures states until there are so many points, evenly, and returns those that no other one beats.

        Returns:
            The points, from the smallest file to the largest; each has a smaller error than the one before.
        """
        last = len(self.states) - 1
        for point in range(points):
            self.at(round(point * last / max(points - 1, 1)))
        result: list[Measured] = []
        for point in sorted([*self.measured.values(), *others], key=lambda point: (point.size, point.error)):
            if not result or point.error < result[-1].error:
                result.append(point)
        return result


def curve_points(curve: Sequence[Measured]) -> tuple[CurvePoint, ...]:
    """Returns a curve as it is reported."""
    return tuple(CurvePoint(point.size, point.error, dict(Counter(point.assignment.values()))) for point in curve)


_EXACT = "float32"
_FORMS = ("int4", "int8", "float16")
#: The ops with weights, which are operand 1 of each. Of the others, litert-quantizer quantizes no weights alone.
WEIGHTED = frozenset(
    {"BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "EMBEDDING_LOOKUP", "FULLY_CONNECTED", "TRANSPOSE_CONV"}
)
_WEIGHTS = 1
# Layers with fewer bytes of weights are left as they are: there is little to win.
_SMALLEST = 4096
_CURVE_POINTS = 9
#: How many samples of each signature the effect of one layer is measured on; that of whole files, on more.
SAMPLES_OF_LAYERS = 4


def mix_precision(
    path: Path,
    target: Path,
    max_error: float,
    calls: Calls | None,
    *,
    kept: Collection[str] = (),
    announce: Callable[[str], None] = lambda _: None,
) -> MixedPrecision:
    """Writes the smallest model whose outputs differ by at most a given error.

    Each layer is quantized alone in each form, and its effect on the outputs measured. From the smallest file on, that
    layer gets a better form next whose error costs most for its size, until the error of the whole is small enough.

    Args:
        path: A LiteRT model.
        target: The file for the mixed one.
        max_error: The largest difference of an output, relative to its largest element.
        calls: Samples to measure it on; None: random inputs are drawn.
        kept: The names of results whose ops the user wants in floating point.
        announce: Called with the progress.

    Raises:
        LitefuseError: The model has no weights to quantize, or its outputs tell nothing on random inputs.
    """
    groups = {name: group for name, group in _groups(path) if not set(kept).intersection(group.results)}
    if not groups:
        raise LitefuseError(
            "the model has no weights whose form could be chosen" + (" besides those that are kept" if kept else ""),
            hint=f"It would be those of at least {_SMALLEST:,} bytes in {', '.join(sorted(WEIGHTED))}.",
        )
    trial = target.with_name(target.name + ".trial")
    try:
        calls = calls or _drawn(path, trial, groups)
        maker = _Maker(path, trial, groups, Reference(path, calls))
        alone = _Maker(path, trial, groups, Reference(path, calls, SAMPLES_OF_LAYERS))
        progress = SampleProgress(announce, "quantize", len(groups))
        layers: list[Layer] = []
        for name in groups:
            layers.append(alone.layer(name))
            progress.advance()
        search = Search(upgrades(layers), maker.measure)
        chosen = search.smallest(max_error)
        curve = search.curve(_CURVE_POINTS)
        maker.make(chosen.assignment)
        shutil.move(trial, target)
    finally:
        trial.unlink(missing_ok=True)
    return MixedPrecision(
        curve_points(curve),
        tuple(
            LayerForm(
                name,
                groups[name].op,
                chosen.assignment[name],
                groups[name].size,
                {form: error for form, error in layer.errors.items() if math.isfinite(error)},
            )
            for layer in layers
            for name in [layer.name]
        ),
    )


class _Group(NamedTuple):
    """The ops that share weights, and thus have them in one form.

    Attributes:
        op: The name of the first one in LiteRT's schema.
        results: The names of their results.
        size: The bytes of the weights in float32.
    """

    op: str
    results: list[str]
    size: int


def _groups(path: Path) -> Iterator[tuple[str, _Group]]:
    """Yields the layers of all subgraphs by the name of their first result."""
    groups: dict[int, _Group] = {}
    with content_of(path) as content:
        for graph in Model(content).graphs:
            for op in graph.ops:
                weights = op.inputs[_WEIGHTS] if op.name in WEIGHTED else -1
                if not graph.is_constant(weights) or str(graph.tensor(weights).dtype) != _EXACT:
                    continue
                if graph.is_constant(op.inputs[0]) and op.name in {"BATCH_MATMUL", "FULLY_CONNECTED"}:
                    continue  # LiteRT takes no integer weights in these
                name, size = graph.tensor(op.outputs[0]).name, graph.stored_bytes(weights)
                group = groups.setdefault(graph.buffer(weights), _Group(op.name, [], size))
                if name not in group.results:
                    group.results.append(name)
    for group in groups.values():
        if group.size >= _SMALLEST:
            yield group.results[0], group


def _drawn(path: Path, trial: Path, groups: Mapping[str, _Group]) -> Calls:
    """Returns calls with random inputs, if the outputs tell something on them."""
    apply_recipe(path, trial, mixed_recipe({result: "int8" for group in groups.values() for result in group.results}))
    difference = difference_on_random_inputs(path, trial)
    if difference.error is None:
        raise LitefuseError(
            f"the difference that quantization makes cannot be measured: {difference.unchecked}",
            hint="Give samples: Quantization('auto', samples=...) (on the command line, --samples).",
        )
    return calls_of_random_inputs(path)


class _Maker:
    """Makes files of assignments, and measures them."""

    def __init__(self, path: Path, trial: Path, groups: Mapping[str, _Group], reference: Reference) -> None:
        self._path = path
        self._trial = trial
        self._groups = groups
        self._reference = reference
        self._exact = path.stat().st_size

    def make(self, assignment: Assignment) -> None:
        """Writes the file of an assignment."""
        forms = {result: form for name, form in assignment.items() for result in self._groups[name].results}
        recipe = mixed_recipe(forms)
        if recipe:
            apply_recipe(self._path, self._trial, recipe)
        else:
            shutil.copyfile(self._path, self._trial)
        complete_file(self._trial, share_buffers, halve_biases)

    def measure(self, assignment: Assignment) -> tuple[int, float]:
        """Writes the file of an assignment, and returns its size and error: infinity if it is not a number."""
        self.make(assignment)
        error: Any = self._reference.difference(self._trial).error
        return self._trial.stat().st_size, math.inf if error is None or math.isnan(error) else float(error)

    def layer(self, name: str) -> Layer:
        """Measures the forms of one layer, with all others exact."""
        sizes, errors = dict[str, int](), dict[str, float]()
        for form in _FORMS:
            try:
                size, error = self.measure({name: form})
            except LitefuseError:  # litert-quantizer or LiteRT takes the op in no such form
                continue
            saved = self._exact - size
            if saved > 0:
                sizes[form], errors[form] = self._groups[name].size - saved, error
        sizes[_EXACT], errors[_EXACT] = self._groups[name].size, 0.0
        return Layer(name, sizes, errors)
