# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Constants of a quantized file that are not those of the original, rounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.quantized.judge import faulty_constants
from litefuse.litert.differences.compared_model import ComparedModel
from tests.conversion.verify.test_float_copy import scaled
from tests.litert.runtime.models import Graph, model

REAL = np.array([[0.5, -1.25, 2.0], [4.0, 0.125, -0.375]], np.float32)
SCALES = (1 / 64, 1 / 32)
INTEGERS = np.round(REAL / np.array(SCALES, np.float32)[:, None]).clip(-128, 127).astype(np.int8)


def layers(
    weights: Any = REAL,
    scales: Sequence[float] = (),
    *,
    axis: int = 0,
    bias: Any = None,
    op: str = "FULLY_CONNECTED",
    name: str = "y",
    key: str = "serve",
) -> ComparedModel:
    """A product, which is negated."""
    graph = Graph()
    x = graph.input("x", (1, 3))
    w = graph.tensor("w", weights.shape, weights.dtype, value=weights)
    if scales:
        scaled(graph, w, scales, axis=axis)
    inputs = [x, w, -1 if bias is None else graph.tensor("b", bias.shape, bias.dtype, value=bias)]
    if bias is not None and bias.dtype == np.int32:
        scaled(graph, inputs[2], [1.0])
    y = graph.tensor(name, (1, 2))
    graph.builtin(op, inputs[: 2 if op == "ADD" else 3], [y])
    graph.builtin("NEG", [y], [graph.output("z", (1, 2))])
    return ComparedModel.of(model(graph, signatures={key: 0}))


def found(side: ComparedModel, original: ComparedModel | None = None, key: str = "serve") -> list[tuple[float, str]]:
    faults = [*faulty_constants(side, original or layers(), key)]
    assert {side.tensors[0][index].name for index, *_ in faults} <= {"y"}
    return [(excess, text) for _, excess, text in faults]


def test_rounded_constants_are_right() -> None:
    assert found(layers(INTEGERS, SCALES)) == []
    assert found(layers(REAL.astype(np.float16))) == []
    assert found(layers()) == []


@pytest.mark.parametrize(("steps", "told"), [(2, False), (3, True), (30, True)])
def test_a_slice_that_is_off(steps: int, *, told: bool) -> None:
    """By the root of the mean square of its three numbers, in steps: one and a half are allowed."""
    wrong = INTEGERS.copy()
    wrong[0, 1] += steps
    off = steps / 3**0.5
    faults = found(layers(wrong, SCALES))
    assert [text for _, text in faults] == ([f"off by {off:.0f} steps in a slice of its constant w"] if told else [])
    assert [excess for excess, _ in faults] == pytest.approx([off / 1.5] if told else [], rel=0.2)


def test_slices_are_those_of_the_scales() -> None:
    """One scale: the whole constant is a slice; three, along the other axis: three slices."""
    one = (REAL * 16).astype(np.int8)
    one[0, 0] += 3
    assert found(layers(one, [1 / 16])) == []  # 3 / sqrt(6) steps
    columns = np.round(REAL * np.array([16, 32, 64], np.float32)).clip(-128, 127).astype(np.int8)
    assert found(layers(columns, [1 / 16, 1 / 32, 1 / 64], axis=1)) == []
    columns[0, 0] += 3
    ((excess, _),) = found(layers(columns, [1 / 16, 1 / 32, 1 / 64], axis=1))
    assert excess == pytest.approx(3 / 2**0.5 / 1.5, rel=0.05)


def test_fine_steps() -> None:
    """A thousandth of each number is allowed: they were computed of others."""
    for factor, told in ((1.001, []), (1.003, [2.0])):
        fine = np.round(REAL * factor * 4096).astype(np.int16)
        assert [excess for excess, _ in found(layers(fine, [1 / 4096]))] == pytest.approx(told, rel=0.2)


def test_the_first_wrong_constant_of_an_op_is_told() -> None:
    bias = np.array([1, 2], np.float32)
    original, negated = layers(bias=bias), np.array([-100, -2], np.int32)
    assert [text.rpartition(" ")[2] for _, text in found(layers(-INTEGERS, SCALES, bias=negated), original)] == ["w"]
    assert [text.rpartition(" ")[2] for _, text in found(layers(INTEGERS, SCALES, bias=negated), original)] == ["b"]


def test_nothing_is_told_of_what_is_not_compared() -> None:
    wrong = layers(-INTEGERS, SCALES)
    assert found(wrong)
    assert found(wrong, layers(name="other")) == []
    assert found(wrong, layers(REAL.T.copy())) == []
    assert found(wrong, layers(REAL.astype(np.float16))) == []
    assert found(wrong, layers(REAL[:, :2], op="ADD")) == []
    assert found(wrong, layers(bias=np.zeros(2, np.float32)))
    assert found(wrong, layers(key="other")) == found(wrong, layers(), "absent") == []
    damaged = REAL.copy()
    damaged[0, 0] = np.nan
    assert found(layers(INTEGERS, SCALES), layers(damaged))
