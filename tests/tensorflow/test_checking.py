# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import difference, normal, op_counts, op_histogram, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        ([1.0, 2.0], [1.0, 2.0], ""),
        ([1.0, 2.00003], [1.0, 2.0], "error 3e-05 is above 2e-05"),
        ([1.0, 2.00001], [1.0, 2.0], ""),
        ([1.00001, 100.0], [1.00002, 100.0], ""),
        ([0.0], [2e-5], "error 2e-05 is above 1e-05"),
        ([NAN, 1.0], [NAN, 1.0], ""),
        ([NAN, 1.0], [1.0, 1.0], "error nan is above 1e-05"),
        ([1.0, 1.0], [NAN, 1.0], "not a number and infinities stand at other places"),
        ([INF], [-INF], "not a number and infinities stand at other places"),
        ([INF], [1.0], "error inf is above 1e-05"),
        ([1.0], [[1.0]], "shape is (1,), not (1, 1)"),
        ([], [], ""),
    ],
)
def test_difference_of_floats(actual: list[Any], expected: list[Any], message: str) -> None:
    assert difference(np.array(actual), np.array(expected), rtol=1e-5) == message


def test_difference_of_other_values() -> None:
    assert difference(np.array([1, 2]), np.array([1, 3]), rtol=1.0) == "is [1, 2], not [1, 3]"
    assert difference(np.array([1, 2], np.int32), np.array([1, 2]), rtol=1.0) == "dtype is int32, not int64"
    assert difference(np.array([True]), np.array([False]), rtol=1.0) == "is [True], not [False]"
    assert difference(np.array([b"a"]), np.array([b"a"], object), rtol=0.0) == ""
    assert difference(np.array([b"a"]), np.array([b"b"], object), rtol=0.0) == "is [b'a'], not [b'b']"
    assert difference(np.array([1 + 1j]), np.array([1 - 1j]), rtol=0.1) == "error 2 is above 0.141"


def test_normal_gives_one_set_for_each_batch() -> None:
    sets = normal({"x": (None, 4), "w": (4,)}, batches=(1, 3))
    assert [{name: value.shape for name, value in each.items()} for each in sets] == [
        {"x": (1, 4), "w": (4,)},
        {"x": (3, 4), "w": (4,)},
    ]
    assert sets[0]["x"].dtype == np.float32


def two_signatures(tf: Any) -> Any:
    module = tf.Module()
    spec = [tf.TensorSpec([None], tf.float32, name="x")]
    module.double = tf.function(lambda x: {"y": tf.exp(x + x)}, input_signature=spec)
    module.square = tf.function(lambda x: {"y": x * x}, input_signature=spec)
    return module, {"double": module.double, "square": module.square}


def test_histogram_and_calls_of_a_stock_model(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(two_signatures)
    model = tensorflow.stock_convert(path)
    assert isinstance(model, bytes)
    assert op_counts(model) == {"ADD": 1, "EXP": 1, "MUL": 1}
    assert len({graph for graph, _ in op_histogram(model)}) == 2
    x = np.array([1.0, 2.0], np.float32)
    calls = [("double", {"x": x}), ("square", {"x": x[:1]}), ("square", {"x": x})]
    for ours, theirs in zip(run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True):
        assert difference(ours["y"], theirs["y"], rtol=1e-6) == ""
