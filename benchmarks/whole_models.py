"""Small whole models for ``speed.py``, of the parts that models of the tests do not have at sizes of use.

They are built in the process of TensorFlow; each is a function of the module ``tensorflow``, of a batch of one.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_LENGTH = 16


def build(tf: Any, name: str) -> Any:
    """Returns a model with random weights, by its name, and its signatures."""
    return WHOLE_MODELS[name](tf)


def backbone(tf: Any, name: str, options: Mapping[str, Any]) -> Any:
    """Returns a backbone of Keras Hub of two layers, for 16 tokens, and its signatures."""
    keras_hub: Any = importlib.import_module("keras_hub")
    small = {"num_layers": 2, "hidden_dim": 64, "intermediate_dim": 128}
    model = getattr(keras_hub.models, name)(vocabulary_size=100, **{**options, **small})
    random = np.random.default_rng(0)
    for weight in model.trainable_variables:
        weight.assign(weight + 0.1 * random.standard_normal(weight.shape).astype(np.float32))
    inputs = model.input

    def serve(*values: Any) -> Any:
        outputs: Any = model(dict(zip(inputs, values, strict=True)), training=False)
        return outputs if hasattr(outputs, "keys") else {"output": outputs}

    shapes = {
        key: (1, *(size or _LENGTH * (1 + (len(value.shape) > 2)) for size in value.shape[1:]))
        for key, value in inputs.items()
    }
    return _served(tf, serve, *((key, shapes[key], value.dtype) for key, value in inputs.items()))


def _of_layers(shape: tuple[int, ...], make: Callable[[Any, Any], Any], dtype: str = "float32") -> Callable[[Any], Any]:
    def build_model(tf: Any) -> Any:
        inputs = tf.keras.Input(shape, batch_size=1, dtype=dtype)
        model = tf.keras.Model(inputs, make(tf.keras, inputs))
        random = np.random.default_rng(0)
        for weight in model.weights:
            if weight.dtype == "float32":
                values = random.normal(0, 0.1, tuple(weight.shape))
                weight.assign(np.abs(values) + 0.5 if "variance" in weight.path else values)
        return _served(tf, model, ("x", (1, *shape), dtype))

    return build_model


def _served(tf: Any, function: Callable[..., Any], *specs: tuple[str, tuple[int | None, ...], str]) -> Any:
    module = tf.Module()
    signature = [tf.TensorSpec(shape, dtype, name=name) for name, shape, dtype in specs]
    module.serve = tf.function(function, input_signature=signature)
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def _suppression(places: int) -> Callable[[Any], Any]:
    def build_model(tf: Any) -> Any:
        def serve(boxes: Any, scores: Any) -> Any:
            corners = tf.concat([boxes[:, :2], boxes[:, :2] + tf.abs(boxes[:, 2:])], 1)
            chosen, count = tf.image.non_max_suppression_padded(
                corners, scores, 20, 0.5, 0.1, pad_to_max_output_size=True
            )
            return {"chosen": chosen, "count": count}

        return _served(tf, serve, ("boxes", (places, 4), "float32"), ("scores", (places,), "float32"))

    return build_model


def _combined_suppression(tf: Any) -> Any:
    def serve(boxes: Any, scores: Any) -> Any:
        corners = tf.concat([boxes[..., :2], boxes[..., :2] + tf.abs(boxes[..., 2:])], -1)
        found = tf.image.combined_non_max_suppression(corners, tf.sigmoid(scores), 10, 20, 0.5, 0.1)
        return dict(zip(("boxes", "scores", "classes", "count"), found, strict=True))

    return _served(tf, serve, ("boxes", (1, 100, 1, 4), "float32"), ("scores", (1, 100, 5), "float32"))


def _detector(keras: Any, x: Any) -> Any:
    layers = keras.layers
    y = layers.Rescaling(1 / 127.5, -1)(x)
    for filters in (16, 32, 64):
        y = layers.Conv2D(filters, 3, strides=2, padding="same", use_bias=False)(y)
        y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
    boxes = layers.Reshape((-1, 4))(layers.Conv2D(12, 1)(y))
    scores = layers.Reshape((-1, 5))(layers.Conv2D(15, 1, activation="sigmoid")(y))
    return [boxes, scores]


def _segmentation(keras: Any, x: Any) -> Any:
    layers = keras.layers
    first = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    second = layers.Conv2D(32, 3, padding="same", activation="relu")(layers.MaxPooling2D()(first))
    third = layers.Conv2D(64, 3, padding="same", activation="relu")(layers.MaxPooling2D()(second))
    up = layers.Concatenate()([layers.UpSampling2D()(third), second])
    up = layers.Conv2DTranspose(16, 2, strides=2, activation="relu")(up)
    return layers.Softmax()(layers.Conv2D(4, 1)(layers.Concatenate()([up, first])))


def _vision_transformer(keras: Any, x: Any) -> Any:
    layers = keras.layers
    y = layers.Reshape((64, 64))(layers.Conv2D(64, 8, strides=8)(x))
    for _ in range(2):
        z = layers.LayerNormalization()(y)
        y = y + layers.MultiHeadAttention(4, 16)(z, z)
        y = y + layers.Dense(64)(layers.Dense(128, activation="gelu")(layers.LayerNormalization()(y)))
    return layers.Dense(10)(layers.GlobalAveragePooling1D()(y))


def _mixer(keras: Any, x: Any) -> Any:
    layers = keras.layers
    y = layers.Reshape((64, 64))(layers.Conv2D(64, 8, strides=8)(x))
    for _ in range(2):
        z = layers.Permute((2, 1))(layers.LayerNormalization()(y))
        y = y + layers.Permute((2, 1))(layers.Dense(64)(layers.Dense(128, activation="gelu")(z)))
        y = y + layers.Dense(64)(layers.Dense(128, activation="gelu")(layers.LayerNormalization()(y)))
    return layers.Dense(10)(layers.GlobalAveragePooling1D()(y))


def _super_resolution(keras: Any, x: Any) -> Any:
    layers = keras.layers
    y = layers.Conv2D(32, 5, padding="same", activation="relu")(x)
    y = layers.Conv2D(12, 3, padding="same")(y)
    return layers.Lambda(lambda z: keras.ops.reshape(z, (1, 64, 64, 2, 2, 3)))(y)


def _decoder(keras: Any, ids: Any) -> Any:
    layers = keras.layers
    y = layers.Embedding(100, 64, mask_zero=True)(ids)
    for _ in range(2):
        z = layers.LayerNormalization()(y)
        y = y + layers.MultiHeadAttention(4, 16)(z, z, use_causal_mask=True)
        y = y + layers.Dense(64)(layers.Dense(128, activation="relu")(layers.LayerNormalization()(y)))
    return layers.Dense(100)(y)


def _translation(keras: Any, ids: Any) -> Any:
    layers = keras.layers
    encoded, h, c = layers.LSTM(48, return_sequences=True, return_state=True)(layers.Embedding(100, 32)(ids))
    decoded = layers.LSTM(48, return_sequences=True)(encoded, initial_state=[h, c])
    return layers.Dense(100)(layers.Concatenate()([decoded, layers.Attention()([decoded, encoded])]))


def _tied_autoencoder(tf: Any) -> Any:
    random = np.random.default_rng(0)
    kernels = [tf.Variable(random.normal(0, 0.1, shape).astype(np.float32)) for shape in ((256, 128), (128, 32))]

    def serve(x: Any) -> Any:
        code = tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(x, kernels[0])), kernels[1]))
        back = tf.nn.relu(tf.matmul(code, kernels[1], transpose_b=True))
        return {"y": tf.matmul(back, kernels[0], transpose_b=True)}

    return _served(tf, serve, ("x", (1, 256), "float32"))


def _spectrogram(tf: Any) -> Any:
    random = np.random.default_rng(0)
    weights = tf.Variable(random.normal(0, 0.1, (40, 8)).astype(np.float32))
    mel = tf.signal.linear_to_mel_weight_matrix(40, 129, 8000, 60.0, 3800.0)

    def serve(x: Any) -> Any:
        spectrum = tf.abs(tf.signal.stft(x, 256, 128))
        return {"y": tf.nn.softmax(tf.matmul(tf.math.log(tf.matmul(spectrum, mel) + 1e-6), weights))}

    return _served(tf, serve, ("x", (4096,), "float32"))


def _bytes_to_scores(keras: Any, x: Any) -> Any:
    layers = keras.layers
    y = layers.Lambda(lambda z: keras.ops.cast(z, "float32"))(x)
    for filters in (8, 16, 32):
        y = layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(y)
    return layers.Dense(10)(layers.GlobalAveragePooling2D()(y))


def _recurrent(make: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return _of_layers((64, 32), make)


WHOLE_MODELS: Mapping[str, Callable[[Any], Any]] = {
    "vision/detector": _of_layers((160, 160, 3), _detector),
    "vision/segmentation": _of_layers((64, 64, 3), _segmentation),
    "vision/transformer": _of_layers((64, 64, 3), _vision_transformer),
    "vision/mixer": _of_layers((64, 64, 3), _mixer),
    "vision/super-resolution": _of_layers((64, 64, 3), _super_resolution),
    "vision/uint8 image": _of_layers((640, 640, 3), _bytes_to_scores, "uint8"),
    "vision/small uint8 image": _of_layers((64, 64, 3), _bytes_to_scores, "uint8"),
    "suppression/10 boxes": _suppression(10),
    "suppression/200 boxes": _suppression(200),
    "suppression/combined": _combined_suppression,
    "dense/tied autoencoder": _tied_autoencoder,
    "dense/perceptron": _of_layers(
        (64,), lambda k, x: k.layers.Dense(10, activation="softmax")(k.layers.Dense(128, activation="relu")(x))
    ),
    "audio/spectrogram": _spectrogram,
    "audio/convolutions": _of_layers(
        (256, 40),
        lambda k, x: k.layers.Dense(12)(
            k.layers.GlobalAveragePooling1D()(
                k.layers.Conv1D(64, 3, dilation_rate=2, padding="causal", activation="relu")(
                    k.layers.Conv1D(64, 3, padding="causal", activation="relu")(x)
                )
            )
        ),
    ),
    "audio/convolutions, LSTM": _of_layers(
        (256, 40),
        lambda k, x: k.layers.Dense(12)(
            k.layers.LSTM(48)(k.layers.Conv1D(48, 5, strides=4, activation="relu")(x)),
        ),
    ),
    "text/decoder": _of_layers((32,), _decoder, "int32"),
    "text/translation": _of_layers((20,), _translation, "int32"),
    "text/bidirectional LSTM": _of_layers(
        (40,),
        lambda k, x: k.layers.Dense(3)(k.layers.Bidirectional(k.layers.LSTM(32))(k.layers.Embedding(100, 32)(x))),
        "int32",
    ),
    "sequence/LSTM, 32": _recurrent(lambda k, x: k.layers.Dense(4)(k.layers.LSTM(32)(x))),
    "sequence/LSTM, 32, twice": _recurrent(
        lambda k, x: k.layers.Dense(4)(k.layers.LSTM(32)(k.layers.LSTM(32, return_sequences=True)(x)))
    ),
    "sequence/bidirectional LSTM, 32, twice": _recurrent(
        lambda k, x: k.layers.Dense(4)(
            k.layers.Bidirectional(k.layers.LSTM(32))(
                k.layers.Bidirectional(k.layers.LSTM(32, return_sequences=True))(x)
            )
        )
    ),
    "sequence/LSTM, 128": _recurrent(lambda k, x: k.layers.Dense(4)(k.layers.LSTM(128)(x))),
    "sequence/GRU, 32": _recurrent(lambda k, x: k.layers.Dense(4)(k.layers.GRU(32)(x))),
    "sequence/GRU, 64, all": _recurrent(lambda k, x: k.layers.Dense(4)(k.layers.GRU(64, return_sequences=True)(x))),
    "sequence/SimpleRNN, 32": _recurrent(lambda k, x: k.layers.Dense(4)(k.layers.SimpleRNN(32)(x))),
}
"""Builders of models by name; each returns a module and its signatures."""
