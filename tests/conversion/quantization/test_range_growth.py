"""Whether the samples suffice, and the progress over them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization import dataset
from litefuse.conversion.quantization.dataset import SampleProgress
from litefuse.conversion.quantization.effect import RangeGrowth, check_difference
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import QuantizationError
from tests.conversion.quantization.models import dense, saved, take_samples

WEIGHTS = np.random.default_rng(1).normal(size=(8, 16)).astype(np.float32)


def growth(*bounds: tuple[float, float]) -> dict[str, float]:
    """The growth of a tensor's range, of which the bounds after each sample are given."""
    found = RangeGrowth()
    for number, (least, largest) in enumerate(bounds, 1):
        ranges = {"t": {"min": np.full(1, least, np.float32), "max": np.full(1, largest, np.float32)}}
        found.observe(ranges, number, len(bounds))
    return {each.tensor: each.growth for each in found.moving()}


def test_the_last_quarter_counts() -> None:
    assert growth((0, 1), (0, 1), (0, 1), (0, 2)) == {"t": 0.5}
    assert growth((0, 1), (0, 1), (0, 2), (0, 2)) == {}  # it grew before
    assert growth(*[(-1, 3)] * 6, (-2, 3), (-2, 3)) == {"t": pytest.approx(0.2)}
    assert growth((0, 100), (0, 100), (0, 100), (0, 101)) == {}  # by less than 5%


def test_a_range_begins_at_zero_as_it_is_quantized() -> None:
    assert growth((5, 6), (4, 6)) == {}
    assert growth((5, 6), (5, 12)) == {"t": 0.5}


def test_one_sample_and_ranges_without_width_tell_nothing() -> None:
    assert growth((0, 1)) == {}
    assert growth((0, 0), (0, 0)) == {}
    assert growth((0, 1), (0, np.inf)) == {}


def test_a_tensor_apart_is_left_out() -> None:
    found = RangeGrowth()
    for number in (1, 2):
        ranges = {"t": {"min": np.zeros(1, np.float32), "max": np.full(1, number, np.float32)}}
        found.observe(ranges, number, 2)
    assert [each.tensor for each in found.moving()] == ["t"]
    assert found.moving({"t"}) == ()


def test_those_that_grew_most_come_first() -> None:
    observer = RangeGrowth()
    for number, largest in ((1, (1, 1, 1)), (2, (2, 4, 4))):
        ends = zip("cba", largest, strict=True)
        ranges = {name: {"min": np.zeros(1, np.float32), "max": np.full(1, end, np.float32)} for name, end in ends}
        observer.observe(ranges, number, 2)
    assert [(range_.tensor, range_.growth) for range_ in observer.moving()] == [("a", 0.75), ("b", 0.75), ("c", 0.5)]


def test_differences_that_are_allowed() -> None:
    check_difference(0.1, None, 0.1, "samples")
    for error in (0.11, np.nan):
        with pytest.raises(QuantizationError, match=r"of its largest element on samples; 0\.1 is allowed"):
            check_difference(error, None, 0.1, "samples")
    with pytest.raises(QuantizationError, match="was not measured: it has no outputs"):
        check_difference(None, "it has no outputs", 0.1, "samples")


@pytest.mark.parametrize(("late", "expected"), [(1.0, set[str]()), (3.0, {"x", "y"})])
def test_a_calibration_tells_of_it(tmp_path: Path, late: float, expected: set[str]) -> None:
    one = np.random.default_rng(2).normal(size=(1, 16)).astype(np.float32)
    samples = take_samples([*[{"x": one}] * 6, {"x": one * late}, {"x": one}])
    found = quantize_model(saved(tmp_path / "before.tflite", dense(WEIGHTS)), tmp_path / "a.tflite", "int8", samples)
    assert found.samples == 8
    assert {each.tensor for each in found.moving} == expected
    assert not [each for each in found.moving if each.growth != pytest.approx(2 / 3, abs=1e-5)]


def test_progress_tells_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 30.0)  # each sample takes 30 seconds
    monkeypatch.setattr(dataset.time, "monotonic", lambda: next(clock))
    told: list[str] = []
    counted = SampleProgress(told.append, "quantize", 244)
    for _ in range(3):
        counted.advance()
    SampleProgress(told.append, "samples").advance()
    assert told == [
        "quantize: sample 1 of 244, 2 h 1 min left",
        "quantize: sample 2 of 244, 2 h 1 min left",
        "quantize: sample 3 of 244, 2 h 0 min left",
        "samples: sample 1",
    ]


def test_progress_is_not_told_too_often() -> None:
    told: list[str] = []
    counted = SampleProgress(told.append, "quantize", 1000)
    for _ in range(1000):
        counted.advance()
    assert len(told) <= 2
