"""Ops that stay in floating point because LiteRT refuses their integer forms, or stops in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import Quantization
from litefuse.support.report.quantized import OpKinds
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

X = np.array([[-3.0, -0.001, 0.5, 2.0]], np.float32)


def quotient(smallest: float) -> Graph:
    """``y = x / (x * x + smallest)``."""
    graph = Graph()
    x, size, divisor = graph.input("x", [1, 4]), graph.tensor("size", [1, 4]), graph.tensor("divisor", [1, 4])
    graph.builtin("MUL", [x, x], [size])
    graph.builtin("ADD", [size, graph.tensor("smallest", [], value=smallest)], [divisor])
    graph.builtin("DIV", [x, divisor], [graph.output("y", [1, 4])])
    return graph


@pytest.mark.parametrize(("smallest", "expected"), [(0.001, OpKinds(1, 0, 2)), (2.0, OpKinds(3, 0, 0))])
def test_divisors_near_zero(tmp_path: Path, smallest: float, expected: OpKinds) -> None:
    """An integer of 0 would stop the interpreter."""
    before, after = saved(tmp_path / "before.tflite", quotient(smallest)), tmp_path / "after.tflite"
    found = quantize_model(before, after, "int8", take_samples([{"x": X}]))
    assert found.kinds == expected
    reasons = {"its divisor may become 0 in integers", "it computes a divisor, which may become 0 in integers"}
    assert {each.reason for each in found.floats} == (reasons if expected.real else set())
    runner = Interpreter(after).get_signature_runner()
    for _ in range(2):
        y: Any = runner(x=X)["y"]
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
def test_products_with_a_constant_first_factor(tmp_path: Path, form: Quantization, expected: OpKinds) -> None:
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
