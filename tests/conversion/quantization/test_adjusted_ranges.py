"""Ranges that are not those that calibration observed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.adjusted_ranges import LARGEST_INT16, avoid_powers_of_two, share_ranges
from litefuse.litert.runtime.schema_objects import objects_of
from tests.litert.runtime.models import Graph, model

Ends = tuple[float, float]


def ranges_of(ends: dict[str, Ends]) -> dict[str, Any]:
    return {name: {"min": np.array([low]), "max": np.array([high])} for name, (low, high) in ends.items()}


def ends_of(ranges: dict[str, Any]) -> dict[str, Ends]:
    return {name: (float(ends["min"][0]), float(ends["max"][0])) for name, ends in ranges.items()}


def shared(graph: Graph, ends: dict[str, Ends], **more: Any) -> dict[str, Ends]:
    given = ranges_of(ends)
    after = ends_of(share_ranges(objects_of(model(graph)), given, **more))
    assert ends_of(given) == ends
    assert after.keys() == ends.keys()
    return after


def op(kind: str, *operands: str) -> Graph:
    graph = Graph()
    inputs = [graph.input(name, (4,)) for name in operands]
    graph.builtin(kind, inputs, [graph.output("y", (4,))])
    return graph


WHOLE = (-4.0, 4.0)


@pytest.mark.parametrize(
    ("ends", "takes"),
    [((-1.0, 1.0), True), ((-0.9, 1.0), False), ((-4.0, 4.0), True), ((-4.5, 1.0), True), ((-1.0, 4.5), True)],
)
def test_operands_of_concatenations(ends: Ends, takes: bool) -> None:
    """They end where the result does, and take its range if it is four times as wide at most."""
    after = shared(op("CONCATENATION", "a", "b"), {"a": ends, "b": (-2.0, 2.0), "y": WHOLE})
    assert after == {"a": WHOLE if takes else ends, "b": WHOLE, "y": WHOLE}


@pytest.mark.parametrize(
    ("kind", "constants", "takes"),
    [
        ("AVERAGE_POOL_2D", (), True),
        ("MAX_POOL_2D", (), True),
        ("TILE", (), True),
        ("TILE", ("y", "a"), True),
        ("EXPAND_DIMS", ("y", "a"), True),
        ("RESHAPE", ("y", "a"), True),
        ("ADD", ("y", "a"), False),
    ],
)
def test_ops_whose_operand_has_the_scale_of_the_result(kind: str, constants: tuple[str, ...], takes: bool) -> None:
    after = shared(op(kind, "a"), {"a": (-1.0, 1.0), "y": WHOLE}, constants=constants)
    assert after["a"] == (WHOLE if takes else (-1.0, 1.0))


def test_what_depends_on_constants_alone_takes_any_range() -> None:
    tiny = (-1e-3, 1e-3)
    graph = op("CONCATENATION", "a", "b")
    assert shared(graph, {"a": tiny, "b": tiny, "y": WHOLE}, constants=("a",)) == {"a": WHOLE, "b": tiny, "y": WHOLE}


def test_constants_and_what_has_no_range() -> None:
    graph = op("CONCATENATION", "a", "b")
    constant = graph.tensor("c", (4,), value=np.ones(4))
    graph.operators[0][0].inputs = [0, 1, constant]
    assert shared(graph, {"a": (-2.0, 2.0), "c": (-2.0, 2.0), "y": WHOLE}) == {"a": WHOLE, "c": (-2.0, 2.0), "y": WHOLE}
    assert shared(graph, {"a": (-2.0, 2.0)}) == {"a": (-2.0, 2.0)}


def test_custom_ops_hand_the_range_on_to_their_source_alone() -> None:
    graph = Graph()
    a, b = graph.input("a", (4,)), graph.input("b", (4,))
    graph.custom("Roll", [a, b], [graph.output("y", (4,))])
    ends = {"a": (-2.0, 2.0), "b": (-2.0, 2.0), "y": WHOLE}
    assert shared(graph, ends) == ends
    assert shared(graph, ends, sources={"y": "b"}) == {**ends, "b": WHOLE}


def test_a_range_goes_on_to_earlier_ops() -> None:
    graph = op("MAX_POOL_2D", "a")
    graph.builtin("CONCATENATION", [1, 1], [graph.output("z", (8,))])
    assert shared(graph, {"a": (-1.0, 1.0), "y": (-2.0, 2.0), "z": WHOLE}) == dict.fromkeys("ayz", WHOLE)


def states(mask: Any = None, *, handed_on: bool = True) -> Graph:
    """Two steps that select a new state, or the last one: ``s1 = select(m, n1, s0); s2 = select(m, n2, s1)``."""
    graph = Graph()
    masks = graph.input("m", (4,), np.bool_)
    start = graph.input("s0", (4,)) if mask is None else graph.tensor("s0", (4,), value=mask)
    new = [graph.input(f"n{step}", (4,)) for step in (1, 2)]
    graph.builtin("SIN", [new[0]], [graph.output("other", (4,))])
    made = [graph.output(f"s{step}", (4,)) for step in (1, 2)]
    graph.builtin("SELECT_V2", [masks, new[0], start], [made[0]])
    graph.builtin("SELECT_V2", [masks, new[1], made[0] if handed_on else start], [made[1]])
    return graph


OF_STATES: dict[str, Ends] = {
    "s0": (-1.0, 2.0),
    "n1": (-2.0, 1.0),
    "n2": (-1.0, 1.0),
    "s1": (-2.0, 2.0),
    "s2": (-1.0, 1.0),
}


def test_states_that_selections_hand_on() -> None:
    assert shared(states(), OF_STATES) == dict.fromkeys(OF_STATES, (-2.0, 2.0))
    assert shared(states(handed_on=False), OF_STATES) == OF_STATES
    narrow = {**OF_STATES, "n2": (-0.4, 0.4)}  # its steps would be too large
    assert shared(states(), narrow) == {**dict.fromkeys(OF_STATES, (-2.0, 2.0)), "n2": (-0.4, 0.4)}
    unknown = {name: ends for name, ends in OF_STATES.items() if name != "n1"}
    assert shared(states(), unknown) == unknown


def test_states_that_begin_with_constants() -> None:
    """Of zeros, which are in any range; others have ranges of their own."""
    given = {name: ends for name, ends in OF_STATES.items() if name != "s0"}
    assert shared(states(np.zeros(4)), given) == dict.fromkeys(given, (-2.0, 2.0))
    assert shared(states(np.ones(4)), given) == given


@pytest.mark.parametrize(
    ("ends", "wider"),
    [
        ((-1.0, 0.5), True),
        ((-0.25, 0.5), True),
        ((-0.25, 0.501), False),
        ((0.0, 0.0), False),
        ((-np.inf, 1.0), False),
        ((-0.7, 0.3), False),
        ((0.0, 0.9987), True),
        ((0.0, 0.9985), False),
        ((0.0, 32767.0), True),
    ],
)
def test_scales_that_are_powers_of_two(ends: Ends, wider: bool) -> None:
    after = ends_of(avoid_powers_of_two(ranges_of({"x": ends})))
    times = np.float32(1.01) if wider else 1.0
    np.testing.assert_array_equal(after["x"], np.array(ends) * times)


def test_a_margin_leaves_fixed_scales_alone() -> None:
    ends = {"x": (-1.0, 3.0), "tanh": (-LARGEST_INT16, LARGEST_INT16), "power": (0.0, 1 / 1.1)}
    after = ends_of(avoid_powers_of_two(ranges_of(ends), 1.1))
    assert after["x"] == pytest.approx((-1.1, 3.3))
    assert after["tanh"] == ends["tanh"]
    assert after["power"] == pytest.approx((0.0, 1.01))  # with the margin it is one
