# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""What quantization does to outputs: two models, called with the same inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.difference import (
    Reference,
    calls_of_random_inputs,
    difference_on_random_inputs,
)
from litefuse.conversion.quantization.quantizer_mends import share_buffers
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.runtime import interpreter
from tests.conversion.quantization.models import saved, scaled
from tests.litert.runtime.kernels import register_anything
from tests.litert.runtime.models import Graph


def still(*, moves: bool) -> Graph:
    """``y = relu(x - 1e6)``, which is 0 for any input of a usual size; ``z = x`` if that is asked for."""
    graph = Graph()
    x = graph.input("x", [1, 3])
    large = graph.tensor("large", [], value=1e6)
    low, y = graph.tensor("low", [1, 3]), graph.output("y", [1, 3])
    graph.builtin("SUB", [x, large], [low])
    graph.builtin("RELU", [low], [y])
    if moves:
        graph.builtin("NEG", [x], [graph.output("z", [1, 3])])
    return graph


@pytest.mark.parametrize("open_rows", [False, True])
def test_in_units_of_the_largest_element(tmp_path: Path, open_rows: bool) -> None:
    before = saved(tmp_path / "before.tflite", scaled(2.0, open_rows=open_rows))
    after = saved(tmp_path / "after.tflite", scaled(2.5, open_rows=open_rows))
    found = difference_on_random_inputs(before, after)
    assert (found.unchecked, found.samples) == (None, 0)
    assert found.error == pytest.approx(0.25, rel=1e-5)
    assert difference_on_random_inputs(before, before).error == 0


def test_samples_of_each_signature(tmp_path: Path) -> None:
    signatures = {"first": 0, "second": 1}
    before = saved(tmp_path / "before.tflite", scaled(1.0), scaled(1.0), signatures=signatures)
    after = saved(tmp_path / "after.tflite", scaled(1.0), scaled(0.5), signatures=signatures)
    samples = [{"x": np.full((4, 3), value, np.float32)} for value in (1, 2)]
    assert Reference(before, {"first": samples, "second": []}).difference(after).error == 0
    assert Reference(before, {"first": samples, "second": samples}).difference(after).error == 0.5


def test_only_the_first_samples_are_compared(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", scaled(1.0)), saved(tmp_path / "after.tflite", scaled(0.5))
    zeros = [{"x": np.zeros((4, 3), np.float32)}] * 16
    assert Reference(before, {"serve": [*zeros, {"x": np.ones((4, 3), np.float32)}]}).difference(after).error == 0


def test_outputs_that_stand_still_tell_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path / "still.tflite", still(moves=False))
    found = difference_on_random_inputs(path, path)
    assert found.error is None
    assert found.unchecked == "no output changes with random inputs, so they prove nothing"
    path = saved(tmp_path / "moves.tflite", still(moves=True))
    found = difference_on_random_inputs(path, path)
    assert found.error == 0
    assert found.unchecked == "y did not move with them"


def test_a_quantized_model_that_does_not_run(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", scaled(1.0))
    graph = Graph()
    graph.custom("NobodyHasAKernel", [graph.input("x", [4, 3])], [graph.output("y", [4, 3])])
    after = saved(tmp_path / "after.tflite", graph)
    with pytest.raises(LitefuseError, match="the quantized model does not run in LiteRT") as raised:
        Reference(before, {"serve": [{"x": np.ones((4, 3), np.float32)}]}).difference(after)
    assert "Convert it without quantization" in raised.value.hint


# Calls with random inputs.


def anything(
    monkeypatch: pytest.MonkeyPatch, folder: Path, function: Callable[[Any], Any], *shape: int, dtype: Any = np.float32
) -> Path:
    """``y = function(x)``."""
    register_anything(monkeypatch, function)

    graph, sizes = Graph(), [1 if size < 0 else size for size in shape]
    x, y = graph.input("x", sizes, dtype, signature=shape), graph.output("y", sizes, dtype, signature=shape)
    graph.custom("Anything", [x], [y])
    return saved(folder / "model.tflite", graph)


@pytest.mark.parametrize("size", [1, 32, 224])
def test_the_first_size_that_the_model_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    def function(x: Any) -> Any:
        if x.shape[1] != size:
            raise ValueError(f"it takes no {x.shape}")
        return x

    path = anything(monkeypatch, tmp_path, function, -1, -1)
    assert [call["x"].shape for call in calls_of_random_inputs(path)["serve"]] == [(1, size)] * 2
    assert (difference_on_random_inputs(path, path).error, difference_on_random_inputs(path, path).unchecked) == (
        0,
        None,
    )


def test_a_model_that_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reason is told."""

    def function(x: Any) -> Any:
        raise ValueError(f"it takes no {x.shape}")

    path = anything(monkeypatch, tmp_path, function, -1, -1)
    assert calls_of_random_inputs(path) == {}
    difference = difference_on_random_inputs(path, path)
    assert difference.error is None
    assert (difference.unchecked or "").startswith("the model does not run on random inputs: ")
    assert "it takes no (1, 1)" in (difference.unchecked or "")


@pytest.mark.parametrize(("refused", "largest"), [(0, 9), (1, 9), (2, 1), (3, 0)])
def test_limits_of_integers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int, largest: int) -> None:
    tried: list[Any] = []

    def function(x: Any) -> Any:
        tried.append(x)
        if len(tried) <= refused:
            raise ValueError("too large")
        return x

    calls = calls_of_random_inputs(anything(monkeypatch, tmp_path, function, 90, dtype=np.int32))["serve"]
    assert max(call["x"].max() for call in calls) == largest


@pytest.mark.parametrize(
    ("function", "refuses", "scales"),
    [
        (np.copy, None, [1, 1]),
        (lambda x: x * (np.abs(x).max() > 8), None, [1, 1, 10]),
        (lambda x: x * (np.abs(x).max() > 60), None, [1, 1, 10, 100]),
        (np.zeros_like, None, [1, 1, 10, 100, 0]),
        (np.zeros_like, lambda x: 8 < np.abs(x).max() < 60, [1, 1, 100, 0]),
        (lambda x: 1 + 0.00011 * (x > 0), None, [1, 1]),
        (lambda x: 1 + 0.00009 * (x > 0), None, [1, 1, 10, 100, 0]),
    ],
)
def test_other_numbers_until_each_output_moves(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[[Any], Any],
    refuses: Callable[[Any], bool] | None,
    scales: Sequence[float],
) -> None:
    """Those that the model takes; 0 stands for equal ones."""

    def computed(x: Any) -> Any:
        if refuses is not None and refuses(x):
            raise ValueError("it takes none of these")
        return function(x)

    calls = calls_of_random_inputs(anything(monkeypatch, tmp_path, computed, 40))["serve"]
    drawn = [call["x"] for call in calls]
    assert [0 if x.min() == x.max() else 10 ** max(round(np.log10(x.std())), 0) for x in drawn] == scales


def test_integers_are_drawn_as_the_numbers_that_they_stand_for(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", [50], np.int8), graph.output("y", [50])
    scale = schema.QuantizationParametersT()
    scale.scale, scale.zeroPoint = [0.25], [0]
    graph.tensors[x][0].quantization = scale
    graph.builtin("DEQUANTIZE", [x], [y])
    (first, second) = calls_of_random_inputs(saved(tmp_path / "model.tflite", graph))["serve"]
    assert first["x"].dtype.kind == "f"
    assert 8 < np.abs(first["x"]).max() <= 32
    assert (first["x"] != second["x"]).any()


def test_outputs_that_depend_on_no_input(tmp_path: Path) -> None:
    """They need not move."""
    graph = Graph()
    one = graph.tensor("one", [1], value=[1.0])
    graph.builtin("NEG", [one], [graph.output("constant", [1])])
    path = saved(tmp_path / "constant.tflite", graph)
    assert (difference_on_random_inputs(path, path).error, difference_on_random_inputs(path, path).unchecked) == (
        0,
        None,
    )
    graph.builtin("NEG", [graph.input("x", [2])], [graph.output("y", [2])])
    path = saved(tmp_path / "both.tflite", graph)
    assert difference_on_random_inputs(path, path).unchecked is None


# What is compared.


def of_models(folder: Path, before: Graph, after: Graph, *samples: Any) -> tuple[float, float]:
    paths = [saved(folder / f"{number}.tflite", graph) for number, graph in enumerate((before, after))]
    difference = Reference(paths[0], {"serve": [{"x": sample} for sample in samples]}).difference(paths[1])
    (output,) = difference.outputs
    assert difference.error == pytest.approx(output.error, nan_ok=True)
    assert (output.signature, output.output) == ("serve", "y")
    return output.error, output.mean


def rows(*values: float) -> Any:
    return np.array([[value, 0, 0] for value in values], np.float32)


def test_the_largest_difference_and_the_mean_one(tmp_path: Path) -> None:
    """The largest of a call is in units of its largest element, and counts though a later one has less."""
    before, after = scaled(1.0), Graph()
    after.builtin("RELU6", [after.input("x", [4, 3])], [after.output("y", [4, 3])])
    assert of_models(tmp_path, before, after, rows(8, 0, 0, 0), rows(1, 1, 1, 1)) == pytest.approx((0.25, 2 / 12))
    assert of_models(tmp_path, before, after, rows(1, 1, 1, 1), rows(8, 4, 0, 0)) == pytest.approx((0.25, 2 / 16))
    assert of_models(tmp_path, before, after, rows(0, 0, 0, 0)) == (0, 0)
    assert of_models(tmp_path, after, before, rows(-4, 0, 0, 0)) == (4, 4)  # of what is 0


def test_what_is_not_a_number(tmp_path: Path) -> None:
    """It is the largest difference, whatever comes after it."""
    graph = Graph()
    graph.builtin("SQRT", [graph.input("x", [4, 3])], [graph.output("y", [4, 3])])
    error, _ = of_models(tmp_path, scaled(1.0), graph, rows(1, 1, 1, 1), rows(-1, 1, 1, 1), rows(4, 1, 1, 1))
    assert np.isnan(error)


@pytest.mark.parametrize("shape", [[2], [0]])
def test_what_is_no_number_or_empty_is_not_compared(tmp_path: Path, shape: list[int]) -> None:
    def reshaped(dtype: Any) -> Graph:
        graph = Graph()
        sizes = graph.tensor("sizes", [1], np.int32, value=shape)
        graph.builtin("RESHAPE", [graph.input("x", shape, dtype), sizes], [graph.output("y", shape, dtype)])
        return graph

    text = reshaped("STRING")
    assert of_models(tmp_path, text, text, np.array([b"a"] * shape[0], object)) == (0, 0)
    if not shape[0]:
        assert of_models(tmp_path, reshaped(np.float32), reshaped(np.float32), np.zeros(0, np.float32)) == (0, 0)


def test_a_call_without_elements_does_not_end_the_comparison(tmp_path: Path) -> None:
    before, after = (scaled(factor, open_rows=True) for factor in (1.0, 0.5))
    assert of_models(tmp_path, before, after, np.zeros((0, 3), np.float32), rows(1, 1)) == (0.5, 0.5)


def test_complex_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their distance counts."""
    called: list[Any] = []

    def turned(x: Any) -> Any:
        called.append(x)
        return x if len(called) == 1 else x * 1j

    path = anything(monkeypatch, tmp_path, turned, 1, dtype=np.complex64)
    difference = Reference(path, {"serve": [{"x": np.array([2], np.complex64)}]}).difference(path)
    assert difference.error == pytest.approx(2**0.5)


def test_an_output_of_one_of_two_signatures(tmp_path: Path) -> None:
    signatures = {"first": 0, "second": 1}
    other = scaled(1.0)
    other.tensors[other.outputs[0]][0].name = "z"
    before = saved(tmp_path / "before.tflite", scaled(1.0), other, signatures=signatures)
    sample = {"x": np.ones((4, 3), np.float32)}
    difference = Reference(before, {"first": [sample] * 2, "second": [sample]}, 1).difference(before)
    assert [(output.signature, output.output) for output in difference.outputs] == [("first", "y"), ("second", "z")]


def test_of_a_large_model_the_smallest_signatures_with_all_weights_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weighted(rows: int, factor: float) -> Graph:
        graph = Graph()
        x = graph.input("x", [rows, 1])
        weight = graph.tensor("weight", [1 << 14], value=np.full(1 << 14, factor))
        graph.builtin("MUL", [x, weight], [graph.output("y", [rows, 1 << 14])])
        return graph

    graphs = [weighted(4, 1.0), weighted(1, 1.0), weighted(2, 3.0)]
    path = saved(tmp_path / "model.tflite", *graphs, signatures={"long": 0, "short": 1, "other": 2})
    assert edit_file(path, share_buffers)
    assert calls_of_random_inputs(path).keys() == {"long", "short", "other"}
    monkeypatch.setattr(interpreter, "_PACKED_BYTES", 0)
    assert calls_of_random_inputs(path).keys() == {"short", "other"}
    found = difference_on_random_inputs(path, path)
    assert (found.error, found.unchecked) == (0, None)
