"""Ops on tensors of which not even the rank is known, against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import difference, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def segments(tf: Any, kind: str) -> Any:
    """Reduces segments of a tensor that is reshaped to any shape."""
    reduce = getattr(tf.math, f"segment_{kind}")
    ids = tf.TensorSpec([4], tf.int32, name="ids")
    shape = tf.TensorSpec([None], tf.int32, name="shape")

    @tf.function(input_signature=[tf.TensorSpec([4, 6], tf.float32, name="x"), ids, shape], autograph=False)
    def serve(x: Any, ids: Any, shape: Any) -> dict[str, Any]:
        return {"y": reduce(tf.reshape(x, shape), ids)}

    module = tf.Module()
    module.serve = serve
    return module, serve.get_concrete_function()


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
def test_segments_of_any_rank(tensorflow: TensorFlow, kind: str) -> None:
    path = tensorflow.save(segments, kind)
    x, ids = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32), np.array([0, 0, 2, 2], np.int32)
    shapes = [np.array(shape, np.int32) for shape in ([4, 6], [4, 6], [4, 2, 3], [4, 1, 3, 2])]
    calls = [("serving_default", {"x": x, "ids": ids, "shape": shape}) for shape in shapes]
    result = litefuse.convert(path, checks=litefuse.Checks(file=False))  # few shapes fit
    for ours, theirs in zip(run_calls(result.model_bytes, calls), tensorflow.run_calls(path, calls), strict=True):
        assert not (problem := difference(ours["y"], theirs["y"], rtol=1e-6)), problem
