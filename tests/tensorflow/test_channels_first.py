"""Images whose channels come first: TensorFlow's kernels on CPUs lack these ops, so those of the other layout tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import difference, normal, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import Call, TensorFlow

EXPLICIT = [0, 0, 1, 0, 2, 1, 0, 0]
KINDS = ("depthwise", "depthwise explicit", "transposed", "depth to space", "space to depth")


def model(tf: Any, kind: str, first: bool) -> Any:
    """An op on images ``[?, 7, 6, 4]``, or whose channels come first."""
    random = np.random.default_rng(1)
    raw = tf.raw_ops
    filters = random.standard_normal([3, 3, 4, 2]).astype(np.float32)
    layout = "NCHW" if first else "NHWC"

    def ordered(numbers: list[Any], parts: int = 1) -> list[Any]:
        order = (0, 3, 1, 2) if first else (0, 1, 2, 3)
        return [numbers[parts * axis + part] for axis in order for part in range(parts)]

    strides = ordered([1, 2, 2, 1])

    def apply(x: Any) -> Any:
        if kind == "depthwise":
            return raw.DepthwiseConv2dNative(
                input=x, filter=filters, strides=strides, padding="SAME", data_format=layout
            )
        if kind == "depthwise explicit":
            paddings = {"padding": "EXPLICIT", "explicit_paddings": ordered(EXPLICIT, 2)}
            return raw.DepthwiseConv2dNative(input=x, filter=filters, strides=strides, data_format=layout, **paddings)
        if kind == "transposed":
            sizes = tf.concat([tf.shape(x)[:1], ordered([0, 14, 12, 5])[1:]], 0)
            kernel = random.standard_normal([3, 3, 5, 4]).astype(np.float32)
            return raw.Conv2DBackpropInput(
                input_sizes=sizes, filter=kernel, out_backprop=x, strides=strides, padding="SAME", data_format=layout
            )
        op = raw.DepthToSpace if kind == "depth to space" else raw.SpaceToDepth
        return op(input=x, block_size=2, data_format=layout)

    shape = [None, 8, 6, 4] if "space" in kind else [None, 7, 6, 4]
    module = tf.Module()
    spec = tf.TensorSpec(ordered(shape), tf.float32, name="x")

    def serve(x: Any) -> Any:
        return {"y": apply(x)}

    module.serve = tf.function(serve, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("kind", KINDS)
def test_between_transpositions(tensorflow: TensorFlow, kind: str) -> None:
    images = normal({"x": (None, 8, 6, 4) if "space" in kind else (None, 7, 6, 4)}, batches=(1, 3, 1))
    calls: list[Call] = [("serving_default", each) for each in images for _ in range(2)]
    expected = tensorflow.run_calls(tensorflow.save(model, kind, False), calls)
    converted = litefuse.convert(tensorflow.save(model, kind, True)).model_bytes
    moved: list[Call] = [(key, {"x": np.transpose(each["x"], (0, 3, 1, 2))}) for key, each in calls]
    for ours, theirs in zip(run_calls(converted, moved), expected, strict=True):
        assert not difference(np.transpose(ours["y"], (0, 2, 3, 1)), theirs["y"], rtol=1e-5)
