"""The ranges of what a model computes, over all samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.calibration import (
    Ranges,
    check_finite,
    derived_of_constants,
    ranges_of,
    ranges_of_empty_tensors,
    read_once,
)
from litefuse.conversion.quantization.samples import Calls
from litefuse.errors import InterpreterError
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.schema_objects import objects_of
from tests.conversion.quantization.models import masked_scores, saved, scaled
from tests.litert.runtime.models import Graph, model


def bounds(ranges: Ranges, name: str) -> tuple[float, float]:
    return ranges[name]["min"].item(), ranges[name]["max"].item()


def test_from_the_least_to_the_largest_in_any_call(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", scaled(-2.0, rows=1))
    calls: Calls = {"serve": [{"x": np.array([row], np.float32)} for row in ([1, 2, 3], [-4, 0, 1], [0, 0, 0])]}
    ranges = ranges_of(path, calls)
    assert bounds(ranges, "x") == (-4, 3)
    assert bounds(ranges, "y") == (-6, 8)


def test_what_is_between_ops_has_a_range_and_each_signature_adds_to_it(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "model.tflite", masked_scores([0, 0, -100]), scaled(1.0), signatures={"mask": 0, "scale": 1}
    )
    large = np.full((4, 3), 7, np.float32)
    ranges = ranges_of(path, {"mask": [{"x": np.array([[1, 2, 3]], np.float32)}], "scale": [{"x": large}]})
    assert bounds(ranges, "scores") == (2, 6)
    assert bounds(ranges, "masked") == (-94, 4)
    assert bounds(ranges, "x") == (1, 7)  # a tensor of each graph has this name


def test_a_sample_on_which_the_model_does_not_run_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", scaled(1.0, rows=1))
    good, bad = {"x": np.ones((1, 3), np.float32)}, {"x": np.ones((1, 3), np.int32)}
    with pytest.raises(InterpreterError, match="the model does not run on it") as raised:
        ranges_of(path, {"serve": [good, bad]})
    assert raised.value.where == "samples, sample 2 of 'serve'"


def test_what_is_not_finite_has_no_range_unless_it_stands_apart() -> None:
    def entry(least: float, largest: float) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]:
        return {"min": np.array([least], np.float32), "max": np.array([largest], np.float32)}

    ranges = {"fine": entry(-1, 1), "mask": entry(-np.inf, 0)}
    check_finite(ranges, {"mask"})
    for bad in (entry(-np.inf, 0), entry(0, np.inf), entry(np.nan, 0)):
        with pytest.raises(InterpreterError, match="the tensor 'mask' is not finite on the samples"):
            check_finite({**ranges, "mask": bad}, ())


def of_constants() -> Graph:
    graph = Graph()
    x, c = graph.input("x", [2]), graph.tensor("c", [2], value=[1.0, 2])
    names = ("shape", "twice", "thrice", "custom", "sum", "alone", "returned")
    shape, twice, thrice, custom, total, alone, returned = (graph.tensor(name, [2]) for name in names)
    graph.builtin("SHAPE", [x], [shape])
    graph.builtin("ADD", [c, c], [twice])
    graph.builtin("ADD", [twice, c], [thrice])
    graph.custom("My", [c], [custom])
    graph.builtin("ADD", [twice, x], [total])
    graph.builtin("NEG", [thrice], [alone])
    graph.builtin("FULLY_CONNECTED", [alone, c, -1], [returned])
    graph.builtin("ADD", [returned, x], [graph.output("y", [2])])
    graph.outputs.append(returned)
    graph.builtin("ABS", [c], [graph.output("an output alone", [2])])
    return graph


def test_what_depends_on_constants_and_shapes_alone(tmp_path: Path) -> None:
    content = model(Graph(), of_constants())
    graph = Model(content).graphs[1]
    derived = [graph.tensor(index).name for index in derived_of_constants(graph)]
    assert derived == ["shape", "twice", "thrice", "alone", "returned", "an output alone"]
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    assert read_once(path) == {"thrice", "alone", "an output alone"}


def test_ranges_of_what_is_empty() -> None:
    graph = Graph()
    for name, shape, dtype in (("empty", [2, 0], np.float32), ("full", [2], np.float32), ("ids", [0], np.int32)):
        graph.input(name, shape, dtype)
    ranges = ranges_of_empty_tensors(objects_of(model(Graph(), graph)))
    assert {name: bounds(ranges, name) for name in ranges} == {"empty": (0, 0)}
