"""Loops in integers: numbers as in floating point, one scale for what is carried, and what stays in floating point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import litefuse
from litefuse.conversion.quantization.difference import Difference
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import QuantizationError
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.export.editor import editors_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization
from litefuse.support.report.quantized import QuantizationReport
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

STEPS, WIDTH = 7, 6
WEIGHTS = (np.random.default_rng(5).normal(size=(WIDTH, WIDTH)) * 0.4).astype(np.float32)
_Array = npt.NDArray[np.float32]
Build = Callable[[], tuple[Graph, ...]]


def counting(carried: int, *, steps: int = STEPS, rows: int = 1) -> tuple[Graph, Graph, list[int]]:
    """The condition of a loop that counts its steps, and its body up to the next count; what the body takes."""
    condition, body = Graph(), Graph()
    at, limit = condition.input("at", [], np.int32), condition.tensor("limit", [], np.int32, value=steps)
    for place in range(carried):
        condition.input(f"unread{place}", [rows, WIDTH])
    condition.builtin("LESS", [at, limit], [condition.output("more", [], np.bool_)])
    count, one = body.input("count", [], np.int32), body.tensor("one", [], np.int32, value=1)
    taken = [body.input(f"taken{place}", [rows, WIDTH]) for place in range(carried)]
    body.builtin("ADD", [count, one], [body.output("next", [], np.int32)])
    return condition, body, taken


def looped(condition: Graph, body: Graph, *first: float | str, rows: int = 1, signature: Any = None) -> Graph:
    """A signature that runs a loop, whose values begin with constants or inputs; the last one is its output."""
    graph = Graph()
    zero = graph.tensor("zero", [], np.int32, value=0)
    made = {name: graph.input(name, [rows, WIDTH], signature=signature) for name in first if isinstance(name, str)}
    values = [
        made[value]
        if isinstance(value, str)
        else graph.tensor(f"first{place}", [rows, WIDTH], value=np.full((rows, WIDTH), value))
        for place, value in enumerate(first)
    ]
    results = [graph.tensor(f"last{place}", [rows, WIDTH], signature=signature) for place in range(len(first) - 1)]
    results.append(graph.output("y", [rows, WIDTH], signature=signature))
    options = {"condSubgraphIndex": 1, "bodySubgraphIndex": 2}
    graph.builtin("WHILE", [zero, *values], [graph.tensor("counted", [], np.int32), *results], **options)
    return graph


def dense(body: Graph, x: int, result: int, name: str = "weights") -> None:
    body.builtin("FULLY_CONNECTED", [x, body.tensor(name, [WIDTH, WIDTH], value=WEIGHTS), -1], [result])


def cell() -> tuple[Graph, ...]:
    """``h = tanh(W h + x)``, where the first state is larger than what TANH makes."""
    condition, body, (x, h) = counting(2)
    product, total = body.tensor("product", [1, WIDTH]), body.tensor("total", [1, WIDTH])
    dense(body, h, product)
    body.builtin("ADD", [product, x], [total])
    body.outputs.append(x)
    body.builtin("TANH", [total], [body.output("state", [1, WIDTH])])
    return looped(condition, body, "x", 3.0), condition, body


def swapped() -> tuple[Graph, ...]:
    """``a, b = b, W a + x``: a value goes from one place to another."""
    condition, body, (x, a, b) = counting(3)
    less = body.tensor("less", [1, WIDTH])
    dense(body, a, less)
    body.outputs += [x, b]
    body.builtin("ADD", [less, x], [body.output("sum", [1, WIDTH])])
    return looped(condition, body, "x", 0.5, 0.0), condition, body


def replaced() -> tuple[Graph, ...]:
    """One value becomes a constant after the first step."""
    condition, body, (x, a, b) = counting(3)
    constant = body.tensor("constant", [1, WIDTH], value=np.full((1, WIDTH), -2.0))
    body.outputs += [x, constant]
    less, total = body.tensor("less", [1, WIDTH]), body.tensor("total", [1, WIDTH])
    dense(body, b, less)
    body.builtin("ADD", [less, a], [total])
    body.builtin("ADD", [total, x], [body.output("sum", [1, WIDTH])])
    return looped(condition, body, "x", 0.5, 0.0), condition, body


def nested() -> tuple[Graph, ...]:
    """A loop of three steps whose steps are two of another one."""
    outer_condition, outer, (x, h) = counting(2, steps=3)
    condition, body, (given, state) = counting(2, steps=2)
    for graph, prefix in ((condition, "inner_condition_"), (body, "inner_")):
        for tensor, _ in graph.tensors:
            tensor.name = prefix + tensor.name
    for tensor, _ in outer_condition.tensors:
        tensor.name = "outer_condition_" + tensor.name
    product = body.tensor("product", [1, WIDTH])
    dense(body, state, product)
    body.outputs.append(given)
    body.builtin("ADD", [product, given], [body.output("added", [1, WIDTH])])
    zero, counted = outer.tensor("begin", [], np.int32, value=0), outer.tensor("counted2", [], np.int32)
    same, inner = outer.tensor("same", [1, WIDTH]), outer.tensor("inner", [1, WIDTH])
    options = {"condSubgraphIndex": 3, "bodySubgraphIndex": 4}
    outer.builtin("WHILE", [zero, x, h], [counted, same, inner], **options)
    outer.outputs.append(x)
    outer.builtin("TANH", [inner], [outer.output("state", [1, WIDTH])])
    return looped(outer_condition, outer, "x", 0.25), outer_condition, outer, condition, body


def shared() -> tuple[Graph, ...]:
    """Two loops with one body, on values of other sizes."""
    graph, condition, body = cell()
    options = {"condSubgraphIndex": 1, "bodySubgraphIndex": 2}
    zero, wide = graph.tensor("zero2", [], np.int32, value=0), graph.tensor("wide", [1, WIDTH])
    graph.builtin("MUL", [graph.inputs[0], graph.tensor("five", [], value=5.0)], [wide])
    results = [graph.tensor("counted3", [], np.int32), graph.tensor("wide2", [1, WIDTH]), graph.output("z", [1, WIDTH])]
    graph.builtin("WHILE", [zero, wide, graph.outputs[0]], results, **options)
    return graph, condition, body


def rows() -> list[_Array]:
    random = np.random.default_rng(3)
    return [random.normal(size=(1, WIDTH)).astype(np.float32) for _ in range(30)]


def results(path: Path, x: _Array) -> dict[str, Any]:
    runner: Any = Interpreter(path).get_signature_runner()
    first, again = (runner(x=x) for _ in range(2))
    for name, value in first.items():
        np.testing.assert_array_equal(again[name], value)
    return first


def quantized(tmp_path: Path, build: Build, form: QuantizationForm, **options: Any) -> tuple[Difference, Path, Path]:
    before, after = saved(tmp_path / "before.tflite", *build()), tmp_path / "after.tflite"
    return (
        quantize_model(before, after, Quantization(form, **options), take_samples(rows())),
        before,
        after,
    )


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("build", [cell, swapped, replaced, nested, shared])
def test_all_of_a_loop(tmp_path: Path, build: Build, form: QuantizationForm) -> None:
    found, before, after = quantized(tmp_path, build, form)
    assert not found.floats
    graphs = editors_of(read_model(after))
    for graph in graphs[1:]:
        assert not any(graph.is_type(index, "float32") for index in range(len(graph.graph.tensors)))
    for graph in graphs:
        for op in (op for op in graph.ops if graph.kind(op) == "WHILE"):
            body = graphs[int(op.builtinOptions.bodySubgraphIndex)]
            for place, index in enumerate(map(int, op.inputs)):
                scales = {body.scale(body.graph.inputs[place]), body.scale(body.graph.outputs[place])}
                assert scales == {graph.scale(index)} == {graph.scale(op.outputs[place])}
    errors = [
        np.abs(results(after, x)[name] - exact).mean() / np.abs(exact).max()
        for x in rows()[:10]
        for name, exact in results(before, x).items()
    ]
    assert np.mean(errors) < (0.03 if form == "int8" else 0.005)


def by_value() -> tuple[Graph, ...]:
    """It goes on until a number is small, which the body says: rounded, it might never be."""
    condition, body = Graph(), Graph()
    condition.outputs.append(condition.input("more", [1], np.bool_))
    condition.input("unread", [1, WIDTH])
    body.input("more_before", [1], np.bool_)
    taken, half = body.input("taken", [1, WIDTH]), body.tensor("half", [], value=0.5)
    less, largest = body.tensor("less", [1, WIDTH]), body.tensor("largest", [1])
    body.builtin("MUL", [taken, half], [less])
    body.builtin("REDUCE_MAX", [less, body.tensor("axis", [1], np.int32, value=[1])], [largest], keepDims=False)
    body.builtin("GREATER", [largest, body.tensor("small", [1], value=[1e-3])], [body.output("go", [1], np.bool_)])
    body.outputs.append(less)
    graph = Graph()
    true, x = graph.tensor("true", [1], np.bool_, value=[True]), graph.input("x", [1, WIDTH])
    after = [graph.tensor("false", [1], np.bool_), graph.output("y", [1, WIDTH])]
    graph.builtin("WHILE", [true, x], after, condSubgraphIndex=1, bodySubgraphIndex=2)
    return graph, condition, body


def never() -> tuple[Graph, ...]:
    """A loop without a step."""
    condition, body, (x, h) = counting(2, steps=0)
    body.outputs.append(x)
    dense(body, h, body.output("state", [1, WIDTH]))
    return looped(condition, body, "x", 3.0), condition, body


@pytest.mark.parametrize(("build", "options"), [(by_value, {}), (never, {}), (cell, {"keep_float_ops": ("WHILE",)})])
def test_what_stays_in_floating_point(tmp_path: Path, build: Build, options: dict[str, Any]) -> None:
    found, before, after = quantized(tmp_path, build, "int8", **options)
    assert "WHILE" in {op.op for op in found.floats}
    for x in rows()[:3]:
        for name, exact in results(before, x).items():
            np.testing.assert_allclose(results(after, x)[name], exact, atol=0.05)


def test_an_op_without_an_integer_kernel(tmp_path: Path) -> None:
    """It is looked up in a table."""

    def build() -> tuple[Graph, ...]:
        condition, body, (x, h) = counting(2)
        total, product = body.tensor("total", [1, WIDTH]), body.tensor("product", [1, WIDTH])
        cosine = body.tensor("cosine", [1, WIDTH])
        dense(body, h, product)
        body.builtin("COS", [product], [cosine])
        body.builtin("ADD", [cosine, x], [total])
        body.outputs.append(x)
        body.builtin("TANH", [total], [body.output("state", [1, WIDTH])])
        return looped(condition, body, "x", 3.0), condition, body

    found, before, after = quantized(tmp_path, build, "int8")
    assert not found.floats
    x = rows()[0]
    np.testing.assert_allclose(results(after, x)["y"], results(before, x)["y"], atol=0.05)


@pytest.mark.parametrize("build", [cell, nested])
def test_auto_is_never_worse_than_int16(tmp_path: Path, build: Build) -> None:
    """Mixed with int8, loops stay int8 whatever the layers around them are."""
    before = saved(tmp_path / "before.tflite", *build())

    def report(form: QuantizationForm, **options: Any) -> QuantizationReport:
        chosen = litefuse.Quantization(form, samples=rows(), require_integer=True, **options)
        quantization = litefuse.quantize(before, chosen).report.quantization
        assert quantization is not None
        return quantization

    narrow, wide = (report(form).error or 0.0 for form in ("int8", "int16"))
    assert wide < narrow / 2
    auto = report("auto", max_error=(narrow + wide) / 2)
    assert auto.error == wide
    assert auto.form == "int16"
    assert f"{narrow:.1g}" in auto.instead
    assert report("auto", max_error=narrow * 1.01).form == "int8"
    with pytest.raises(QuantizationError, match=f"by {wide:.2g} of its"):
        report("auto", max_error=wide / 2)


def test_verification(tmp_path: Path) -> None:
    """A loop is off by more steps than one op, which rounding in it explains; spoiled weights are found."""
    _, before, after = quantized(tmp_path, cell, "int8")
    assert litefuse.verify_model(after, before, layers=True).ok

    def spoil(model: Any) -> bool:
        body = editors_of(model)[2]
        (product,) = [op for op in body.ops if body.kind(op) == "FULLY_CONNECTED"]
        weights = model.buffers[body.tensor(int(product.inputs[1])).buffer]
        weights.data = np.asarray(weights.data, np.uint8)[::-1].copy()
        return True

    edit_file(after, spoil)
    assert not litefuse.verify_model(after, before, layers=True).ok
