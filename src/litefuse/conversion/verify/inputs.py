"""Draws arguments for a standalone function from its model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

import numpy.typing as npt

from litefuse.conversion.verify.standalone import StandaloneModel
from litefuse.ir.types import TensorType
from litefuse.litert.inputs.drawer import Drawer
from litefuse.litert.inputs.model_inputs import Manner, ModelInputs

__all__ = ["Arguments", "DrawnArguments", "reason_against"]

Arguments: TypeAlias = "dict[str, npt.NDArray[Any]]"

_MAX_ELEMENTS = 1 << 25
# The limits of picking every row of a table: elements of arguments and results, and calls.
_COVERING_ELEMENTS = 1 << 22
_COVERING_CALLS = 256


def reason_against(types: Sequence[TensorType], size: int) -> str | None:
    """Returns why there can be no arguments of these types, with dynamic dimensions of a size; None if there can."""
    elements = sum(math.prod(size if dim is None else dim for dim in kind.shape or ()) for kind in types)
    if elements > _MAX_ELEMENTS:  # the arguments would take several times the memory of a conversion
        return f"its arguments have {elements / 1e6:.0f} million elements"
    for index, kind in enumerate(types):
        if kind.shape is None:
            return f"argument {index} is of unknown rank"
    return None


class DrawnArguments:
    """Draws the arguments of a function's calls, different ones each time.

    Args:
        models: The function as a model, for each size of its dynamic dimensions: one for all, or several.
        results: The types of its results.
        random: The source of randomness. Python's own: numpy's takes 7 MB and as long to load as the runtime.
        manner: How arguments are drawn, unless a call says otherwise.
    """

    def __init__(
        self,
        models: Mapping[int, StandaloneModel],
        results: Sequence[TensorType],
        random: Random,
        manner: Manner,
    ) -> None:
        read = {model: ModelInputs(model.content) for model in {*models.values()}}
        self._inputs = {size: read[model] for size, model in models.items()}
        self._results = results
        self._manner = manner
        self._any_size = len(read) == 1
        self._last: Arguments = {}
        first = next(iter(read.values()))
        (self._key,) = first.signatures
        self._drawers: dict[ModelInputs, Drawer] = {each: each.drawer(self._key, random) for each in read.values()}
        #: The results that depend on arguments.
        self.moving = first.moving[self._key]

    def draw(self, size: int, manner: Manner | None = None) -> Arguments:
        """Draws the arguments of one call, with dynamic dimensions of a size."""
        inputs = self._inputs.get(size, self._inputs[next(iter(self._inputs))])
        manner = (
            self._manner
            if manner is None
            else manner._replace(limit=self._manner.limit, in_range=self._manner.in_range)
        )
        drawer = self._drawers[inputs]
        self._last = drawer.draw(inputs.shapes(self._key, batch=size, size=size), manner)
        return self._last

    def covering(self) -> Iterator[Arguments]:
        """Yields calls that pick the rows of tables that no call has picked, where they are cheap.

        Other arguments keep their values where their shapes allow: they may be the tables.
        """
        if not self._any_size:
            return
        (inputs,) = {*self._inputs.values()}
        drawer = self._drawers[inputs]
        left = drawer.left
        if not left:
            return
        size = max(_size_for(inputs.signatures[self._key][name].shape, count) for name, count in left.items())
        shapes = inputs.shapes(self._key, batch=size, size=size)
        drawn = {
            name: shape for name, shape in shapes.items() if name in left or self._last[name].shape != tuple(shape)
        }
        results = [tuple(size if dim is None else dim for dim in kind.shape or ()) for kind in self._results]
        calls = max(math.ceil(count / max(math.prod(shapes[name]), 1)) for name, count in left.items())
        elements = sum(map(math.prod, [*drawn.values(), *results]))
        if calls > _COVERING_CALLS or calls * elements > _COVERING_ELEMENTS:
            return
        while drawer.left:
            before = drawer.left
            yield {**self._last, **drawer.draw(drawn, Manner(covering=True))}
            drawer.settle(ran=True)
            if drawer.left == before:
                return


def _size_for(shape: Sequence[int | None], count: int) -> int:
    """Returns the smallest size of the dynamic dimensions of a shape with which it holds so many elements."""
    known = math.prod(dim for dim in shape if dim is not None)
    return math.ceil((count / max(known, 1)) ** (1 / shape.count(None))) if None in shape else 1
