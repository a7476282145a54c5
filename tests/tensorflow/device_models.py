"""Small models of the kinds that microcontrollers and NPUs run: images, sounds, series; Keras 3 and Keras 2.

``build`` makes one in the TensorFlow process, ``inputs`` makes what to call it with.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt


class Device(NamedTuple):
    """One model.

    Attributes:
        kind: A key of ``KINDS``.
        framework: ``keras`` (3) or ``tf_keras`` (2).
    """

    kind: str
    framework: str = "keras"

    def __str__(self) -> str:
        return f"{self.framework}-{self.kind}"


def build(tf: Any, kind: str, framework: str) -> tuple[Any, dict[str, Any]]:
    """A module and its signature, with random weights, biases and statistics; the batch is open."""
    keras = importlib.import_module(framework)
    keras.utils.set_random_seed(11)
    shape, layers = KINDS[kind]
    x = keras.Input(shape, name="x")
    model = keras.Model(x, layers(keras.layers, x))
    random = np.random.default_rng(11)
    named = zip(model.weights, model.get_weights(), strict=True)
    model.set_weights([_spoiled(variable.name, each, random) for variable, each in named])
    module = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        return {"y": model(x, training=False)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None, *shape], tf.float32, name="x")])
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def _spoiled(name: str, weight: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    """A weight that is not what layers begin with: biases of 0 and variances of 1 hide mistakes."""
    if "variance" in name:  # small, so that what differs between inputs is not lost on the way
        return random.uniform(0.05, 0.2, weight.shape).astype(np.float32)
    if weight.ndim > 1 or not np.issubdtype(weight.dtype, np.floating):
        return weight
    return weight + 0.2 * random.standard_normal(weight.shape).astype(np.float32)


def inputs(kind: str, number: int, seed: int) -> list[npt.NDArray[np.float32]]:
    """Inputs of a batch of one between -1 and 1: noise, brighter and darker, and with more and less of it."""
    random = np.random.default_rng(seed)
    shape, _ = KINDS[kind]
    whole = (number, 1, *[1] * len(shape))
    noise = random.uniform(-1, 1, (number, 1, *shape)) * random.uniform(0.2, 1, whole)
    found = noise + random.uniform(-0.7, 0.7, (number, 1, *[1] * (len(shape) - 1), shape[-1]))
    return [*np.clip(found, -1, 1).astype(np.float32)]


def _conv(layers: Any, x: Any, filters: int, size: Any = 3, strides: Any = 1, activation: str = "relu") -> Any:
    x = layers.Conv2D(filters, size, strides, "same", use_bias=False)(x)
    return layers.Activation(activation)(layers.BatchNormalization()(x))


def _separable(layers: Any, x: Any, filters: int, strides: Any = 1) -> Any:
    x = layers.DepthwiseConv2D(3, strides, "same", use_bias=False)(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
    return _conv(layers, x, filters, 1)


def _separable_cnn(layers: Any, x: Any) -> Any:
    x = layers.MaxPooling2D()(_separable(layers, _conv(layers, x, 8), 16))
    x = layers.AveragePooling2D(2)(_separable(layers, x, 24))
    return layers.Dense(10, activation="softmax")(layers.Flatten()(x))


def _residual_cnn(layers: Any, x: Any) -> Any:
    x = _conv(layers, x, 8)
    for filters, strides in ((8, 1), (16, 2), (24, 2)):
        shortcut = x if strides == 1 else layers.Conv2D(filters, 1, strides, "same")(x)
        x = _conv(layers, x, filters, 3, strides)
        x = layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same")(x))
        x = layers.ReLU()(layers.Add()([x, shortcut]))
    return layers.Dense(10)(layers.GlobalAveragePooling2D()(x))


def _autoencoder(layers: Any, x: Any) -> Any:
    for units in (32, 32, 8, 32, 32):
        x = layers.ReLU()(layers.BatchNormalization()(layers.Dense(units)(x)))
    return layers.Dense(160)(x)


def _keyword_spotter(layers: Any, x: Any) -> Any:
    x = layers.Reshape((49, 10, 1))(x)
    x = _conv(layers, x, 16, (10, 4), (2, 2))
    for _ in range(2):
        x = _separable(layers, x, 16)
    x = layers.AveragePooling2D((25, 5))(layers.Dropout(0.4)(x))
    return layers.Dense(12, activation="softmax")(layers.Flatten()(x))


def _person_detector(layers: Any, x: Any) -> Any:
    x = layers.ZeroPadding2D(((0, 1), (0, 1)))(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization()(layers.Conv2D(8, 3, 2, use_bias=False)(x)))
    for filters, strides in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)):
        x = _separable(layers, x, filters, strides)
    x = layers.GlobalAveragePooling2D(keepdims=True)(x)
    return layers.Softmax()(layers.Reshape((2,))(layers.Conv2D(2, 1)(x)))


def _mobile_v3(layers: Any, x: Any) -> Any:
    x = _conv(layers, x, 8, 3, 2, "relu")
    x = layers.Activation("hard_swish" if hasattr(layers, "RMSNormalization") else "swish")(layers.Conv2D(16, 1)(x))
    x = layers.BatchNormalization()(layers.DepthwiseConv2D(5, 2, "same")(x))
    gate = layers.GlobalAveragePooling2D(keepdims=True)(x)
    gate = layers.Conv2D(4, 1, activation="relu")(gate)
    x = layers.Multiply()([x, layers.Conv2D(16, 1, activation="hard_sigmoid")(gate)])
    return layers.Dense(5, activation="softmax")(layers.GlobalAveragePooling2D()(x))


def _unet(layers: Any, x: Any) -> Any:
    first = _conv(layers, x, 8)
    second = _conv(layers, layers.MaxPooling2D()(first), 16)
    x = _conv(layers, layers.MaxPooling2D()(second), 24)
    x = layers.Concatenate()([layers.Conv2DTranspose(16, 2, 2, "same")(x), second])
    x = layers.Concatenate()([layers.Conv2DTranspose(8, 3, 2, "same", activation="relu")(x), first])
    return layers.Conv2D(3, 1, activation="sigmoid")(x)


def _resizing_unet(layers: Any, x: Any) -> Any:
    first = _conv(layers, x, 8)
    x = _conv(layers, layers.MaxPooling2D()(first), 16)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    x = layers.UpSampling2D(2)(layers.MaxPooling2D()(layers.Concatenate()([x, first])))
    return layers.Conv2D(2, 3, padding="same")(x)


def _temporal_cnn(layers: Any, x: Any) -> Any:
    for dilation in (1, 2, 4):
        y = layers.Conv1D(16, 3, padding="causal", dilation_rate=dilation)(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        x = layers.Add()([layers.Conv1D(16, 1)(x), y])
    return layers.Dense(4, activation="softmax")(layers.GlobalMaxPooling1D()(x))


def _cnn_1d(layers: Any, x: Any) -> Any:
    x = layers.MaxPooling1D(2)(layers.Conv1D(12, 5, activation="relu")(x))
    x = layers.AveragePooling1D(2)(layers.SeparableConv1D(16, 3, activation="relu")(x))
    return layers.Dense(6)(layers.Flatten()(x))


def _recurrent(kind: str, *, both: bool = False, **options: Any) -> Callable[[Any, Any], Any]:
    def layers_of(layers: Any, x: Any) -> Any:
        layer = getattr(layers, kind)(12, **options)
        x = layers.Bidirectional(layer)(x) if both else layer(x)
        return layers.Dense(5, activation="softmax")(x)

    return layers_of


def _stacked(kind: str) -> Callable[[Any, Any], Any]:
    def layers_of(layers: Any, x: Any) -> Any:
        x = getattr(layers, kind)(12, return_sequences=True)(x)
        return layers.Dense(5)(getattr(layers, kind)(8)(x))

    return layers_of


def _conv_lstm(layers: Any, x: Any) -> Any:
    x = layers.MaxPooling1D(2)(layers.Conv1D(12, 3, padding="same", activation="relu")(x))
    return layers.Dense(4, activation="softmax")(layers.LSTM(8)(x))


def _attention(layers: Any, x: Any) -> Any:
    x = layers.Dense(16)(x)
    y = layers.MultiHeadAttention(2, 8)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    y = layers.Dense(16)(layers.Dense(32, activation="relu")(x))
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    return layers.Dense(3, activation="softmax")(layers.GlobalAveragePooling1D()(x))


def _vit(layers: Any, x: Any) -> Any:
    tf = importlib.import_module("tensorflow")

    class Tokens(layers.Layer):
        """A class token before the patches, and the positions of all."""

        def build(self, shape: Any) -> None:
            self.token = self.add_weight(name="token", shape=(1, 1, shape[-1]), initializer="random_normal")
            self.places = self.add_weight(
                name="places", shape=(1, shape[1] + 1, shape[-1]), initializer="random_normal"
            )

        def call(self, patches: Any) -> Any:
            token = tf.broadcast_to(self.token, [tf.shape(patches)[0], 1, patches.shape[-1]])
            return tf.concat([token, patches], 1) + self.places

        def compute_output_shape(self, shape: Any) -> Any:
            return (shape[0], shape[1] + 1, shape[2])

    x = Tokens()(layers.Reshape((16, 16))(layers.Conv2D(16, 4, 4)(x)))
    for _ in range(2):
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        x = layers.Add()([x, layers.MultiHeadAttention(2, 8)(y, y)])
        y = layers.Dense(32, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(x))
        x = layers.Add()([x, layers.Dense(16)(y)])
    x = layers.Cropping1D((0, 16))(layers.LayerNormalization(epsilon=1e-6)(x))
    return layers.Dense(5, activation="softmax")(layers.Flatten()(x))


def _gelu_mixer(layers: Any, x: Any) -> Any:
    y = layers.Permute((2, 1))(layers.Dense(20, activation="gelu")(layers.Permute((2, 1))(x)))
    return layers.Dense(3)(layers.GlobalAveragePooling1D()(layers.Dense(8, activation="gelu")(y)))


def _activation(name: str) -> Callable[[Any, Any], Any]:
    def layers_of(layers: Any, x: Any) -> Any:
        makers: dict[str, Callable[[], Any]] = {
            "leaky_relu": lambda: layers.LeakyReLU(0.1),
            "prelu": lambda: layers.PReLU(alpha_initializer="random_uniform", shared_axes=[1, 2]),
            "elu": layers.ELU,
        }
        maker = makers.get(name, lambda: layers.Activation(name))
        x = maker()(layers.Conv2D(8, 3, 2)(x))
        x = maker()(layers.DepthwiseConv2D(3)(x))
        return layers.Dense(4)(layers.Flatten()(x))

    return layers_of


def _heads(layers: Any, x: Any) -> Any:
    x = layers.GlobalMaxPooling2D()(_conv(layers, x, 8, 3, 2))
    scores = layers.Dense(6)(layers.Dense(16, activation="relu")(x))
    return layers.Softmax()(layers.Subtract()([scores, layers.Dense(6, activation="tanh")(x)]))


def _dilated(layers: Any, x: Any) -> Any:
    x = layers.Conv2D(8, 3, dilation_rate=2, activation="relu")(x)
    x = layers.SpatialDropout2D(0.2)(layers.DepthwiseConv2D(3, dilation_rate=2, padding="same")(x))
    x = layers.Cropping2D(2)(layers.ZeroPadding2D(1)(x))
    return layers.Dense(3, activation="sigmoid")(layers.GlobalAveragePooling2D()(x))


def _group_norm(layers: Any, x: Any) -> Any:
    x = layers.GroupNormalization(2)(layers.Conv2D(8, 3, 2)(x))
    return layers.Dense(3)(layers.GlobalAveragePooling2D()(layers.ReLU()(x)))


def _time_distributed(layers: Any, x: Any) -> Any:
    x = layers.TimeDistributed(layers.Dense(8, activation="relu"))(x)
    x = layers.RepeatVector(3)(layers.GlobalAveragePooling1D()(x))
    return layers.Dense(2)(x)


def _minimum_maximum(layers: Any, x: Any) -> Any:
    one, other = layers.Dense(6)(x), layers.Dense(6)(x)
    return layers.Average()([layers.Maximum()([one, other]), layers.Minimum()([one, other]), layers.Dot(1)([x, x])])


_SERIES, _IMAGE = (12, 6), (16, 16, 3)

KINDS: Mapping[str, tuple[tuple[int, ...], Callable[[Any, Any], Any]]] = {
    "separable_cnn": (_IMAGE, _separable_cnn),
    "residual_cnn": (_IMAGE, _residual_cnn),
    "autoencoder": ((160,), _autoencoder),
    "keyword_spotter": ((490,), _keyword_spotter),
    "person_detector": ((48, 48, 1), _person_detector),
    "mobile_v3": ((32, 32, 3), _mobile_v3),
    "unet": (_IMAGE, _unet),
    "resizing_unet": (_IMAGE, _resizing_unet),
    "temporal_cnn": ((32, 4), _temporal_cnn),
    "cnn_1d": ((32, 4), _cnn_1d),
    "lstm": (_SERIES, _recurrent("LSTM")),
    "bidirectional_lstm": (_SERIES, _recurrent("LSTM", both=True)),
    "backwards_lstm": (_SERIES, _recurrent("LSTM", go_backwards=True)),
    "conv_lstm": (_SERIES, _conv_lstm),
    "gru": (_SERIES, _recurrent("GRU")),
    "gru_reset_before": (_SERIES, _recurrent("GRU", reset_after=False)),
    "bidirectional_gru": (_SERIES, _recurrent("GRU", both=True)),
    "simple_rnn": (_SERIES, _recurrent("SimpleRNN")),
    "stacked_lstm": (_SERIES, _stacked("LSTM")),
    "stacked_gru": (_SERIES, _stacked("GRU")),
    "attention": (_SERIES, _attention),
    "vit": (_IMAGE, _vit),
    "gelu_mixer": (_SERIES, _gelu_mixer),
    "leaky_relu": (_IMAGE, _activation("leaky_relu")),
    "prelu": (_IMAGE, _activation("prelu")),
    "elu": (_IMAGE, _activation("elu")),
    "swish": (_IMAGE, _activation("swish")),
    "selu": (_IMAGE, _activation("selu")),
    "softplus": (_IMAGE, _activation("softplus")),
    "hard_sigmoid": (_IMAGE, _activation("hard_sigmoid")),
    "softsign": (_IMAGE, _activation("softsign")),
    "heads": (_IMAGE, _heads),
    "dilated": (_IMAGE, _dilated),
    "group_norm": (_IMAGE, _group_norm),
    "time_distributed": (_SERIES, _time_distributed),
    "minimum_maximum": ((6,), _minimum_maximum),
}
