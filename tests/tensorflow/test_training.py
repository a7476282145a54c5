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
            "every_second": y[:, ::2, 1::3],
            "backwards": y[::-1, -1:0:-2],
        }
        return {name: tf.gradients(tf.reduce_sum(tf.sin(part)), y)[0] for name, part in slices.items()}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_gradients_of_slices(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(7)
    inputs = [{"x": random.standard_normal(shape).astype(np.float32)} for shape in ((2, 3, 6), (4, 5, 6))]
    check(tensorflow, tensorflow.save(gradients_of_slices), inputs)


def gradients_of_reductions(tf: Any) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        reductions = {
            "min": tf.tanh(tf.reduce_min(x)),
            "max": tf.tanh(tf.reduce_max(x, 1)),
            "mean": tf.tanh(tf.reduce_mean(x, 0)) * x,
            "norm": tf.norm(x),
            "variance": tf.math.reduce_variance(x, 1, keepdims=True) + x,
            "stretched": (x[:1] + x) * (x[:, :1] - x),
        }
        return {name: tf.gradients(tf.reduce_sum(each), x)[0] for name, each in reductions.items()}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_gradients_of_reductions_and_broadcasts(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(8)
    inputs = [{"x": random.standard_normal(shape).astype(np.float32)} for shape in ((2, 3), (4, 5), (1, 3), (2, 1))]
    check(tensorflow, tensorflow.save(gradients_of_reductions), inputs)


def batch_normalized(tf: Any, training: bool, share: float) -> Any:
    random = np.random.default_rng(9)
    module = tf.Module()
    module.scale = tf.Variable(random.standard_normal(4).astype(np.float32))
    module.offset = tf.Variable(random.standard_normal(4).astype(np.float32))
    module.mean, module.variance = tf.Variable([0.1, -0.2, 0.3, 0.0]), tf.Variable([1.0, 0.5, 2.0, 0.3])

    @tf.function(input_signature=[tf.TensorSpec([None, 5, 6, 4], tf.float32, name="x")])
    def train(x: Any) -> Any:
        statistics = {"mean": module.mean, "variance": module.variance, "exponential_avg_factor": share}
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, mean, variance = tf.compat.v1.nn.fused_batch_norm(
                x, module.scale, module.offset, epsilon=0.01, is_training=training, **statistics
            )
            loss = tf.reduce_sum(tf.tanh(y))
        by_scale, by_offset, by_x = tape.gradient(loss, [module.scale, module.offset, x])
        module.scale.assign_sub(0.1 * by_scale)
        module.offset.assign_sub(0.1 * by_offset)
        if training:
            module.mean.assign(mean)
            module.variance.assign(variance)
        return {"loss": loss, "gradient": by_x, "mean": mean, "variance": variance}

    module.train = train
    return module, {"train": train}


# A share of the averages that are kept, as Keras 2 trains.
@pytest.mark.parametrize(("training", "share"), [(True, 1.0), (True, 0.3), (False, 1.0)])
def test_training_of_a_fused_batch_normalization(tensorflow: TensorFlow, training: bool, share: float) -> None:
    random = np.random.default_rng(10)
    calls: list[Call] = [
        ("train", {"x": random.standard_normal((batch, 5, 6, 4)).astype(np.float32)}) for batch in (3, 3, 2)
    ]
    check_calls(tensorflow, tensorflow.save(batch_normalized, training, share), calls)


def layer_normalized(tf: Any) -> Any:
    """As Keras 2 normalizes layers: each row of an open batch is a channel."""
    module = tf.Module()
    module.scale = tf.Variable([1.0, -0.5, 2.0, 0.3])

    @tf.function(input_signature=[tf.TensorSpec([None, 5, 4], tf.float32, name="x")])
    def train(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            count = tf.shape(x)[0] * 5
            y, _, _ = tf.compat.v1.nn.fused_batch_norm(
                tf.reshape(x, tf.stack([1, count, 4, 1])),
                tf.ones([count]),
                tf.zeros([count]),
                epsilon=0.01,
                data_format="NCHW",
            )
            loss = tf.reduce_sum(tf.tanh(tf.reshape(y, tf.shape(x)) * module.scale))
        by_scale, by_x = tape.gradient(loss, [module.scale, x])
        module.scale.assign_sub(0.1 * by_scale)
        return {"loss": loss, "gradient": by_x}

    module.train = train
    return module, {"train": train}


def test_training_of_a_fused_layer_normalization(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(11)
    calls: list[Call] = [
        ("train", {"x": random.standard_normal((batch, 5, 4)).astype(np.float32)}) for batch in (3, 3, 2)
    ]
    check_calls(tensorflow, tensorflow.save(layer_normalized), calls)


def recurrent(tf: Any, layer: str, batch: int | None, length: int | None) -> Any:
    """Trains a recurrent layer: its loop keeps what each step computed, which its gradient takes from the end."""
    random = np.random.default_rng(2)
    keras_layer = getattr(tf.keras.layers, layer)(5, return_sequences=True)
    keras_layer.build((None, None, 3))
    for weight in keras_layer.trainable_variables:
        weight.assign(random.standard_normal(weight.shape) * 0.4)
    module = tf.Module()
    module.layer = keras_layer
    module.kernel = tf.Variable(random.standard_normal((5, 2)).astype(np.float32))

    @tf.function(
        input_signature=[
            tf.TensorSpec([batch, length, 3], tf.float32, name="x"),
            tf.TensorSpec([batch, length, 2], tf.float32, name="y"),
        ]
    )
    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((keras_layer(x) @ module.kernel - y) ** 2)
        variables = [*keras_layer.trainable_variables, module.kernel]
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            (variable.value if hasattr(variable.value, "assign_sub") else variable).assign_sub(0.3 * gradient)
        return {"loss": loss}

    module.train = train
    return module, {"train": train}


@pytest.mark.parametrize(
    ("layer", "batch", "length"),
    [("LSTM", None, 4), ("GRU", 2, 4), ("SimpleRNN", 2, None), ("LSTM", None, None), ("GRU", 3, 1)],
)
def test_training_of_recurrent_layers(
    tensorflow: TensorFlow, layer: str, batch: int | None, length: int | None
) -> None:
    random = np.random.default_rng(3)
    shapes = [(batch or n, length or steps) for n, steps in ((3, 6), (3, 6), (1, 2), (2, 1))]
    calls: list[Call] = [
        (
            "train",
            {name: random.standard_normal((*shape, width)).astype(np.float32) for name, width in (("x", 3), ("y", 2))},
        )
        for shape in shapes
    ]
    check_calls(tensorflow, tensorflow.save(recurrent, layer, batch, length), calls)


def growing(tf: Any) -> Any:
    """Loops that collect rows from nothing, and the gradient of one that does nothing else."""

    def collected(first: Any, row: Any, steps: Any) -> Any:
        def more(i: Any, _: Any) -> Any:
            return i < steps

        def step(i: Any, rows: Any) -> Any:
            return i + 1, tf.concat([rows, row], 0)

        shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
        return tf.while_loop(more, step, [0, first], shape_invariants=shapes)[1]

    @tf.function(
        input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="steps")]
    )
    def collect(x: Any, steps: Any) -> Any:
        rows, more = collected(tf.zeros([0, 3]), x[:1], steps), collected(x[1:], x[:1], steps)
        # The runtime's Python interface cannot return an empty tensor.
        return {"rows": tf.concat([rows, x], 0), "more": tf.concat([more, x], 0)}

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x")])
    def gradient(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            y = tf.tanh(y)
        return {"gradient": tf.gradients(y, x)[0]}

    module = tf.Module()
    module.collect, module.gradient = collect, gradient
    return module, {"collect": collect, "gradient": gradient}


def test_loops_that_grow_from_nothing(tensorflow: TensorFlow) -> None:
    x = np.random.default_rng(4).standard_normal((2, 3)).astype(np.float32)
    steps = [np.asarray(count, np.int32) for count in (3, 3, 1, 0)]
    calls: list[Call] = [("collect", {"x": rows, "steps": count}) for rows in (x, x[:1]) for count in steps]
    check_calls(tensorflow, tensorflow.save(growing), [*calls, *[("gradient", {"x": x})] * 2])
