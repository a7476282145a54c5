"""Mixed precision by sensitivity: for each layer the smallest form that the outputs can bear."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Assignment", "Layer", "Measured", "Search", "upgrades"]

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
        fitting = [each for each in self.measured.values() if each.error <= max_error]
        return min(fitting, key=lambda each: each.size) if fitting else self.at(len(self.states) - 1)

    def curve(self, points: int) -> list[Measured]:
        """Measures states until there are so many points, evenly, and returns those that no other one beats.

        Returns:
            The points, from the smallest file to the largest; each has a smaller error than the one before.
        """
        last = len(self.states) - 1
        for point in range(points):
            self.at(round(point * last / max(points - 1, 1)))
        result: list[Measured] = []
        for each in sorted(self.measured.values(), key=lambda each: (each.size, each.error)):
            if not result or each.error < result[-1].error:
                result.append(each)
        return result
