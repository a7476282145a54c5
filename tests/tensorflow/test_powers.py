"""Powers with a constant exponent: products and roots, whatever the rank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.process import TensorFlow

SHAPES = [(), (None,), (None, 3), (None, 2, 3, 2), (None, 2, 1, 3, 2), (2, None, 1, 2, 3, 2)]
EXPONENTS = (-0.5, 0.5, 1.0, 2.0, 3.0, 4.0)


def powers(tf: Any, shape: Any, dtype: str, exponents: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec(shape, dtype, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {f"y{number}": tf.pow(x, tf.constant(each, dtype)) for number, each in enumerate(exponents)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("shape", SHAPES)
def test_floats(tensorflow: TensorFlow, shape: Any) -> None:
    path = tensorflow.save(powers, shape, "float32", EXPONENTS)
    sets = [{"x": np.abs(each["x"])} for each in normal({"x": shape})]
    for each in sets:
        each["x"].reshape(-1)[:1] = 0.0  # whose reciprocal root is infinite
    result = check(tensorflow, path, sets)
    counts = op_counts(result.model_bytes)
    assert not counts.keys() & {"POW", "RSQRT", "BROADCAST_TO"}
    assert counts["MUL"] in {3, 5}  # the square may be shared


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers(tensorflow: TensorFlow, shape: Any, dtype: str) -> None:
    path = tensorflow.save(powers, shape, dtype, (2, 3, 4))
    sets = [{"x": np.round(each["x"] * 9).astype(dtype)} for each in normal({"x": shape})]
    counts = op_counts(check(tensorflow, path, sets).model_bytes)
    assert "POW" not in counts


def gelu(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3.0))
        return {"y": 0.5 * x * (1.0 + tf.tanh(inner))}

    module.serve = serve
    return module, {"serving_default": serve}


def test_the_cube_in_gelu(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(gelu), normal({"x": (None, 8)}))
    assert op_counts(result.model_bytes) == {"GELU": 1}
