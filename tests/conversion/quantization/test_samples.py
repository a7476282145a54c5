"""Representative samples as calls of a model's signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.samples import Calls, calls_of
from litefuse.errors import InterpreterError
from tests.conversion.quantization.models import dense, saved, scaled, take_samples
from tests.litert.runtime.models import Graph

WEIGHTS = np.ones((2, 4), np.float32)


def pair() -> Graph:
    """``y = x * scale``, of ``[2, 3]``."""
    graph = Graph()
    x, scale = graph.input("x", [2, 3]), graph.input("scale", [])
    graph.builtin("MUL", [x, scale], [graph.output("y", [2, 3])])
    return graph


def constant() -> Graph:
    """A signature without inputs."""
    graph = Graph()
    one = graph.tensor("one", [1], value=[1.0])
    graph.builtin("NEG", [one], [graph.output("y", [1])])
    return graph


@pytest.fixture
def two(tmp_path: Path) -> Path:
    graphs = scaled(2.0, rows=2), dense(WEIGHTS)
    return saved(tmp_path / "two.tflite", *graphs, signatures={"scale": 0, "dense": 1})


def archive(tmp_path: Path, **arrays: Any) -> Path:
    path = tmp_path / "samples.npz"
    np.savez(path, **arrays)
    return path


def refusal(dataset: Any, path: Path) -> InterpreterError:
    with pytest.raises(InterpreterError) as raised:
        calls_of(take_samples(dataset), path)
    return raised.value


def shapes(calls: Calls, signature: str) -> list[dict[str, tuple[int, ...]]]:
    return [{name: value.shape for name, value in each.items()} for each in calls[signature]]


def test_samples_of_one_signature_need_no_key(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", pair())
    x = np.ones((2, 3))
    calls = calls_of(take_samples([{"x": x, "scale": 2}, ("serve", {"x": x, "scale": 3})]), path)
    assert shapes(calls, "serve") == [{"x": (2, 3), "scale": ()}] * 2
    assert {value.dtype for each in calls["serve"] for value in each.values()} == {np.dtype(np.float32)}


def test_samples_of_several_signatures_have_keys(two: Path) -> None:
    samples = [("scale", np.ones((2, 3))), ("dense", [np.ones((1, 4))]), ("scale", np.zeros((2, 3)))]
    calls = calls_of(take_samples(samples), two)
    assert shapes(calls, "scale") == [{"x": (2, 3)}] * 2
    assert shapes(calls, "dense") == [{"x": (1, 4)}]

    assert "the sample names no signature" in refusal([np.ones((2, 3))], two).message
    error = refusal([("other", np.ones((2, 3)))], two)
    assert "the sample is for a signature 'other'" in error.message
    assert "The signatures are scale, dense" in error.hint
    assert "no sample for the signature 'dense'" in refusal(samples[:1], two).message


def test_a_signature_without_inputs_is_called_once(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.tflite", scaled(1.0, rows=1), constant(), signatures={"scale": 0, "constant": 1})
    assert calls_of(take_samples([("scale", np.ones((1, 3)))]), path)["constant"] == [{}]


def test_samples_that_do_not_fit(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", pair())
    x = np.zeros((2, 3), np.float32)
    assert "the sample lacks scale" in refusal([{"x": x}], path).message
    assert "has no input 'z'" in refusal([{"x": x, "scale": 1, "z": x}], path).message
    assert refusal([{"x": x, "scale": 1}, {"x": x[:1], "scale": 1}], path).where == "samples, sample 2"
    error = refusal([x], path)
    assert "the sample is one array, and the signature takes 2 inputs" in error.message
    assert "scale, x" in error.hint


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_has_no_range(tmp_path: Path, value: float) -> None:
    path = saved(tmp_path / "model.tflite", scaled(1.0))
    bad = np.ones((4, 3))
    bad[1, 2] = value
    error = refusal([np.ones((4, 3)), bad], path)
    assert "'x' has NaN or infinite elements" in error.message
    assert error.where == "samples, sample 2 of 'serve'"


def test_an_archive_has_one_axis_more_or_pieces(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", pair())
    rows = np.arange(18.0).reshape(6, 3)
    for x in (rows, rows.reshape(3, 2, 3)):
        calls = calls_of(archive(tmp_path, x=x, scale=np.ones(3)), path)["serve"]
        np.testing.assert_array_equal([each["x"] for each in calls], rows.reshape(3, 2, 3))
    # Where the first axis is open, each row is a sample.
    open_path = saved(tmp_path / "open.tflite", scaled(1.0, rows=1, open_rows=True))
    assert shapes(calls_of(archive(tmp_path, x=rows), open_path), "serve") == [{"x": (1, 3)}] * 6


def test_an_archive_of_several_signatures(tmp_path: Path, two: Path) -> None:
    arrays = {"scale/x": np.ones((3, 2, 3)), "dense/x": np.ones((5, 4))}
    calls = calls_of(archive(tmp_path, **arrays), two)
    assert {key: len(each) for key, each in calls.items()} == {"scale": 3, "dense": 5}
    error = refusal(archive(tmp_path, **{**arrays, "x": np.ones(3)}), two)
    assert "the arrays x are for no input" in error.message
    assert "The inputs are scale/x, dense/x." in error.hint


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.ones((2, 3))}, "the file lacks scale"),
        ({"x": np.ones((6, 3)), "scale": np.ones(2)}, "the numbers of samples differ: {'scale': 2, 'x': 3}"),
        ({"x": np.ones((5, 3)), "scale": np.ones(2)}, "'x' has 5 rows, which pieces of 2 do not divide"),
        ({"x": np.ones(6), "scale": np.ones(2)}, "'x' is float64 [6], not a series of float32 [2, 3]"),
        ({"x": np.ones((2, 4)), "scale": np.ones(1)}, "the model takes float32 [2, 3]"),
    ],
)
def test_archives_that_do_not_fit(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    path = saved(tmp_path / "model.tflite", pair())
    error = refusal(archive(tmp_path, **arrays), path)
    assert message in error.message
    assert error.where == str(tmp_path / "samples.npz")
