# pyright: reportUnknownLambdaType=false
"""Small networks of common kinds with random weights, for comparisons of their integer forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

IMAGE = (64, 64, 3)
STEPS = 24
TOKENS = 200
SHAPES: Mapping[str, tuple[int, ...]] = {"bert": (STEPS,), "tcn": (STEPS, 12)}
"""The inputs of those that take no images."""


def networks(keras: Any) -> Mapping[str, Callable[[], Any]]:
    """Returns what makes each model; BERT takes the numbers of tokens, 0 for padding."""
    return {
        "bert": lambda: _bert(keras),
        "efficientnet_lite": lambda: _efficientnet_lite(keras),
        "inverted_residuals": lambda: _application(keras, "MobileNetV2"),
        "mobilenet_v3": lambda: _application(keras, "MobileNetV3Small", include_preprocessing=False),
        "tcn": lambda: _tcn(keras),
        "unet": lambda: _unet(keras),
        "vit": lambda: _vit(keras),
        "yolo": lambda: _yolo(keras),
    }


def _application(keras: Any, name: str, **options: Any) -> Any:
    make = getattr(keras.applications, name)
    return make(input_shape=IMAGE, weights=None, classes=10, classifier_activation=None, **options)


def _convolved(keras: Any, x: Any, filters: int, size: int = 3, *, strides: int = 1, activation: str = "relu") -> Any:
    layers = keras.layers
    x = layers.Conv2D(filters, size, strides=strides, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.LeakyReLU(0.1)(x) if activation == "leaky" else layers.Activation(activation)(x)


def _efficientnet_lite(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input(IMAGE)
    x = _convolved(keras, inputs, 16, strides=2, activation="relu6")
    for filters, strides in ((16, 1), (24, 2), (24, 1), (40, 2), (40, 1)):
        before = x
        x = _convolved(keras, x, 4 * int(x.shape[-1]), 1, activation="relu6")
        x = layers.DepthwiseConv2D(3, strides=strides, padding="same", use_bias=False)(x)
        x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
        x = layers.BatchNormalization()(layers.Conv2D(filters, 1, use_bias=False)(x))
        x = layers.Add()([x, before]) if before.shape == x.shape else x
    x = layers.GlobalAveragePooling2D()(_convolved(keras, x, 96, 1, activation="relu6"))
    return keras.Model(inputs, layers.Dense(10)(x))


def _yolo(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input(IMAGE)
    x = _convolved(keras, inputs, 8, activation="leaky")
    skips: list[Any] = []
    for filters in (16, 32, 64):
        x = _convolved(keras, layers.MaxPooling2D()(x), filters, activation="leaky")
        skips.append(x)
    x = layers.Concatenate()([x, *(layers.MaxPooling2D(size, 1, padding="same")(x) for size in (5, 9))])
    x = _convolved(keras, x, 32, 1, activation="leaky")
    coarse = layers.Conv2D(21, 1)(x)
    x = layers.Concatenate()([layers.UpSampling2D()(x), skips[1]])
    fine = layers.Conv2D(21, 1)(_convolved(keras, x, 32, activation="leaky"))
    boxes = [layers.Reshape((-1, 7))(part) for part in (coarse, fine)]
    return keras.Model(inputs, layers.Activation("sigmoid")(layers.Concatenate(1)(boxes)))


def _unet(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input(IMAGE)
    x, skips = inputs, list[Any]()
    for filters in (8, 16, 32):
        x = _convolved(keras, _convolved(keras, x, filters), filters)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = _convolved(keras, x, 64)
    for filters, skip in zip((32, 16, 8), reversed(skips), strict=True):
        x = layers.UpSampling2D()(x) if filters == 16 else layers.Conv2DTranspose(filters, 2, strides=2)(x)
        x = _convolved(keras, layers.Concatenate()([x, skip]), filters)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def _tcn(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((STEPS, 12))
    x = inputs
    for rate in (1, 2, 4):
        before = layers.Conv1D(16, 1)(x)
        x = layers.Conv1D(16, 3, padding="causal", dilation_rate=rate, activation="relu")(x)
        x = layers.Conv1D(16, 3, padding="causal", dilation_rate=rate, activation="relu")(x)
        x = layers.Add()([x, before])
    return keras.Model(inputs, layers.Dense(5)(layers.GlobalMaxPooling1D()(x)))


def _block(keras: Any, x: Any, mask: Any = None, activation: str = "gelu") -> Any:
    layers = keras.layers
    width = int(x.shape[-1])
    normed = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(4, width // 4)(normed, normed, attention_mask=mask)])
    hidden = layers.Dense(2 * width, activation=activation)(layers.LayerNormalization()(x))
    return layers.Add()([x, layers.Dense(width)(hidden)])


def _vit(keras: Any) -> Any:
    layers = keras.layers

    class Tokens(layers.Layer):
        """A class token before the patches, and positions."""

        def build(self, shape: Any) -> None:
            self.token = self.add_weight(shape=(1, 1, shape[-1]), name="token")
            self.positions = self.add_weight(shape=(1, shape[1] + 1, shape[-1]), name="positions")

        def call(self, x: Any) -> Any:
            token = keras.ops.repeat(self.token, keras.ops.shape(x)[0], 0)
            return keras.ops.concatenate([token, x], 1) + self.positions

    inputs = keras.Input(IMAGE)
    x = layers.Conv2D(32, 16, strides=16)(inputs)
    x = Tokens()(layers.Reshape((16, 32))(x))
    for _ in range(2):
        x = _block(keras, x)
    return keras.Model(inputs, layers.Dense(10)(layers.LayerNormalization()(x)[:, 0]))


def _bert(keras: Any) -> Any:
    layers = keras.layers

    class Positions(layers.Layer):
        """Positions of a table."""

        def build(self, shape: Any) -> None:
            self.table = self.add_weight(shape=(1, *shape[1:]), name="table")

        def call(self, x: Any) -> Any:
            return x + self.table

    inputs = keras.Input((STEPS,), dtype="int32")
    mask = layers.Lambda(lambda ids: keras.ops.not_equal(ids, 0)[:, None, :], output_shape=(1, STEPS))(inputs)
    x = layers.LayerNormalization()(Positions()(layers.Embedding(TOKENS, 32)(inputs)))
    for _ in range(2):
        x = _block(keras, x, mask)
    return keras.Model(inputs, layers.Dense(3)(layers.Dense(32, activation="tanh")(x[:, 0])))
