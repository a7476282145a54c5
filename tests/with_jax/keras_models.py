"""Models of Keras on the backend JAX, by name; ``make_keras.py`` exports them, in a process of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

keras: Any = importlib.import_module("keras")
layers: Any = importlib.import_module("keras.layers")


def _attention() -> Any:
    x = keras.Input((10, 16))
    y = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    return keras.Model(x, layers.LayerNormalization()(y + layers.Dense(16)(layers.Dense(32, activation="gelu")(y))))


def _masked_text() -> Any:
    x = keras.Input((12,), dtype="int32")
    y = layers.Bidirectional(layers.LSTM(6))(layers.Embedding(50, 8, mask_zero=True)(x))
    return keras.Model(x, layers.Dense(3, activation="softmax")(y))


def _encoder_and_decoder() -> Any:
    x = keras.Input((16, 16, 3))
    a = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    b = layers.SeparableConv2D(8, 3, padding="same")(layers.MaxPooling2D()(a))
    c = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(b)
    return keras.Model(x, layers.Conv2D(1, 1, activation="sigmoid")(layers.Concatenate()([a, c])))


def _sequential(shape: tuple[int, ...], *stack: Any) -> Any:
    return keras.Sequential([keras.Input(shape), *stack])


MODELS: dict[str, Callable[[], Any]] = {
    "attention": _attention,
    "convolutions": lambda: _sequential(
        (17, 17, 4),
        layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same", strides=2),
        layers.BatchNormalization(),
        layers.Conv2D(8, 3, groups=4),
        layers.AveragePooling2D(3, 2, padding="same"),
        layers.GroupNormalization(4),
        layers.UpSampling2D(2, interpolation="bilinear"),
        layers.GlobalAveragePooling2D(),
    ),
    "dense": lambda: _sequential(
        (8,),
        layers.Dense(16, activation="relu"),
        layers.Dropout(0.5),
        layers.BatchNormalization(),
        layers.Dense(4, activation="softmax"),
    ),
    "encoder_and_decoder": _encoder_and_decoder,
    "gru": lambda: _sequential((12, 5), layers.GRU(7, return_sequences=True)),
    "lstm": lambda: _sequential((12, 5), layers.LSTM(7)),
    "masked_text": _masked_text,
    "sequences": lambda: _sequential(
        (20, 4),
        layers.Conv1D(8, 3, padding="causal", dilation_rate=2),
        layers.MaxPooling1D(2),
        layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"),
        layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
        layers.SimpleRNN(3),
    ),
    "volumes": lambda: _sequential(
        (6, 6, 6, 2), layers.Conv3D(4, 3, padding="same"), layers.MaxPooling3D(2), layers.AveragePooling3D(3)
    ),
}
