# pyright: reportUnknownLambdaType=false
"""An inpainting network, whose filters are patches of its own features: ExtractImagePatches stays a custom op.

Contextual attention, as in J. Yu et al., "Generative Image Inpainting with Contextual Attention"
(https://arxiv.org/abs/1801.07892), with gated convolutions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ai_edge_litert.interpreter as litert
import numpy as np
import pytest

import litefuse
from litefuse.kernels import native_library
from tests.tensorflow.checking import difference, op_counts
from tests.tensorflow.saved_models import stock_convert

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

SIZE = 16


def patches(tf: Any, x: Any, size: int, stride: int) -> Any:
    """The patches of images as filters, [images, size, size, depth, patches]."""
    found = tf.image.extract_patches(x, [1, size, size, 1], [1, stride, stride, 1], [1, 1, 1, 1], "SAME")
    return tf.transpose(tf.reshape(found, [x.shape[0], -1, size, size, x.shape[3]]), [0, 2, 3, 4, 1])


def attention(tf: Any, x: Any, mask: Any) -> Any:
    """Fills what the mask covers with the patches that look most like what is around it."""
    batch, rows, _, depth = x.shape
    half = rows // 2
    small = tf.image.resize(x, [half, half], method="nearest")
    covered = patches(tf, tf.image.resize(mask, [half, half], method="nearest"), 3, 1)[0]
    usable = tf.cast(tf.equal(tf.reduce_mean(covered, [0, 1, 2], keepdims=True), 0.0), tf.float32)
    diagonal = tf.reshape(tf.eye(3), [3, 3, 1, 1])
    filled: list[Any] = []
    groups = (tf.split(each, batch, 0) for each in (small, patches(tf, small, 3, 1), patches(tf, x, 4, 2)))
    for image, like, raw in zip(*groups, strict=True):
        length = tf.maximum(tf.sqrt(tf.reduce_sum(tf.square(like[0]), [0, 1, 2])), 1e-4)
        score = tf.nn.conv2d(image, like[0] / length, 1, "SAME")
        for _ in range(2):  # neighbors go with neighbors, along rows, then along columns
            score = tf.nn.conv2d(tf.reshape(score, [1, half * half, half * half, 1]), diagonal, 1, "SAME")
            score = tf.transpose(tf.reshape(score, [1, half, half, half, half]), [0, 2, 1, 4, 3])
        score = tf.reshape(score, [1, half, half, half * half]) * usable
        score = tf.nn.softmax(score * 10.0, 3) * usable
        filled.append(tf.nn.conv2d_transpose(score, raw[0], [1, rows, rows, depth], 2) / 4.0)
    return tf.concat(filled, 0)


def network(tf: Any, batch: int) -> Any:
    random = np.random.default_rng(0)

    def gated(x: Any, size: int, depth: int, stride: int = 1, rate: int = 1) -> Any:
        weights = random.normal(0, 0.2, (size, size, x.shape[-1], 2 * depth)).astype(np.float32)
        features, gate = tf.split(tf.nn.conv2d(x, tf.constant(weights), stride, "SAME", dilations=rate), 2, 3)
        return tf.nn.elu(features) * tf.sigmoid(gate)

    def serve(image: Any, mask: Any) -> Any:
        ones = tf.ones_like(mask)
        x = gated(tf.concat([image * (1.0 - mask), ones, ones * mask], 3), 5, 6)
        x = gated(gated(x, 3, 12, stride=2), 3, 12, rate=2)
        hole = tf.image.resize(mask[:1], [SIZE // 2, SIZE // 2], method="nearest")
        x = gated(attention(tf, x, hole), 3, 12)
        x = gated(tf.image.resize(x, [SIZE, SIZE], method="nearest"), 3, 3)
        return {"y": tf.clip_by_value(x, -1.0, 1.0) * mask + image * (1.0 - mask)}

    shapes = {"image": [batch, SIZE, SIZE, 3], "mask": [batch, SIZE, SIZE, 1]}
    specs = [tf.TensorSpec(shape, tf.float32, name=name) for name, shape in shapes.items()]
    module = tf.Module()
    module.serve = tf.function(serve, input_signature=specs, autograph=False)
    return module, {"serving_default": module.serve}


def drawn(batch: int, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    mask = np.zeros((batch, SIZE, SIZE, 1), np.float32)
    mask[:, 4:9, 5:12] = 1
    return {"image": random.normal(0, 1, (batch, SIZE, SIZE, 3)).astype(np.float32), "mask": mask}


@pytest.mark.parametrize(("batch", "count"), [(1, 75), (2, 102)])
def test_it_runs_with_a_native_kernel(tensorflow: TensorFlow, batch: int, count: int) -> None:
    path = tensorflow.save(network, batch)
    result = litefuse.convert(path, allow_custom_ops=["ExtractImagePatches"])
    counts = op_counts(result.model_bytes)
    assert counts["ExtractImagePatches"] == 3
    assert "STABLEHLO_COMPOSITE" not in counts
    stock = op_counts(tensorflow.call(stock_convert, str(path), {"allow_custom_ops": True}))
    assert stock["ExtractImagePatches"] == 3
    assert sum(counts.values()) == count <= sum(stock.values())

    calls = [("serving_default", drawn(batch, seed)) for seed in (0, 0, 1)]
    library = litert.load_delegate(str(native_library()))
    runner = litert.Interpreter(
        model_content=result.model_bytes, experimental_delegates=[library]
    ).get_signature_runner()
    for (_, inputs), expected in zip(calls, tensorflow.run_calls(path, calls), strict=True):
        assert not difference(runner(**inputs)["y"], expected["y"], rtol=1e-5)
