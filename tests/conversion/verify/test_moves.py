"""How numbers are moved by a few steps of float32, and how far results followed them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.moves import (
    Move,
    kind_of_move,
    largest_of,
    moved_copy,
    moved_numbers,
    movement_of,
    smooth_movement_of,
)
from litefuse.litert.runtime.model_reader import Model
from tests.every import every
from tests.litert.runtime.models import Graph, model

MOVE = 2.0**-19
INF, NAN = np.inf, np.nan


def floats(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


@pytest.mark.parametrize(
    ("value", "moved", "movement"),
    [
        ([1, 1, 1, 1], [1, 1, 1, 2], [0, 0, 0, INF]),  # of integers, any other one jumps
        ([1, 1, 1, 1], [1, 1, 2, 2], [INF] * 4),  # more than a quarter, and all may
        ([1.0, 2.0], [1 + MOVE, 2 - 4 * MOVE], [1, 4]),
        ([1.0, 1, 1, 1, 1 - 2**-6], [1.0] * 5, [0, 0, 0, 0, 2**13]),
        ([1.0, 1, 1, 1, 1 - 2**-5], [1.0] * 5, [0, 0, 0, 0, 2**19]),  # to any other number
        ([4.0, 4, 4, 4, 1 / 64], [4.0, 4, 4, 4, 0.0], [0, 0, 0, 0, 2**13]),  # less than a step of the others
        ([4.0, 4, 4, 4, 1 / 32], [4.0, 4, 4, 4, 0.0], [0, 0, 0, 0, 2**21]),
        ([1.0, 1, 1, 2, 2], [1.0, 1, 1, 1, 1], [2**20] * 5),
        ([1 / 4] * 5, [1 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 8], [0, 0, 0, 0, 2**17]),
        ([NAN, INF, -INF, 1.0], [NAN, INF, -INF, 1.0], [0] * 4),
        ([1.0, 1, 1, 1, 2], [1.0, 1, 1, 1, NAN], [0, 0, 0, 0, INF]),
        ([], [], []),
    ],
)
def test_movements(value: list[Any], moved: list[Any], movement: list[float]) -> None:
    given = np.array(value), np.array(moved)
    assert movement_of(given[1], given[0]).tolist() == movement


def test_what_has_another_shape_moved_anywhere() -> None:
    assert movement_of(np.ones((2, 2)), np.ones(4)).tolist() == [INF] * 4


_REST = [0.0] * 96


@pytest.mark.parametrize(
    ("value", "moved", "less", "movement"),
    [
        ([1.0, 1], [1 + 2 * MOVE, 1 - 2 * MOVE], [1 + MOVE, 1 - MOVE], [2, 2]),
        ([1.0, 1], [1 + 2 * MOVE, 1 + 2 * MOVE], [1 + 1.5 * MOVE, 1.0], [0, 2]),  # the first is a tie
        # One of four that jump is a tie; then two, and nothing counts: what does not move does not jump.
        ([*[4.0] * 4, *_REST], [5, 5, 5, 5, *_REST], [5.0, 4, 4, 4, *_REST], [0, 2**19, 2**19, 2**19, *_REST]),
        ([*[4.0] * 4, *_REST], [5, 5, 5, 5, *_REST], [5.0, 5, 4, 4, *_REST], [0] * 100),
        ([*[4.0] * 4, *_REST], [INF, 5, 5, 5, *_REST], [4.0, 4, 4, 4, *_REST], [0, 2**19, 2**19, 2**19, *_REST]),
        ([64.0, 1], [65, 1 + MOVE], [65.0, 1], [0, 1]),  # by a 64th: no jump
        ([64.0, 1], [66, 1 + MOVE], [66.0, 1], [0, 0]),
        ([1, 1], [3, 3], [2, 2], [0, 0]),
    ],
)
def test_smooth_movements(value: list[Any], moved: list[Any], less: list[Any], movement: list[float]) -> None:
    assert smooth_movement_of(np.array(moved), np.array(less), np.array(value)).tolist() == movement


def test_what_has_another_shape_did_not_move_smoothly() -> None:
    one, two, value = np.ones(1), np.full(2, 1.5), np.ones(2)
    assert smooth_movement_of(two, value, value).tolist() == [2**18] * 2
    assert smooth_movement_of(one, value, value).tolist() == [0, 0]
    assert smooth_movement_of(two, one, value).tolist() == [0, 0]


def test_largest_numbers() -> None:
    assert largest_of(floats(3, -7, INF, NAN)).tolist() == [7] * 4
    assert largest_of(floats(0.5)).tolist() == largest_of(floats(NAN)).tolist() == [1]
    assert largest_of(np.array([3, 7])).tolist() == [0, 0]


def test_arguments_move_by_half_a_move_to_a_whole_one() -> None:
    numbers = np.linspace(1, 2, 500, dtype=np.float32)
    away = np.abs(moved_numbers(numbers, Random(1)) / numbers - 1.0)
    assert MOVE / 2.2 < away.min() < away.max() < MOVE * 1.1
    assert {*np.sign(moved_numbers(numbers, Random(1)) - numbers)} == {-1, 1}
    integers = np.arange(3)
    assert moved_numbers(integers, Random(1)) is integers


@pytest.mark.parametrize(
    ("op", "operand", "kind", "elementwise"),
    [
        ("FULLY_CONNECTED", True, "digits", False),
        ("FULLY_CONNECTED", False, "digits", False),
        ("ADD", False, "digits", True),
        ("TANH", True, "digits", True),
        ("TANH", False, "zeros", True),
        ("GELU", False, "difference", True),
        ("ELU", False, "exponential", True),
        ("SOFTMAX", False, "positive", True),
        ("LOG", False, "", True),
        ("CUSTOM", False, "", False),
    ],
)
def test_kinds_of_moves(op: str, operand: bool, kind: str, elementwise: bool) -> None:
    assert kind_of_move(op, operand=operand) == {"kind": kind, "elementwise": elementwise}


@pytest.fixture
def move(monkeypatch: pytest.MonkeyPatch) -> type[Move]:
    for name, value in (("random", Random(0)), ("sign", 1.0), ("alike", True), ("left", sys.maxsize)):
        monkeypatch.setattr(Move, name, value)
    return Move


def after(kind: str, *inputs: Any, elementwise: bool = False) -> Any:
    outputs: Any = [None]
    Move().invoke(inputs, outputs, kind=kind, elementwise=elementwise)
    return outputs[0]


@pytest.mark.usefixtures("move")
def test_numbers_of_few_digits_stay() -> None:
    few = floats(0, 1, -3, 1 / 16, 2**14 - 1 / 16, 2**14 + 1, 2**24)
    many = floats(1 / 32, 0.3, 2**14 + 1 / 16, 2**24 + 2)
    assert after("digits", few).tolist() == few.tolist()
    assert every(after("digits", many) != many)
    assert every(after("", few)[1:] != few[1:])
    # Numbers of few digits move where they are computed of such that have more, at their places or anywhere.
    assert (after("digits", few[:4], many) == few[:4]).tolist() == [True, False, False, False]
    assert (after("digits", few[1:4], floats(1, 0.3, 1)) == few[1:4]).tolist() == [True, False, True]
    assert (after("digits", few[1:4], floats(1, 0.3)) == few[1:4]).tolist() == [False] * 3
    rows = np.tile(few[1:3], (2, 1))
    assert (after("digits", rows, floats(1, 0.3)[None]) == rows).tolist() == [[True, False]] * 2
    # And what is not computed of 0.
    assert (after("zeros", few[1:4], floats(1, 0, 1)) == few[1:4]).tolist() == [False, True, False]


@pytest.mark.usefixtures("move")
def test_what_vanishes_or_overflows_moves() -> None:
    numbers, operands = floats(0, 0, INF, INF), floats(-200, 0, 200, INF)
    zeros, positive = (after(kind, numbers, operands) for kind in ("zeros", "positive"))
    assert (zeros == 0).tolist() == [False, True, False, False]
    assert (positive == 0).tolist() == [False] * 4
    assert (positive == INF).tolist() == [False, False, False, True]
    np.testing.assert_allclose(positive[[0, 2]], [2.0**-120, 2.0**127], 1e-5)
    assert after("", numbers, operands).tolist() == numbers.tolist()


@pytest.mark.usefixtures("move")
def test_differences_and_exponentials_move_by_their_terms() -> None:
    result, operand = np.full(100, 1e-3, np.float32), np.full(100, 8, np.float32)
    for kind, size in (("difference", 8), ("exponential", 9)):
        away = np.abs(after(kind, result, operand) - result)
        assert size * MOVE / 2.2 < away.min() < away.max() < size * MOVE * 1.1
        assert after(kind, result, operand)[0] != result[0]


def test_equal_numbers_move_alike(move: type[Move]) -> None:
    same, operands = np.full(4, 0.3, np.float32), floats(1.3, 1.3, 1.4, 1.3)
    alike = after("", same, operands, elementwise=True)
    assert alike[0] == alike[1] == alike[3] != alike[2]
    assert len({*after("", same, operands).tolist()}) > 2
    assert len({*after("", same, floats(1.3, 1.4), elementwise=True).tolist()}) > 2  # not at its own place
    move.alike = False
    assert len({*after("", same, operands, elementwise=True).tolist()}) > 2
    few = floats(1, 2)
    assert every(after("digits", few) != few)


def test_the_other_way(move: type[Move]) -> None:
    numbers = np.full(50, 0.3, np.float32)
    there = after("", numbers) - numbers
    move.random, move.sign = Random(0), -1.0
    np.testing.assert_allclose(after("", numbers) - numbers, -there, atol=5e-8)


def test_only_so_many_numbers_move(move: type[Move]) -> None:
    move.left = 2 * (512 + 3)
    after("", floats(1, 2, 3))
    after("", floats(1, 2, 3))
    with pytest.raises(RuntimeError, match="too many moves"):
        after("", floats(1, 2, 3))


def test_which_tensors_of_a_model_move() -> None:
    graph = Graph()
    x, ids = graph.input("x", (1, 4)), graph.input("ids", (1, 4), np.int32)
    weights = graph.tensor("weights", (4, 4), value=np.ones((4, 4)))
    dense, total, shaped = (graph.tensor(name, (1, 4)) for name in ("dense", "total", "shaped"))
    integers = graph.output("integers", (1, 4), np.int32)
    state = graph.tensor("state", (1, 4))
    graph.tensors[state][0].isVariable = True
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [dense])
    graph.builtin("ADD", [dense, x], [total])
    graph.builtin("RESHAPE", [total], [shaped])
    graph.builtin("ADD", [ids, ids], [integers])
    graph.custom("Remember", [shaped, state], [graph.output("y", (1, 4))])
    graph.composite("odml.a", [shaped], [graph.output("z", (1, 4))], {}, 1)
    body = Graph()
    body.builtin("TANH", [body.input("x", (1, 4))], [body.output("y", (1, 4))])

    def named(copied: Any, indices: Sequence[int]) -> str:
        return ", ".join((copied.tensor(index).name or "*") if index >= 0 else "-" for index in indices)

    graphs = Model(moved_copy(model(graph, body))).graphs
    lines = [[f"{op.name}: {named(one, op.inputs)} -> {named(one, op.outputs)}" for op in one.ops] for one in graphs]
    assert lines == [
        [
            "LitefuseMove: x, x, weights -> *",
            "FULLY_CONNECTED: *, weights, - -> *",
            "LitefuseMove: *, x, weights -> dense",
            "ADD: dense, x -> *",
            "LitefuseMove: *, dense, x -> total",
            "RESHAPE: total -> shaped",
            "ADD: ids, ids -> integers",
            "LitefuseMove: shaped, shaped -> *",
            "Remember: *, state -> *",
            "LitefuseMove: *, shaped -> y",
            "LitefuseMove: shaped, shaped -> *",
            "STABLEHLO_COMPOSITE: * -> *",
            "LitefuseMove: *, shaped -> z",
        ],
        ["LitefuseMove: x, x -> *", "TANH: * -> *", "LitefuseMove: *, x -> y"],
    ]
