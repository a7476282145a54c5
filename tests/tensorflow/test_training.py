"""A signature that trains: gradients and variables that change, step by step as in TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, check_calls, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import Call, TensorFlow


def classifier(tf: Any, pool: str, padding: str, batch: int | None) -> Any:
    random = np.random.default_rng(0)

    def weight(*shape: int) -> Any:
        return tf.Variable((random.standard_normal(shape) * 0.3).astype(np.float32))

    module = tf.Module()
    module.weights = [weight(3, 3, 2, 4), weight(4), weight(3, 3, 4, 5), weight(5, 3)]
    pooling = {"max": tf.nn.max_pool2d, "avg": tf.nn.avg_pool2d}[pool]

    def logits(images: Any) -> Any:
        first, bias, second, last = module.weights
        hidden = tf.nn.relu(tf.nn.conv2d(images, first, 1, padding) + bias)
        hidden = pooling(hidden, 3, 2, padding)
        hidden = tf.nn.conv2d(hidden, second, 2, padding)
        return tf.matmul(tf.reduce_mean(hidden, [1, 2]), last)

    @tf.function(
        input_signature=[
            tf.TensorSpec([batch, 12, 11, 2], tf.float32, name="images"),
            tf.TensorSpec([batch], tf.int32, name="labels"),
        ]
    )
    def train(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits(images))
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip(module.weights, tape.gradient(loss, module.weights), strict=True):
            variable.assign_sub(0.1 * gradient)
        return {"loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([batch, 12, 11, 2], tf.float32, name="images")])
    def infer(images: Any) -> Any:
        return {"logits": logits(images)}

    module.train, module.infer = train, infer
    return module, {"train": train, "infer": infer}


@pytest.mark.parametrize(
    ("pool", "padding", "batch"),
    [("max", "SAME", None), ("max", "VALID", 4), ("avg", "SAME", 4), ("avg", "VALID", None)],
)
def test_training(tensorflow: TensorFlow, pool: str, padding: str, batch: int | None) -> None:
    random = np.random.default_rng(1)
    images = random.standard_normal((4, 12, 11, 2)).astype(np.float32)
    labels = random.integers(0, 3, 4).astype(np.int32)
    calls: list[Call] = [("train", {"images": images, "labels": labels})] * 4
    calls.append(("infer", {"images": images[: batch or 2]}))
    result = check_calls(tensorflow, tensorflow.save(classifier, pool, padding, batch), calls)
    assert op_counts(result.model_bytes)["ASSIGN_VARIABLE"] >= 4
    assert not result.report.custom_ops


def gradients_of_slices(tf: Any) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, None, 6], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        y = tf.identity(x)
        slices = {
            "row": y[:, 0],
            "last": y[..., -1],
            "part": y[:, 1:, tf.newaxis, 2:-1],
            "from_the_end": y[-2:, :, 3],
            "beyond": y[:, -9:2, 1:100],
            "one": y[1],
        }
        return {name: tf.gradients(tf.reduce_sum(tf.sin(part)), y)[0] for name, part in slices.items()}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_gradients_of_slices(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(7)
    inputs = [{"x": random.standard_normal(shape).astype(np.float32)} for shape in ((2, 3, 6), (4, 5, 6))]
    check(tensorflow, tensorflow.save(gradients_of_slices), inputs)
