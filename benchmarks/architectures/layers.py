"""Well-known models of Keras layers: functions of ``keras.layers`` and an input, or of ``keras``."""

from __future__ import annotations

from typing import Any


def _normed(layers: Any, x: Any, filters: int, size: Any, strides: Any = 1, activation: str = "relu") -> Any:
    y = layers.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
    return layers.Activation(activation)(layers.BatchNormalization()(y))


def _separable(layers: Any, x: Any, filters: int, strides: Any = 1) -> Any:
    y = layers.DepthwiseConv2D(3, strides, padding="same", use_bias=False)(x)
    return _normed(layers, layers.ReLU()(layers.BatchNormalization()(y)), filters, 1)


def keyword_spotting(layers: Any, x: Any) -> Any:
    y = _normed(layers, x, 64, (10, 4), (2, 2))
    for _ in range(4):
        y = _separable(layers, y, 64)
    return layers.Dense(12, activation="softmax")(layers.GlobalAveragePooling2D()(y))


def small_resnet(layers: Any, x: Any) -> Any:
    y = _normed(layers, x, 16, 3)
    for filters, strides in ((16, 1), (32, 2), (64, 2)):
        z = layers.BatchNormalization()(
            layers.Conv2D(filters, 3, padding="same")(_normed(layers, y, filters, 3, strides))
        )
        kept = y if strides == 1 else layers.Conv2D(filters, 1, strides, padding="same")(y)
        y = layers.ReLU()(layers.Add()([z, kept]))
    return layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling2D()(y))


def anomaly_detection(layers: Any, x: Any) -> Any:
    y = x
    for width in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        y = layers.ReLU()(layers.BatchNormalization()(layers.Dense(width)(y)))
    return layers.Dense(640)(y)


def wake_word(layers: Any, x: Any) -> Any:
    """Streaming classifiers of this kind see 16 embeddings of sound."""
    y = layers.Flatten()(x)
    for _ in range(2):
        y = layers.ReLU()(layers.LayerNormalization()(layers.Dense(128)(y)))
    return layers.Dense(1, activation="sigmoid")(y)


def lenet(layers: Any, x: Any) -> Any:
    y = layers.AveragePooling2D(2)(layers.Conv2D(6, 5, padding="same", activation="tanh")(x))
    y = layers.AveragePooling2D(2)(layers.Conv2D(16, 5, activation="tanh")(y))
    y = layers.Dense(84, activation="tanh")(layers.Dense(120, activation="tanh")(layers.Flatten()(y)))
    return layers.Dense(10, activation="softmax")(y)


def squeezenet(layers: Any, x: Any) -> Any:
    y = layers.MaxPooling2D(3, 2)(layers.Conv2D(64, 3, 2, activation="relu")(x))
    for squeezed, expanded, pooled in (
        (16, 64, False),
        (16, 64, True),
        (32, 128, False),
        (32, 128, True),
        (48, 192, False),
        (48, 192, False),
        (64, 256, False),
        (64, 256, False),
    ):
        z = layers.Conv2D(squeezed, 1, activation="relu")(y)
        y = layers.Concatenate()([layers.Conv2D(expanded, k, padding="same", activation="relu")(z) for k in (1, 3)])
        y = layers.MaxPooling2D(3, 2)(y) if pooled else y
    return layers.Softmax()(layers.GlobalAveragePooling2D()(layers.Conv2D(1000, 1, activation="relu")(y)))


def unet(layers: Any, x: Any) -> Any:
    def twice(y: Any, filters: int) -> Any:
        for _ in range(2):
            y = layers.Conv2D(filters, 3, padding="same", activation="relu")(y)
        return y

    kept: list[Any] = []
    y = x
    for filters in (32, 64, 128, 256):
        y = twice(y, filters)
        kept.append(y)
        y = layers.MaxPooling2D(2)(y)
    y = twice(y, 512)
    for filters, other in zip((256, 128, 64, 32), reversed(kept), strict=True):
        up = layers.Conv2DTranspose(filters, 2, 2, padding="same")(y)
        y = twice(layers.Concatenate()([up, other]), filters)
    return layers.Conv2D(1, 1, activation="sigmoid")(y)


def yolo(layers: Any, x: Any) -> Any:
    """The tiny third version: a darknet with two heads."""
    y, kept = x, x
    for number, filters in enumerate((16, 32, 64, 128, 256, 512, 1024)):
        y = _normed(layers, y, filters, 3, activation="leaky_relu")
        kept = y if filters == 256 else kept
        y = y if number > 5 else layers.MaxPooling2D(2, 1 if number == 5 else 2, padding="same")(y)
    y = _normed(layers, y, 256, 1, activation="leaky_relu")
    coarse = layers.Conv2D(255, 1)(_normed(layers, y, 512, 3, activation="leaky_relu"))
    up = layers.UpSampling2D(2)(_normed(layers, y, 128, 1, activation="leaky_relu"))
    fine = _normed(layers, layers.Concatenate()([up, kept]), 256, 3, activation="leaky_relu")
    return [coarse, layers.Conv2D(255, 1)(fine)]


def super_resolution(layers: Any, x: Any) -> Any:
    y = layers.Conv2D(64, 5, padding="same", activation="tanh")(x)
    y = layers.Conv2D(9, 3, padding="same")(layers.Conv2D(32, 3, padding="same", activation="tanh")(y))
    rows = layers.Permute((1, 3, 2, 4))(layers.Reshape((128, 128, 3, 3))(y))
    return layers.Reshape((384, 384, 1))(rows)


def generator(layers: Any, x: Any) -> Any:
    y = layers.Reshape((4, 4, 512))(layers.Dense(4 * 4 * 512)(x))
    for filters in (256, 128, 64):
        y = layers.Conv2DTranspose(filters, 4, 2, padding="same", use_bias=False)(y)
        y = layers.ReLU()(layers.BatchNormalization()(y))
    return layers.Conv2DTranspose(3, 4, 2, padding="same", activation="tanh")(y)


def text_classifier(layers: Any, x: Any) -> Any:
    y = layers.Embedding(20_000, 64, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(64, return_sequences=True))(y)
    return layers.Dense(4, activation="softmax")(layers.Bidirectional(layers.LSTM(64))(y))


def text_lstm(layers: Any, x: Any) -> Any:
    return layers.Dense(1, activation="sigmoid")(layers.LSTM(128)(layers.Embedding(20_000, 128)(x)))


def text_convolutions(layers: Any, x: Any) -> Any:
    y = layers.Embedding(20_000, 128)(x)
    kinds = [layers.GlobalMaxPooling1D()(layers.Conv1D(100, size, activation="relu")(y)) for size in (3, 4, 5)]
    return layers.Dense(2, activation="softmax")(layers.Concatenate()(kinds))


def translation(keras: Any) -> Any:
    layers = keras.layers
    ids, given = (keras.Input((40,), dtype="int32") for _ in range(2))
    encoded, *states = layers.LSTM(256, return_sequences=True, return_state=True)(layers.Embedding(8000, 256)(ids))
    decoded = layers.LSTM(256, return_sequences=True)(layers.Embedding(8000, 256)(given), initial_state=states)
    seen = layers.Concatenate()([decoded, layers.Attention()([decoded, encoded])])
    return keras.Model([ids, given], layers.Dense(8000)(seen))


def crnn(layers: Any, x: Any) -> Any:
    y = x
    for filters, pool in ((64, (2, 2)), (128, (2, 2)), (256, (2, 1)), (512, (2, 1))):
        y = layers.MaxPooling2D(pool)(_normed(layers, y, filters, 3))
    y = layers.Reshape((32, 2 * 512))(layers.Permute((2, 1, 3))(y))
    for _ in range(2):
        y = layers.Bidirectional(layers.LSTM(256, return_sequences=True))(y)
    return layers.Dense(37, activation="softmax")(y)


def speech(layers: Any, x: Any) -> Any:
    y = _normed(layers, x, 32, (11, 41), (2, 2))
    y = _normed(layers, y, 32, (11, 21), (1, 2))
    y = layers.Reshape((100, 40 * 32))(y)
    for _ in range(3):
        y = layers.Bidirectional(layers.GRU(256, return_sequences=True))(y)
    return layers.Dense(29, activation="softmax")(layers.Dense(512, activation="relu")(y))


def wavenet(layers: Any, x: Any) -> Any:
    y = layers.Conv1D(32, 2, padding="causal")(x)
    kept: list[Any] = []
    for rate in [2**power for _ in range(2) for power in range(8)]:
        gates = [
            layers.Conv1D(32, 2, dilation_rate=rate, padding="causal", activation=kind)(y)
            for kind in ("tanh", "sigmoid")
        ]
        z = layers.Multiply()(gates)
        kept.append(layers.Conv1D(64, 1)(z))
        y = layers.Add()([y, layers.Conv1D(32, 1)(z)])
    y = layers.Conv1D(64, 1, activation="relu")(layers.ReLU()(layers.Add()(kept)))
    return layers.Dense(256, activation="softmax")(y)


def temporal_convolutions(layers: Any, x: Any) -> Any:
    y = layers.Conv1D(64, 1)(x)
    for rate in (1, 2, 4, 8):
        z = y
        for _ in range(2):
            z = layers.Conv1D(64, 3, dilation_rate=rate, padding="causal", activation="relu")(z)
        y = layers.ReLU()(layers.Add()([y, z]))
    return layers.Dense(1)(y[:, -1])


def forecast(keras: Any) -> Any:
    """Mean and deviation of each next value, from values, times and the series' number."""
    layers = keras.layers
    values, number = keras.Input((168, 5)), keras.Input((1,), dtype="int32")
    series = layers.RepeatVector(168)(layers.Flatten()(layers.Embedding(370, 20)(number)))
    y = layers.Concatenate()([values, series])
    for _ in range(3):
        y = layers.LSTM(40, return_sequences=True)(y)
    return keras.Model([values, number], [layers.Dense(1)(y), layers.Dense(1, activation="softplus")(y)])


def recommendation(keras: Any) -> Any:
    """Neural collaborative filtering: a product of embeddings beside layers over others."""
    layers = keras.layers
    user, item = (keras.Input((1,), dtype="int32") for _ in range(2))

    def looked_up(width: int) -> list[Any]:
        tables = (6040, user), (3706, item)
        return [layers.Flatten()(layers.Embedding(rows, width)(ids)) for rows, ids in tables]

    y = layers.Concatenate()(looked_up(32))
    for width in (64, 32, 16):
        y = layers.Dense(width, activation="relu")(y)
    y = layers.Concatenate()([layers.Multiply()(looked_up(16)), y])
    return keras.Model([user, item], layers.Dense(1, activation="sigmoid")(y))
