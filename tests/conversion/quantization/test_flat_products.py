"""Products of int16 with more than two dimensions, which older runtimes compute with the first scale alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import litefuse
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Granularity
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(6)
WEIGHTS = RANDOM.normal(size=(3, 8)) * [[1.0], [2.0], [4.0]]
BIAS = RANDOM.normal(size=3)
ROWS = [RANDOM.normal(size=(2, 5, 8)).astype(np.float32) for _ in range(12)]


def product(*signature: int) -> Graph:
    """A product that keeps three dimensions, with weights of very different scales."""
    graph = Graph()
    sizes = [1 if size == -1 else size for size in signature]
    x = graph.input("x", (*sizes, 8), signature=(*signature, 8))
    w, b = graph.tensor("w", (3, 8), value=WEIGHTS), graph.tensor("b", (3,), value=BIAS)
    y = graph.output("y", (*sizes, 3), signature=(*signature, 3))
    graph.builtin("FULLY_CONNECTED", [x, w, b], [y], keepNumDims=True)
    return graph


def versions(path: Path) -> list[tuple[str, int]]:
    return [(op.name, op.version) for op in Model(path.read_bytes()).graphs[0].ops if op.name != "QUANTIZE"]


@pytest.mark.parametrize("signature", [(-1, 5), (2, 5), (2, -1)])
def test_they_are_of_two_dimensions(tmp_path: Path, signature: tuple[int, ...]) -> None:
    before, after = saved(tmp_path / "before.tflite", product(*signature)), tmp_path / "after.tflite"
    quantize_model(before, after, "int16", take_samples(ROWS))
    assert versions(after)[:2] == [("FULLY_CONNECTED", 7), ("RESHAPE", 1)]
    # Some readers take the sizes that the file says.
    assert [report.verdict for report in litefuse.check(after, "micro").reports] == ["accelerated"]
    expected, actual = Interpreter(before).get_signature_runner(), Interpreter(after).get_signature_runner()
    times = [2 if size == -1 else 1 for size in signature]
    for x in (ROWS[2], np.tile(ROWS[4], (*times, 1)), ROWS[2]):
        y = expected(x=x)["y"]
        assert y.shape == (*x.shape[:2], 3)
        np.testing.assert_allclose(actual(x=x)["y"], y, atol=0.01 * np.abs(y).max())


@pytest.mark.parametrize(
    ("signature", "form", "granularity"),
    [((-1, -1), "int16", "channel"), ((-1, 5), "int8", "channel"), ((-1, 5), "int16", "tensor")],
)
def test_others_stay(
    tmp_path: Path, signature: tuple[int, ...], form: QuantizationForm, granularity: Granularity
) -> None:
    before, after = saved(tmp_path / "before.tflite", product(*signature)), tmp_path / "after.tflite"
    quantize_model(
        before,
        after,
        litefuse.Quantization(form, granularity=granularity),
        take_samples(ROWS),
    )
    assert "RESHAPE" not in [name for name, _ in versions(after)]
