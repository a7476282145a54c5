"""What quantization does to outputs: two models, called with the same inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.difference import Reference, difference_on_random_inputs
from litefuse.errors import LitefuseError
from tests.conversion.quantization.models import saved, scaled
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
    assert found.unchecked is None
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
