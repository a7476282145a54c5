"""Ops that stay in floating point because LiteRT refuses their integer forms, or stops in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.ops_left_in_float import withheld_ops
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.schema_objects import objects_of
from litefuse.litert.targets import traits_of
from litefuse.passes.legalize.images.suppression import FAR
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.report.quantized import OpKinds
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph, model

X = np.array([[-3.0, -0.001, 0.5, 2.0]], np.float32)


def quotient(smallest: float) -> Graph:
    """``y = z / (x * x + smallest)``."""
    graph = Graph()
    x, size, divisor = graph.input("x", [1, 4]), graph.tensor("size", [1, 4]), graph.tensor("divisor", [1, 4])
    z = graph.input("z", [1, 4])
    graph.builtin("MUL", [x, x], [size])
    graph.builtin("ADD", [size, graph.tensor("smallest", [], value=smallest)], [divisor])
    graph.builtin("DIV", [z, divisor], [graph.output("y", [1, 4])])
    return graph


@pytest.mark.parametrize(("smallest", "expected"), [(0.001, OpKinds(1, 0, 2)), (2.0, OpKinds(3, 0, 0))])
def test_divisors_near_zero(tmp_path: Path, smallest: float, expected: OpKinds) -> None:
    """An integer of 0 would stop the interpreter."""
    before, after = saved(tmp_path / "before.tflite", quotient(smallest)), tmp_path / "after.tflite"
    found = quantize_model(before, after, "int8", take_samples([{"x": X, "z": X}]))
    assert found.kinds == expected
    reasons = {"its divisor may become 0 in integers", "it computes a divisor, which may become 0 in integers"}
    assert {each.reason for each in found.floats} == (reasons if expected.real else set())
    runner = Interpreter(after).get_signature_runner()
    for _ in range(2):
        y: Any = runner(x=X, z=X)["y"]
        np.testing.assert_allclose(y[0, [0, 2, 3]], (X / (X * X + smallest))[0, [0, 2, 3]], atol=0.05)


@pytest.mark.parametrize(
    ("divisors", "expected"),
    [([2.0, -1.0, 1.5, 3.0], OpKinds(1, 0, 0)), ([2.0, 0.001, 1.5, 3.0], OpKinds(0, 0, 1))],
)
def test_constant_divisors_near_zero(tmp_path: Path, divisors: list[float], expected: OpKinds) -> None:
    graph = Graph()
    graph.builtin(
        "DIV", [graph.input("x", [1, 4]), graph.tensor("divisor", [4], value=divisors)], [graph.output("y", [1, 4])]
    )
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    found = quantize_model(before, after, "int8", take_samples([{"x": X}]))
    assert found.kinds == expected
    assert [each.reason for each in found.floats] == ["its divisor may become 0 in integers"] * expected.real
    y = Interpreter(after).get_signature_runner()(x=X)["y"]
    np.testing.assert_allclose(y, X / np.array(divisors), rtol=0.1, atol=0.1)


@pytest.mark.parametrize(("form", "expected"), [("int8", OpKinds(1, 0, 0)), ("int16", OpKinds(0, 0, 1))])
def test_products_with_a_constant_first_factor(tmp_path: Path, form: QuantizationForm, expected: OpKinds) -> None:
    graph = Graph()
    weights = np.random.default_rng(1).normal(size=(2, 3, 64)).astype(np.float32)
    x, w = graph.input("x", [2, 64, 5]), graph.tensor("w", [2, 3, 64], value=weights)
    graph.builtin("BATCH_MATMUL", [w, x], [graph.output("y", [2, 3, 5])])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    rows = [np.random.default_rng(each).normal(size=(2, 64, 5)).astype(np.float32) for each in range(8)]
    found = quantize_model(before, after, form, take_samples(rows))
    assert found.kinds == expected
    runner = Interpreter(after).get_signature_runner()
    for _ in range(2):
        np.testing.assert_allclose(runner(x=rows[0])["y"], weights @ rows[0], atol=0.4)


Ends = tuple[float, float]
DIVISOR, COMPUTES = "its divisor may become 0 in integers", "it computes a divisor, which may become 0 in integers"


def withheld(graph: Graph, bits: int = 8, **ends: Ends) -> dict[str, str]:
    """The ops of a graph that stay in floating point, behind a subgraph without ops."""
    ranges: Any = {name: {"min": np.array([low]), "max": np.array([high])} for name, (low, high) in ends.items()}
    return withheld_ops(objects_of(model(Graph(), graph)), ranges, bits)


@pytest.mark.parametrize(
    ("ends", "may"),
    [
        ((1.0, 16.0), False),
        ((0.99, 16.0), True),
        ((-16.0, -1.0), False),
        ((-16.0, -0.99), True),
        ((-1.0, 1.0), True),
        ((0.0, 1.0), True),
        ((-1.0, 0.0), True),
    ],
)
def test_ranges_of_divisors(ends: Ends, may: bool) -> None:
    graph = Graph()
    x, divisor, other = graph.input("x", [4]), graph.tensor("divisor", [4]), graph.tensor("other", [4])
    graph.builtin("SPLIT", [x, x], [other, divisor])
    graph.builtin("DIV", [x, divisor], [graph.output("y", [4])])
    assert withheld(graph, divisor=ends) == ({"y": DIVISOR, "other": COMPUTES} if may else {})
    assert withheld(graph) == {}


def test_divisors_that_are_constants_or_integers() -> None:
    graph = Graph()
    x, i = graph.input("x", [2]), graph.input("i", [2], np.int32)
    graph.builtin("DIV", [x, graph.tensor("c", [2], value=[-16.0, 0.5])], [graph.output("y", [2])])
    graph.builtin("DIV", [x, graph.tensor("d", [2], value=[-16.0, 1])], [graph.output("z", [2])])
    graph.builtin("DIV", [x, graph.tensor("nothing", [0], value=[])], [graph.output("v", [2])])
    graph.builtin("DIV", [i, i], [graph.output("w", [2], np.int32)])
    assert withheld(graph, i=(-1.0, 1.0)) == {"y": DIVISOR}


@pytest.mark.parametrize(
    ("kind", "bits", "constant", "stays"),
    [
        ("BATCH_MATMUL", 16, 0, True),
        ("FULLY_CONNECTED", 16, 0, True),
        ("BATCH_MATMUL", 8, 0, False),
        ("BATCH_MATMUL", 16, 1, False),
        ("MUL", 16, 0, False),
    ],
)
def test_constant_factors(kind: str, bits: int, constant: int, stays: bool) -> None:
    graph = Graph()
    operands = [graph.input("x", [2, 2]), graph.input("z", [2, 2])]
    operands[constant] = graph.tensor("c", [2, 2], value=np.ones((2, 2)))
    graph.builtin(kind, operands, [graph.output("y", [2, 2])])
    assert [*withheld(graph, bits)] == ["y"] * stays


@pytest.mark.parametrize("kind", ["NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"])
def test_what_prepares_a_suppression(kind: str) -> None:
    """The ops that make its operands, one behind the other, up to others and to what only picks."""
    graph = Graph()
    x = graph.input("x", [4])
    names = ("tanh", "mask", "boxes", "scaled", "moved", "picked", "cut", "unread")
    tanh, mask, boxes, scaled, moved, picked, cut, unread = (graph.tensor(name, [4]) for name in names)
    graph.builtin("TANH", [x], [tanh])
    graph.builtin("MUL", [tanh, x], [scaled])
    graph.builtin("ADD", [scaled, scaled], [moved])
    graph.builtin("GREATER", [x, moved], [mask])
    graph.builtin("ABS", [x], [boxes])
    graph.builtin("SELECT_V2", [mask, boxes, moved], [picked])
    graph.builtin("SLICE", [picked, picked, picked], [cut])
    graph.builtin("ABS", [x], [unread])
    graph.builtin(kind, [cut, mask], [graph.output("y", [4])])
    assert {*withheld(graph)} == {"cut", "mask", "moved", "scaled"}
    graph.operators[-1][0].inputs = [picked]
    assert {*withheld(graph)} == {"picked", "mask", "moved", "scaled"}


def test_what_prepares_a_suppression_in_a_loop() -> None:
    """There, boxes are known by a constant that puts them far away."""
    for far, expected in ((FAR, {"summed", "moved"}), (np.array(FAR) * 2, set[str]())):
        graph = Graph()
        x, moved, summed = graph.input("x", [1, 4]), graph.tensor("moved", [1, 4]), graph.tensor("summed", [1, 4])
        constant = graph.tensor("far", np.shape(far), value=far)
        graph.builtin("ADD", [x, constant], [moved])
        graph.builtin("MUL", [moved, moved], [summed])
        graph.builtin("TANH", [summed], [graph.output("y", [1, 4])])
        assert {*withheld(graph)} == expected


def test_a_target_without_kernels_of_integers(tmp_path: Path) -> None:
    """What it lacks is looked up, or stays in floating point where it cannot look up either."""
    graph = Graph()
    x, power = graph.input("x", [1, 4]), graph.tensor("power", [1, 4])
    graph.builtin("EXP", [x], [power])
    graph.builtin("ADD", [power, x], [graph.output("y", [1, 4])])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"

    def floats(*no_integers: str) -> dict[str, str]:
        traits = traits_of("cpu")._replace(no_integers=frozenset(no_integers))
        difference = quantize_model(before, after, "int8", take_samples([X]), traits=traits)
        return {op.op: op.reason for op in difference.floats}

    assert floats() == {}
    assert inspect_litert_model(after).op_counts["EXP"] == 1
    assert floats("EXP int8") == {}
    assert inspect_litert_model(after).op_counts["GATHER"] == 1
    y = Interpreter(after).get_signature_runner()(x=X)["y"]
    np.testing.assert_allclose(y, np.exp(X) + X, atol=0.1)
    assert floats("EXP int8", "GATHER int8") == {"EXP": "the target has no kernel of it that takes int8"}
