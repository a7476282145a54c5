"""Concatenations whose operands others read too, as in dense blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.adjusted_ranges import share_ranges
from litefuse.conversion.quantization.calibration import Ranges, ranges_of
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.samples import calls_of
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph


def dense_block(last: float = -1.1) -> Graph:
    """A pool and a product are concatenated, and their result with another product, which the last factor scales."""
    graph = Graph()
    x = graph.input("x", [1, 4, 4, 2])
    y, z = graph.output("y", [1, 2, 2, 6]), graph.output("z", [1, 2, 2, 2])
    doubled, pool = graph.tensor("doubled", [1, 4, 4, 2]), graph.tensor("pool", [1, 2, 2, 2])
    first = graph.tensor("first", [1, 2, 2, 4])
    factors = [graph.tensor(f"factor{n}", [], value=value) for n, value in enumerate((2.0, 1.5, last))]
    large, larger = graph.tensor("large", [1, 2, 2, 2]), graph.tensor("larger", [1, 2, 2, 2])
    graph.builtin("MUL", [x, factors[0]], [doubled])
    window = {"strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    graph.operators.append(_pool(graph, doubled, pool, window))
    graph.builtin("MUL", [pool, factors[1]], [large])
    graph.builtin("CONCATENATION", [pool, large], [first], axis=3)
    graph.builtin("MUL", [large, factors[2]], [larger])
    graph.builtin("CONCATENATION", [first, larger], [y], axis=3)
    graph.builtin("ADD", [pool, larger], [z])
    return graph


def _pool(graph: Graph, x: int, y: int, window: dict[str, int]) -> Any:
    graph.builtin("MAX_POOL_2D", [x], [y])
    operator: Any = graph.operators.pop()[0]
    operator.builtinOptionsType = schema.BuiltinOptions.Pool2DOptions
    operator.builtinOptions = schema.Pool2DOptionsT()
    for key, value in window.items():
        setattr(operator.builtinOptions, key, value)
    return operator, "MAX_POOL_2D", None


def rows(count: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(7)
    return [{"x": random.normal(size=(1, 4, 4, 2)).astype(np.float32)} for _ in range(count)]


def test_operands_have_the_range_of_the_last_result(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", dense_block())
    ranges = ranges_of(before, calls_of(take_samples(rows(6)), before))
    shared = share_ranges(read_model(before), ranges)
    for name in ("y", "first", "larger", "large", "pool"):
        assert shared[name] == ranges["y"], name
    assert shared["doubled"] == ranges["y"]
    assert (shared["x"], shared["z"]) == (ranges["x"], ranges["z"])
    assert ranges["pool"] != ranges["y"]  # what was given is not changed


def test_what_does_not_enclose_an_operand_is_not_its_range(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", dense_block())
    narrow: Ranges = {
        name: {"min": np.full(1, -size, np.float32), "max": np.full(1, size, np.float32)}
        for name, size in {"y": 1, "first": 2, "larger": 0.5, "pool": 3, "large": 0.6, "doubled": 9}.items()
    }
    shared = share_ranges(read_model(before), narrow)
    assert {name: float(each["max"][0]) for name, each in shared.items()} == {
        "y": 1.0,
        "larger": 1.0,
        "first": 1.0,  # nothing else reads what is beyond
        "large": 1.0,
        "pool": 3.0,
        "doubled": 3.0,  # what is beyond that of the pool, is so there
    }


@pytest.mark.parametrize(("last", "expected"), [(-1.1, 1), (-20.0, 2)])
def test_nothing_is_quantized_again_unless_it_is_small(tmp_path: Path, last: float, expected: int) -> None:
    before, after = saved(tmp_path / "before.tflite", dense_block(last)), tmp_path / "after.tflite"
    quantize_model(before, after, "int8", take_samples(rows(20)))
    assert inspect_litert_model(after).op_counts["QUANTIZE"] == expected  # one of the input
    one, other = (Interpreter(path).get_signature_runner("serve") for path in (before, after))
    for row in rows(2):
        wanted, found = one(**row), other(**row)
        for name in ("y", "z"):
            np.testing.assert_allclose(found[name], wanted[name], atol=0.05 * np.abs(wanted[name]).max())


@pytest.mark.parametrize(("other", "shared"), [(0.0, True), (-9.0, False)])
def test_states_that_selections_hand_on(tmp_path: Path, other: float, shared: bool) -> None:
    """All have one range; but not with the constant that attention has in the place of what is masked."""
    graph = Graph()
    mask, x = graph.input("mask", [4], np.bool_), graph.input("x", [4])
    first, tiny = graph.tensor("first", [4]), graph.tensor("tiny", [4])
    y, z, w = graph.output("y", [4]), graph.output("z", [4]), graph.tensor("w", [4])
    constant = graph.tensor("constant", [], value=other)
    graph.builtin("SELECT_V2", [mask, x, constant], [first])
    graph.builtin("SELECT_V2", [mask, tiny, first], [y])
    graph.builtin("SELECT_V2", [mask, w, constant], [z])
    given = {"x": (-1, 2), "first": (0, 2), "tiny": (0, 0.1), "y": (-1.5, 1), "z": (0, 3), "w": (-1, 1)}
    ranges: Ranges = {
        name: {end: np.full(1, value, np.float32) for end, value in zip(("min", "max"), each, strict=True)}
        for name, each in given.items()
    }
    found = share_ranges(read_model(saved(tmp_path / "model.tflite", graph)), ranges)
    ends = {name: (float(each["min"][0]), float(each["max"][0])) for name, each in found.items()}
    assert ends["tiny"] == pytest.approx((0, 0.1))  # little would be left of it
    assert ends["z"] == (0, 3)  # nothing is handed on
    assert ends["x"] == ((-1.5, 1) if shared else (0, 1))  # nothing reads what is not selected
    assert ends["first"] == ends["y"] == (-1.5, 1) or not shared


def test_an_operand_with_a_fixed_scale_leaves_the_others_their_range(tmp_path: Path) -> None:
    """The result of SOFTMAX is from 0 to 1, which is not the range of the concatenation that it is a part of."""
    graph = Graph()
    x, y = graph.input("x", [1, 4]), graph.output("y", [1, 8])
    softmax, half = graph.tensor("softmax", [1, 4]), graph.tensor("half", [1, 4])
    graph.builtin("SOFTMAX", [x], [softmax], beta=1.0)
    graph.builtin("MUL", [x, graph.tensor("factor", [], value=0.5)], [half])
    graph.builtin("CONCATENATION", [half, softmax], [y], axis=1)
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    random = np.random.default_rng(3)
    samples = [random.uniform(0, 5, size=(1, 4)).astype(np.float32) for _ in range(20)]
    quantize_model(before, after, "int8", take_samples(samples))
    found, expected = (Interpreter(each).get_signature_runner()(x=samples[3])["y"] for each in (after, before))
    np.testing.assert_allclose(found, expected, atol=0.03)


def test_operands_end_where_limits_do(tmp_path: Path) -> None:
    """Of what limits and slices alone read; not of what an addition reads too, nor of an output."""
    graph = Graph()
    low, high = graph.input("low", [4]), graph.input("high", [4])
    part, most, least = (graph.tensor(name, [size]) for name, size in (("part", 2), ("most", 2), ("least", 4)))
    begin, size = (graph.tensor(name, [1], np.int32, value=[value]) for name, value in (("begin", 0), ("size", 2)))
    graph.builtin("SLICE", [low, begin, size], [part])
    graph.builtin("RELU6", [part], [most])
    graph.builtin("MINIMUM", [high, graph.tensor("limit", [], value=1.0)], [least])
    graph.builtin("ADD", [least, high], [graph.output("sum", [4])])
    graph.outputs.append(most)
    given = {"low": (-9, 9), "part": (-3, 8), "most": (0, 6), "high": (-2, 5), "least": (-2, 1), "sum": (-4, 6)}
    ranges: Ranges = {
        name: {end: np.full(1, value, np.float32) for end, value in zip(("min", "max"), ends, strict=True)}
        for name, ends in given.items()
    }
    model = read_model(saved(tmp_path / "model.tflite", graph))
    found = {name: (range_["min"][0], range_["max"][0]) for name, range_ in share_ranges(model, ranges).items()}
    assert found == {**given, "part": (0, 6), "low": (0, 6)}
    assert share_ranges(model, ranges, limits=False) == ranges
