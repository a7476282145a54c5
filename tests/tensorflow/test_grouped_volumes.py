"""Convolutions of volumes in groups of channels, which TensorFlow has in code compiled by XLA only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.process import TensorFlow

SHAPES = [
    pytest.param((None, 5, 6, 7, 4), (3, 3, 3, 1, 4), (1, 1, 1), (1, 1, 1), id="depthwise"),
    pytest.param((None, 7, 6, 7, 4), (2, 3, 2, 1, 8), (2, 2, 2), (1, 1, 1), id="two filters for each channel"),
    pytest.param((None, None, 6, 7, 4), (3, 2, 2, 2, 6), (1, 2, 1), (1, 1, 1), id="two groups of open depth"),
    pytest.param((2, 5, 8, 7, 4), (1, 3, 3, 1, 4), (1, 1, 2), (1, 1, 1), id="one plane"),
    pytest.param((None, 9, 8, 7, 4), (3, 2, 2, 1, 4), (1, 1, 1), (2, 3, 3), id="dilated"),
    pytest.param((None, 5, 6, 7, 4), (2, 2, 2, 4, 3), (1, 1, 1), (1, 1, 1), id="one group"),
]


def convolution(tf: Any, shape: Any, kernel_shape: Any, strides: Any, rates: Any, padding: str) -> Any:
    module = tf.Module()
    module.kernel = tf.Variable(np.random.default_rng(5).normal(size=kernel_shape).astype(np.float32))

    @tf.function(jit_compile=True, autograph=False)
    def compiled(x: Any) -> Any:
        return tf.nn.conv3d(x, module.kernel, [1, *strides, 1], padding, dilations=[1, *rates, 1])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {"y": tf.nn.relu(compiled(x))}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize(("shape", "kernel_shape", "strides", "rates"), SHAPES)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_groups(tensorflow: TensorFlow, shape: Any, kernel_shape: Any, strides: Any, rates: Any, padding: str) -> None:
    path = tensorflow.save(convolution, shape, kernel_shape, strides, rates, padding)
    result = check(tensorflow, path, normal({"x": shape}, batches=(3, 5, 3)))
    assert ("CONV_3D" in op_counts(result.model_bytes)) == (shape[-1] == kernel_shape[-2])
