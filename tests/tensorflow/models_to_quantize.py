"""Twenty kinds of models, to be quantized in a conversion and as files that exist."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

_RANDOM = np.random.default_rng


class Kind(NamedTuple):
    """A kind of model.

    Attributes:
        build: Makes it of TensorFlow.
        shapes: The shape of each input of each signature; None is dynamic.
        options: How it is converted.
        ids: The number of ids, if inputs are ids.
        dtype: The dtype of the inputs.
    """

    build: Callable[[Any], Any]
    shapes: Mapping[str, Mapping[str, tuple[int | None, ...]]]
    options: Mapping[str, Any] = {}
    ids: int = 0
    dtype: str = "float32"

    def calls(self, number: int = 6) -> list[tuple[str, dict[str, Any]]]:
        """Calls of each signature, with sizes of dynamic dimensions that differ from call to call."""
        random = _RANDOM(5)

        def value(shape: tuple[int | None, ...], call: int) -> Any:
            sizes = [1 + (call + 2 * axis) % 3 if size is None else size for axis, size in enumerate(shape)]
            if self.ids:
                return random.integers(0, self.ids, sizes).astype(self.dtype)
            if self.dtype == "uint8":
                return random.integers(0, 256, sizes).astype(np.uint8)
            return random.normal(size=sizes).astype(self.dtype)

        return [
            (signature, {name: value(shape, call) for name, shape in inputs.items()})
            for call in range(number)
            for signature, inputs in self.shapes.items()
        ]


def _weights(*shape: int, seed: int = 1) -> Any:
    return (_RANDOM(seed).normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)


def _keras(layers: Callable[[Any, Any], Any], shape: tuple[int | None, ...], dtype: str = "float32") -> Any:
    """Builds a Keras model of open batch, with random biases, that ``serve`` calls."""

    def build(tf: Any) -> Any:
        keras: Any = importlib.import_module("keras")
        keras.utils.set_random_seed(1)
        x = keras.Input(shape, name="x", dtype=dtype)
        model = keras.Model(x, layers(keras.layers, x))
        model.set_weights([_RANDOM(3).normal(value, 0.05).astype(value.dtype) for value in model.get_weights()])
        return _served(tf, model, (None, *shape), dtype)

    return build


def _served(tf: Any, function: Any, shape: tuple[int | None, ...], dtype: str = "float32", **kept: Any) -> Any:
    module = tf.Module()
    module.kept = [function, kept]
    spec = tf.TensorSpec(shape, dtype, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": function(x)}

    module.serve = tf.function(serve, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


def _function(compute: Callable[..., Any], shape: tuple[int | None, ...], dtype: str, *sizes: tuple[int, ...]) -> Any:
    """Builds a function of its input and of variables."""

    def build(tf: Any) -> Any:
        variables = [tf.Variable(_weights(*size, seed=number)) for number, size in enumerate(sizes)]

        def computed(x: Any) -> Any:
            return compute(tf, x, *variables)

        return _served(tf, computed, shape, dtype, variables=variables)

    return build


def _mobile(layers: Any, x: Any) -> Any:
    for filters, stride in ((16, 2), (24, 2), (24, 1)):
        y = layers.Conv2D(4 * filters, 1, use_bias=False)(x)
        y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
        y = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False)(y)
        y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
        y = layers.BatchNormalization()(layers.Conv2D(filters, 1, use_bias=False)(y))
        x = x + y if x.shape == y.shape else y
    return layers.Dense(40)(layers.GlobalAveragePooling2D()(x))


def _unet(layers: Any, x: Any) -> Any:
    down = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    deep = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(down)
    up = layers.Conv2DTranspose(16, 2, strides=2)(deep)
    return layers.Conv2D(4, 1)(layers.Concatenate()([layers.UpSampling2D()(deep), up, down]))


def _transformer(layers: Any, x: Any) -> Any:
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x))
    return layers.Dense(64)(layers.Dense(128, activation="gelu")(x))


def _tied(tf: Any, ids: Any, table: Any) -> Any:
    return tf.matmul(tf.tanh(tf.gather(table, ids)), table, transpose_b=True)


def _tied_reshaped(tf: Any, ids: Any, table: Any) -> Any:
    rows = tf.repeat(tf.gather(table, ids), 2, -1)
    return tf.matmul(rows, tf.reshape(table, [table.shape[0] // 2, -1]), transpose_b=True)


def _branches(tf: Any, x: Any, first: Any, second: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x @ first), lambda: tf.nn.relu(x @ second))


def _extracted(tf: Any, x: Any, weights: Any) -> Any:
    x = tf.image.extract_patches(tf.nn.relu(x), [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    return tf.linalg.matmul(x, weights)


def _composite(tf: Any) -> Any:
    weights = [tf.Variable(_weights(48, 48, seed=seed)) for seed in (1, 2)]

    @tf.function(experimental_implements="my_gate", autograph=False)
    def gate(x: Any, factors: Any) -> Any:
        return x * tf.sigmoid(tf.matmul(x, factors))

    def gated(x: Any) -> Any:
        return gate(tf.matmul(x, weights[0]), weights[1].read_value())

    return _served(tf, gated, (None, 48), weights=weights)


def _signatures(tf: Any) -> Any:
    module = tf.Module()
    module.table = tf.Variable(_weights(400, 32))

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64, name="ids")], autograph=False)
    def embed(ids: Any) -> Any:
        return {"h": tf.gather(module.table, ids)}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.int64, name="ids")], autograph=False)
    def score(ids: Any) -> Any:
        return {"logits": tf.matmul(tf.gather(module.table, ids), module.table, transpose_b=True) * 0.5}

    module.embed, module.score = embed, score
    return module, {"embed": embed, "score": score}


def _stream(tf: Any) -> Any:
    module = tf.Module()
    module.seen = tf.Variable(np.zeros((1, 6, 40), np.float32))
    module.weights = tf.Variable(_weights(40, 48))

    @tf.function(input_signature=[tf.TensorSpec([1, 2, 40], tf.float32, name="x")], autograph=False)
    def step(x: Any) -> Any:
        seen = tf.concat([module.seen[:, 2:], x], 1)
        module.seen.assign(seen)
        return {"y": tf.nn.relu(tf.matmul(seen, module.weights))}

    module.step = step
    return module, {"serving_default": step}


def _of_x(*shape: int | None) -> dict[str, dict[str, tuple[int | None, ...]]]:
    return {"serving_default": {"x": shape}}


KINDS: Mapping[str, Kind] = {
    "dense": Kind(_keras(lambda layers, x: layers.Dense(10)(layers.Dense(96, "relu")(x)), (64,)), _of_x(None, 64)),
    "convolutions": Kind(
        _keras(
            lambda layers, x: layers.Dense(10)(
                layers.Flatten()(layers.MaxPooling2D()(layers.Conv2D(32, 3, activation="relu")(x)))
            ),
            (12, 12, 3),
        ),
        _of_x(None, 12, 12, 3),
    ),
    "mobile network": Kind(_keras(_mobile, (32, 32, 3)), _of_x(None, 32, 32, 3)),
    "segmentation": Kind(_keras(_unet, (16, 16, 3)), _of_x(None, 16, 16, 3)),
    "convolutions over time": Kind(
        _keras(
            lambda layers, x: layers.Dense(8)(
                layers.GlobalMaxPooling1D()(layers.Conv1D(48, 5, activation="relu")(layers.Conv1D(32, 3)(x)))
            ),
            (40, 16),
        ),
        _of_x(None, 40, 16),
    ),
    "transformer": Kind(_keras(_transformer, (12, 64)), _of_x(None, 12, 64)),
    "embedding": Kind(
        _keras(lambda layers, x: layers.Dense(8)(layers.Embedding(800, 48)(x)), (None,), "int32"),
        _of_x(None, None),
        ids=800,
        dtype="int32",
    ),
    "tied table": Kind(_function(_tied, (1, 5), "int32", (2000, 32)), _of_x(1, 5), ids=2000, dtype="int32"),
    "tied table, open": Kind(
        _function(_tied, (None, None), "int64", (2000, 32)), _of_x(None, None), ids=2000, dtype="int64"
    ),
    "table in two shapes": Kind(
        _function(_tied_reshaped, (None, 4), "int32", (800, 32)), _of_x(None, 4), ids=800, dtype="int32"
    ),
    "signatures of one table": Kind(
        _signatures, {"embed": {"ids": (None, None)}, "score": {"ids": (None, 3)}}, ids=400, dtype="int64"
    ),
    "GRU": Kind(_keras(lambda layers, x: layers.Dense(8)(layers.GRU(48)(x)), (20, 32)), _of_x(None, 20, 32)),
    "LSTM": Kind(
        _keras(lambda layers, x: layers.Dense(8)(layers.LSTM(48)(x)), (20, 32)),
        _of_x(None, 20, 32),
        options={"rnn": "loop"},
    ),
    "fused LSTM": Kind(
        _keras(lambda layers, x: layers.Dense(8)(layers.LSTM(48)(x)), (20, 32)),
        _of_x(None, 20, 32),
        options={"rnn": "fused"},
    ),
    "LSTM in both directions": Kind(
        _keras(
            lambda layers, x: layers.Dense(8)(layers.Bidirectional(layers.LSTM(32, return_sequences=True))(x)),
            (12, 32),
        ),
        _of_x(None, 12, 32),
        options={"rnn": "loop"},
    ),
    "branches": Kind(_function(_branches, (None, 48), "float32", (48, 40), (48, 40)), _of_x(None, 48)),
    "custom op": Kind(
        _function(_extracted, (None, 9, 9, 4), "float32", (36, 40)),
        _of_x(None, 9, 9, 4),
        options={"allow_custom_ops": ["ExtractImagePatches"]},
    ),
    "composite that is kept": Kind(_composite, _of_x(None, 48), options={"composites": "keep"}),
    "state": Kind(_stream, _of_x(1, 2, 40)),
    "bytes of images": Kind(
        _keras(
            lambda layers, x: layers.Dense(10)(
                layers.GlobalAveragePooling2D()(layers.Conv2D(32, 3)(layers.Rescaling(1 / 255)(x)))
            ),
            (12, 12, 3),
            "uint8",
        ),
        _of_x(None, 12, 12, 3),
        dtype="uint8",
    ),
}


def build(tf: Any, kind: str) -> Any:
    """Builds the model of a kind."""
    return KINDS[kind].build(tf)
