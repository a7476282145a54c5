"""The kinds of numbers that two models are compared on, which are to compute the same.

What the graph of one says about its inputs says which integers, words and pixels are meaningful, see ``drawer``; its
constants say where its results turn: at thresholds, limits, and what keeps a divisor from 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.random_values import distinct
from litefuse.litert.runtime.model_reader import Model

#: Constants of more elements are weights.
FEW = 64
MOST_CONSTANTS = 12
_MOST_SCALES = 4
# Below it, a constant is one that keeps a divisor or a logarithm from 0.
_SMALL = 0.05
# From here on, a constant stands for infinity, as what masks add: numbers as large are not what the model is for.
_LARGE = 1e5
_LARGE_SIZE, _LARGEST_SIZE = 130, 1024
# Of steps that are constants, where such an op rounds.
_HALVES = (0.5, 1.5, 2.5)
_ROUNDING = frozenset({"ROUND", "FLOOR", "CEIL", "CAST"})
_CLIPS = {"RELU6": (6.0,), "RELU_N1_TO_1": (-1.0, 1.0)}
_COMPARISONS = frozenset({"EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"})
# An op takes as long as so many numbers.
_OP_NUMBERS = 1 << 12


class Kind(NamedTuple):
    """A kind of numbers.

    Attributes:
        name: Its name, for messages.
        manner: How they are drawn.
        size: The size of dynamic dimensions to draw them with: sizes grow and shrink from one kind to the next.
        undefined: Whether some are NaN or infinite.
    """

    name: str
    manner: Manner
    size: int
    undefined: bool = False


def kinds_of(content: Any, *, thorough: bool = False, numbers: Iterable[float] = ()) -> list[Kind]:
    """Returns the kinds of numbers that show whether another model computes the same as this one.

    Args:
        content: The content of a valid ``.tflite`` file.
        thorough: Whether to draw all of them in all sizes.
        numbers: Further constants, those of the other model.
    """
    model = Model(content)
    constants = [*dict.fromkeys([*numbers, *numbers_of(model)])]
    near = [value for constant in constants for value in _around(constant)]
    if any(op.name in _ROUNDING for graph in model.graphs for op in graph.ops):
        near += [
            value
            for constant in constants
            if constant
            for half in _HALVES
            for value in (half * constant, half / constant)
        ]
    near = tuple(value for value in dict.fromkeys(near) if abs(value) < 2 * _LARGE)
    large = _large_size(model)
    scales = _scales(constants)
    kinds = [
        Kind("multiples of one half", Manner(halves=True), 3),
        *(Kind(f"numbers times {scale:.2g}", Manner(scale=scale), 3) for scale in scales[:2]),
        Kind("normal numbers", Manner(), large),
        Kind("numbers times 200", Manner(scale=200), 2),
        *(Kind("numbers at its constants", Manner(near=near), size) for size in (large, 2, 3) if near),
        Kind("zeros", Manner(scale=0), 2),
        Kind("numbers times 10", Manner(scale=10), large),
        *(Kind(f"numbers times {scale:.2g}", Manner(scale=scale), 3) for scale in scales[2:]),
        Kind("multiples of one half", Manner(halves=True, scale=4), 2),
        Kind("equal numbers", Manner(constant=True), 3),
        Kind("normal numbers", Manner(), 1),
        Kind("NaN and infinities", Manner(near=(math.nan, math.inf, -math.inf)), 3, undefined=True),
    ]
    if thorough:
        kinds += [kind._replace(size=size) for kind in kinds for size in (2, large, 1, 3)]
    return kinds


def asks_for_nan(model: Model) -> bool:
    """Whether a model tells NaN or infinities from numbers: its results are then meaningful for these."""

    def is_infinite(constant: Any) -> bool:
        return constant is not None and constant.dtype.kind == "f" and bool(np.isinf(constant).any())

    return any(
        (op.name in {"EQUAL", "NOT_EQUAL"} and len({*op.inputs}) == 1)
        or (op.name in _COMPARISONS and any(is_infinite(graph.constant(index)) for index in op.inputs))
        for graph in model.graphs
        for op in graph.ops
    )


def keeps_state(model: Model) -> bool:
    """Whether a call of a model may say something of later ones."""
    return any(
        any(op.name in {"VAR_HANDLE", "HASHTABLE"} for op in graph.ops)
        or any(graph.tensor(index).is_variable for index in range(graph.size))
        for graph in model.graphs
    )


def work_of(model: Model) -> Mapping[int, int]:
    """Returns how many numbers a model computes with, by how many dimensions of theirs are dynamic."""
    work = Counter[int]()
    for graph in model.graphs:
        work[0] += _OP_NUMBERS * len(graph.ops)
        for index in range(graph.size):
            shape = graph.tensor(index).shape
            work[shape.count(None)] += math.prod(size or 1 for size in shape)
    return work


def numbers_of(model: Model) -> list[float]:
    """Returns the numbers among a model's constants, without weights, in their order."""
    numbers: dict[float, None] = {}
    for graph in model.graphs:
        for op in graph.ops:
            numbers.update(dict.fromkeys(_CLIPS.get(op.name, ())))
            for index in op.inputs:
                sizes = graph.tensor(index).shape if index >= 0 else ()
                if index < 0 or not graph.is_constant(index) or math.prod(size or 0 for size in sizes) > FEW:
                    continue
                numbers.update(dict.fromkeys(few_numbers(graph.constant(index))))
    return [*numbers][:MOST_CONSTANTS]


def few_numbers(constant: npt.NDArray[Any] | None) -> list[float]:
    """Returns the first numbers of a constant that is of real ones, in their order."""
    if constant is None or constant.dtype.kind != "f":
        return []
    numbers = distinct(constant)
    return numbers[np.abs(numbers) < _LARGE][:MOST_CONSTANTS].tolist()


def _large_size(model: Model) -> int:
    """Returns a size of dynamic dimensions that is larger than what slices take of them."""
    ends = [
        int(constant.max())
        for graph in model.graphs
        for op in graph.ops
        if op.name in {"SLICE", "STRIDED_SLICE"}
        and (constant := graph.constant(op.inputs[2])) is not None
        and constant.size
    ]
    return max((end + 2 for end in ends if _LARGE_SIZE <= end < _LARGEST_SIZE), default=_LARGE_SIZE)


def _around(number: float) -> Iterator[float]:
    """Yields a number, those next to it in float32 that no kernel takes for 0, and some a little further away."""
    at = np.float32(number)
    least = np.finfo(np.float32).tiny
    yield float(at)
    yield from (float(np.nextafter(at, np.float32(way)) if number else np.copysign(least, way)) for way in (-1e9, 1e9))
    yield from (number * (1 + away) for away in (-1e-2, -1e-3, 1e-3, 1e-2))


def _scales(constants: list[float]) -> list[float]:
    """Returns the scales of numbers, or of their squares, that are below small constants and about large ones."""
    small = [abs(constant) for constant in constants if 0 < abs(constant) < _SMALL]
    wanted = [scale for constant in small for scale in (math.sqrt(constant) / 4, constant / 4)]
    wanted += [2 * abs(constant) for constant in constants if abs(constant) > 20]
    scales: list[float] = []
    for scale in [*wanted, 1e-6]:
        if all(not 1 / 2 < scale / other < 2 for other in (*scales, 10, 200)):
            scales.append(scale)
    return scales[:_MOST_SCALES]
