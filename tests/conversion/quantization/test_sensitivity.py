"""The search for mixed precision, on errors that are known."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from litefuse.conversion.quantization.mixed_precision import Assignment, Layer, Search, upgrades
from tests.every import every

_INF = math.inf


def _layer(name: str, elements: int, int4: float, int8: float) -> Layer:
    sizes = {"int4": elements // 2, "int8": elements, "float32": 4 * elements}
    return Layer(name, sizes, {"int4": int4, "int8": int8, "float32": 0.0})


def _measuring(layers: Mapping[str, Layer]) -> tuple[list[Assignment], Search]:
    def measure(assignment: Assignment) -> tuple[int, float]:
        sizes = sum(layers[name].sizes[form] for name, form in assignment.items())
        return sizes, math.hypot(*(layers[name].errors[form] for name, form in assignment.items()))

    states = upgrades([*layers.values()])
    return states, Search(states, measure)


def test_the_layer_that_costs_most_error_for_its_size_is_upgraded_first() -> None:
    layers = [_layer("large", 1000, 0.1, 0.01), _layer("small", 10, 0.1, 0.01), _layer("harmless", 10, 1e-4, 1e-5)]
    states = upgrades(layers)
    assert states[0] == {"large": "int4", "small": "int4", "harmless": "int4"}
    assert states[1] == {"large": "int4", "small": "int8", "harmless": "int4"}
    assert states[2] == {"large": "int8", "small": "int8", "harmless": "int4"}
    assert states[-1] == {"large": "float32", "small": "float32", "harmless": "float32"}


def test_a_form_that_helps_less_than_a_larger_one_is_skipped() -> None:
    states = upgrades([_layer("odd", 1000, 0.5, 0.499)])
    assert states == [{"odd": "int4"}, {"odd": "float32"}]


def test_a_form_that_a_layer_lacks_is_not_given() -> None:
    states = upgrades([_layer("lacking", 1000, _INF, 0.1), _layer("other", 1000, 0.1, 0.01)])
    assert every(each["lacking"] != "int4" for each in states)
    assert states[0] == {"lacking": "int8", "other": "int4"}


def test_a_layer_without_any_error_becomes_exact_in_the_end() -> None:
    assert [each["still"] for each in upgrades([_layer("still", 1000, 0.0, 0.0)])] == ["int4", "int8", "float32"]


@pytest.mark.parametrize("limit", [1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0])
def test_the_smallest_file_within_the_error_is_found(limit: float) -> None:
    layers = {f"l{i}": _layer(f"l{i}", 100 * (i + 1), 0.02 * (i % 4 + 1), 0.001 * (i % 3 + 1)) for i in range(12)}
    states, search = _measuring(layers)
    found = search.smallest(limit)
    assert found.error <= limit
    everything = [search.measure(state) for state in states]
    assert found.size == min(size for size, error in everything if error <= limit)
    assert len(search.measured) <= math.ceil(math.log2(len(states))) + 1


def test_what_no_form_reaches_is_exact() -> None:
    _, search = _measuring({"one": _layer("one", 100, 0.5, 0.1)})
    assert search.smallest(0.0).assignment == {"one": "float32"}


def test_the_curve_has_no_point_that_another_one_beats() -> None:
    layers = {f"l{i}": _layer(f"l{i}", 100 * (i + 1), 0.02 * (i % 4 + 1), 0.001 * (i % 3 + 1)) for i in range(12)}
    _, search = _measuring(layers)
    curve = search.curve(7)
    assert len(curve) == 7
    assert [each.size for each in curve] == sorted({each.size for each in curve})
    assert [each.error for each in curve] == sorted({each.error for each in curve}, reverse=True)

    sizes = {0: (10, 0.5), 1: (20, 0.7), 2: (30, 0.1), 3: (40, 0.1)}
    states: list[Assignment] = [{"l": str(index)} for index in sizes]
    noisy = Search(states, lambda assignment: sizes[int(assignment["l"])])
    assert [(point.size, point.error) for point in noisy.curve(4)] == [(10, 0.5), (30, 0.1)]
    assert noisy.smallest(0.05).size == 40  # the last one, if none is within the error
