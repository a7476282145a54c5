"""Tensors with masks, which stay in floating point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.calibration import Ranges, ranges_of
from litefuse.conversion.quantization.ops_left_in_float import masked_tensors
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import masked_scores, saved, take_samples
from tests.litert.runtime.models import Graph, model


def read(content: bytes) -> Any:
    return schema.ModelT.InitFromObj(schema.Model.GetRootAs(content))


def sizes(**found: float) -> Ranges:
    """Ranges from minus to plus a number."""
    return {
        name: {"min": np.full(1, -size, np.float32), "max": np.full(1, size, np.float32)}
        for name, size in found.items()
    }


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ([0, 0, -1e9], {"masked", "y"}),
        ([0, 0, -10000], {"masked", "y"}),
        ([0, 0, -500], set[str]()),  # too small to be a mask
        ([0, 0, 0], set[str]()),
    ],
)
def test_a_constant_mask_until_softmax(tmp_path: Path, mask: list[float], expected: set[str]) -> None:
    path = saved(tmp_path / "model.tflite", masked_scores(mask))
    calls = {"serve": [{"x": np.array([[1, -2, 3]], np.float32)}]}
    assert masked_tensors(read(path.read_bytes()), ranges_of(path, calls)) == expected


def test_large_numbers_that_are_no_masks() -> None:
    """What is a hundred times as large as the mask's other numbers is one, and no more."""
    content = model(masked_scores([0, 0, -1e6]), signatures={"serve": 0})
    small = sizes(x=1, scores=2, masked=1e6, y=1)
    assert masked_tensors(read(content), small) == {"masked", "y"}
    assert masked_tensors(read(content), {**small, **sizes(scores=1e5)}) == set()


def chosen(graph: Graph, x: int, y: int) -> None:
    """``y = where(keep, x, -inf)``."""
    keep = graph.input("keep", [1, 3], np.bool_)
    nothing = graph.tensor("nothing", [1, 3], value=np.full((1, 3), -np.inf))
    graph.builtin("SELECT_V2", [keep, x, nothing], [y])


def scaled_up(graph: Graph, x: int, y: int) -> None:
    """Numbers that have become infinite: a fault of the model, or of its samples."""
    graph.builtin("MUL", [x, x], [y])


@pytest.mark.parametrize(("body", "expected"), [(chosen, {"middle", "y"}), (scaled_up, {"y"})])
def test_infinity_is_a_mask_where_it_is_put_in(body: Callable[[Graph, int, int], None], expected: set[str]) -> None:
    graph = Graph()
    x, middle, y = graph.input("x", [1, 3]), graph.tensor("middle", [1, 3]), graph.output("y", [1, 3])
    body(graph, x, middle)
    graph.builtin("SOFTMAX", [middle], [y], beta=1.0)
    content = model(graph, signatures={"serve": 0})
    # What takes infinity stays in floating point, whatever it is; what gives it has no range, where it is no mask.
    assert masked_tensors(read(content), sizes(x=3, middle=np.inf, y=1)) == expected


def test_graphs_that_are_no_signatures_are_not_looked_at() -> None:
    graphs = [masked_scores([0, 0, -1e9]), masked_scores([0, 0, 0])]
    first, second = (read(model(*graphs, signatures={"serve": index})) for index in (0, 1))
    assert masked_tensors(first, sizes(x=1, scores=2, masked=1e9, y=1)) == {"masked", "y"}
    assert masked_tensors(second, sizes(x=1, scores=2, masked=2, y=1)) == set()


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize(
    ("mask", "squeezed"), [([0, -1e9, 0, 0], False), ([0, 0, -3e38, -10000], False), ([0, -1e9, 0, 0], True)]
)
def test_masks_before_softmax_become_integers(tmp_path: Path, mask: list[float], squeezed: bool, form: Any) -> None:
    graph, after = masked_scores(mask, squeezed=squeezed), tmp_path / "after.tflite"
    before = saved(tmp_path / "before.tflite", graph)
    rows = [np.random.default_rng(seed).normal(size=(1, 4)).astype(np.float32) for seed in range(16)]
    found = quantize_model(before, after, form, take_samples(rows))
    assert found.floats == ()
    real, integers = (Interpreter(path).get_signature_runner() for path in (before, after))
    for row in (*rows[:4], rows[0]):
        np.testing.assert_allclose(integers(x=row)["y"], real(x=row)["y"], atol=0.03 if form == "int8" else 0.001)
