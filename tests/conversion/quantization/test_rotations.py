"""Rotated weights of models with dynamic dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.litert_quantizer import apply_recipe
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.recipe import facts_of, recipe_of
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph


def rotated(form: QuantizationForm) -> Quantization:
    return Quantization(form, rotate="hadamard", min_weight_elements=0)


WEIGHTS = np.random.default_rng(1).normal(size=(32, 64)).astype(np.float32) * 0.02


def product(*sizes: int) -> Graph:
    """``y = tanh(x * weights.T)``, of ``[*sizes, 64]``, where -1 is any size."""
    graph, fixed = Graph(), [max(size, 1) for size in sizes]
    x = graph.input("x", [*fixed, 64], signature=[*sizes, 64])
    hidden = graph.tensor("hidden", [*fixed, 32], signature=[*sizes, 32])
    graph.builtin("FULLY_CONNECTED", [x, graph.tensor("w", [32, 64], value=WEIGHTS), -1], [hidden], keepNumDims=True)
    graph.builtin("TANH", [hidden], [graph.output("y", [*fixed, 32], signature=[*sizes, 32])])
    return graph


def looked_up(*, is_output: bool) -> Graph:
    """Rows of a table, as they are or as operands of TANH."""
    graph = Graph()
    rows = graph.input("rows", [1], dtype="INT32", signature=[-1])
    table = graph.tensor("table", [32, 64], value=WEIGHTS)
    found = (graph.output if is_output else graph.tensor)("found", [1, 64], signature=[-1, 64])
    graph.builtin("EMBEDDING_LOOKUP", [rows, table], [found])
    if not is_output:
        graph.builtin("TANH", [found], [graph.output("y", [1, 64], signature=[-1, 64])])
    return graph


def check(before: Path, after: Path, calls: list[dict[str, Any]]) -> None:
    original, quantized = (Interpreter(path).get_signature_runner() for path in (before, after))
    for call in calls:
        ((name, expected),) = original(**call).items()
        for _ in range(2):
            assert quantized(**call)[name] == pytest.approx(expected, abs=0.02 * float(np.abs(expected).max()))


@pytest.mark.parametrize("form", ["dynamic", "weights"])
@pytest.mark.parametrize("open_sizes", [(-1,), (-1, 5), (3, -1), (-1, -1), (2, 3)])
def test_products_take_any_size(tmp_path: Path, open_sizes: tuple[int, ...], form: Any) -> None:
    before, after = saved(tmp_path / "before.tflite", product(*open_sizes)), tmp_path / "after.tflite"
    quantize_model(before, after, rotated(form))
    random = np.random.default_rng(0)
    sizes = [[size if size > 0 else open_size for size in open_sizes] for open_size in (1, 4, 2)]
    check(before, after, [{"x": random.normal(size=(*each, 64)).astype(np.float32)} for each in sizes])
    assert "HADAMARD" not in str(inspect_litert_model(after).op_counts)  # an op that only some runtimes have


@pytest.mark.parametrize("is_output", [False, True])
def test_lookups_of_any_number_are_rotated_back(tmp_path: Path, is_output: bool) -> None:
    before, after = saved(tmp_path / "before.tflite", looked_up(is_output=is_output)), tmp_path / "after.tflite"
    quantize_model(before, after, rotated("weights"))
    check(before, after, [{"rows": np.arange(count, dtype=np.int32)} for count in (1, 7, 32)])


def test_the_library_alone_writes_models_of_one_row(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", product(-1)), tmp_path / "after.tflite"
    apply_recipe(before, after, recipe_of(rotated("weights"), facts_of(before)))
    with pytest.raises((RuntimeError, ValueError)):
        Interpreter(after).get_signature_runner()(x=np.zeros((3, 64), np.float32))
