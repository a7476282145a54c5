"""Fifteen small models of Keras, of the kinds that people convert, and what to call them with.

``build`` runs in a process that has TensorFlow. Most layers have more than 1,024 weights, since ``dynamic`` leaves
fewer as they are, and one model has more than a megabyte of them in int8: litert-quantizer writes those of such files
behind the flatbuffer.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.tensorflow.device_models import KINDS

_VOCABULARY, _LENGTH, _WIDTH = 200, 12, 32

Shapes = Mapping[str, tuple[int, ...]]


def build(tf: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Returns a module and its signature, with biases that are not 0; the batch is open."""
    keras = importlib.import_module("keras")
    keras.utils.set_random_seed(7)
    shapes, layers = MODELS[name]
    inputs = {each: keras.Input(shape, name=each, dtype=_dtype(each)) for each, shape in shapes.items()}
    model = keras.Model(inputs, layers(keras, *inputs.values()))
    random = np.random.default_rng(7)
    for variable in model.weights:
        value = variable.numpy()
        if "variance" in variable.path:
            variable.assign(random.uniform(0.3, 0.8, value.shape))
        elif value.ndim == 1 and np.issubdtype(value.dtype, np.floating):
            variable.assign(value + 0.1 * random.standard_normal(value.shape))
    module = tf.Module()
    specs = [tf.TensorSpec([None, *shape], _dtype(each), name=each) for each, shape in shapes.items()]

    def serve(*given: Any) -> dict[str, Any]:
        return {"y": model(dict(zip(shapes, given, strict=True)), training=False)}

    module.serve = tf.function(serve, input_signature=specs)
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def inputs_of(name: str) -> Shapes:
    """Returns the shapes of a model's inputs without the batch, in their order."""
    return MODELS[name][0]


def draw(name: str, rows: int, seed: int) -> dict[str, npt.NDArray[Any]]:
    """Returns inputs with so many rows: noise, brighter and darker, with more and less of it; or ids."""
    random = np.random.default_rng(seed)
    drawn: dict[str, npt.NDArray[Any]] = {}
    for key, shape in inputs_of(name).items():
        if key == "ids":
            drawn[key] = random.integers(0, _VOCABULARY, (rows, *shape), dtype=np.int32)
        elif key == "mask":
            drawn[key] = (np.arange(shape[0]) < random.integers(4, shape[0] + 1, (rows, 1))).astype(np.int32)
        else:
            each = (rows, *[1] * len(shape))
            noise = random.uniform(-1, 1, (rows, *shape)) * random.uniform(0.3, 1, each)
            drawn[key] = np.clip(noise + random.uniform(-0.5, 0.5, each), -1, 1).astype(np.float32)
    return drawn


def _dtype(name: str) -> str:
    return "float32" if name == "x" else "int32"


def _device(kind: str) -> tuple[Shapes, Callable[..., Any]]:
    shape, layers = KINDS[kind]

    def layers_of(keras: Any, x: Any) -> Any:
        return layers(keras.layers, x)

    return {"x": shape}, layers_of


def _cnn(keras: Any, x: Any) -> Any:
    layers = keras.layers
    x = layers.Conv2D(16, 3, activation="relu")(x)
    x = layers.MaxPooling2D()(layers.Conv2D(24, 3, activation="relu")(x))
    return layers.Dense(10, activation="softmax")(layers.Dense(32, activation="relu")(layers.Flatten()(x)))


def _swish_cnn(keras: Any, x: Any) -> Any:
    layers = keras.layers
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="swish")(x)
    for filters in (32, 48):
        x = layers.DepthwiseConv2D(3, padding="same", activation="swish")(x)
        x = layers.BatchNormalization()(layers.Conv2D(filters, 1)(x))
        gate = layers.Dense(8, activation="swish")(layers.GlobalAveragePooling2D(keepdims=True)(x))
        x = layers.Multiply()([x, layers.Dense(filters, activation="sigmoid")(gate)])
    return layers.Dense(8)(layers.GlobalAveragePooling2D()(x))


def _mlp(keras: Any, x: Any) -> Any:
    x = keras.layers.Dense(1024, activation="relu")(x)
    return keras.layers.Dense(16)(keras.layers.Dense(1024, activation="relu")(x))


def _attention(keras: Any, x: Any) -> Any:
    layers = keras.layers
    x = _block(layers, layers.Dense(_WIDTH)(x), "relu")
    return layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling1D()(x))


def _block(layers: Any, x: Any, activation: str, **options: Any) -> Any:
    """Attention and two products, each behind a layer norm."""
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(4, _WIDTH // 4)(y, y, **options)])
    y = layers.Dense(2 * _WIDTH, activation=activation)(layers.LayerNormalization()(x))
    return layers.Add()([x, layers.Dense(_WIDTH)(y)])


def _positions(keras: Any, x: Any, length: int) -> Any:
    return x + keras.layers.Embedding(length, _WIDTH)(np.arange(length, dtype=np.int32))


def _bert(keras: Any, ids: Any, mask: Any) -> Any:
    layers = keras.layers
    x = layers.LayerNormalization()(_positions(keras, layers.Embedding(_VOCABULARY, _WIDTH)(ids), _LENGTH))
    seen = keras.ops.cast(mask, "bool")[:, None, :]
    for _ in range(2):
        x = _block(layers, x, "gelu", attention_mask=seen)
    return layers.Dense(6)(layers.Dense(_WIDTH, activation="tanh")(x[:, 0]))


def _gpt2(keras: Any, ids: Any) -> Any:
    layers = keras.layers
    x = _positions(keras, layers.Embedding(_VOCABULARY, _WIDTH)(ids), _LENGTH)
    for _ in range(2):
        x = _block(layers, x, "gelu", use_causal_mask=True)
    return layers.Dense(_VOCABULARY, use_bias=False)(layers.LayerNormalization()(x))


def _vit(keras: Any, x: Any) -> Any:
    layers = keras.layers

    class ClassToken(layers.Layer):
        def build(self, shape: Any) -> None:
            self.token = self.add_weight(shape=(1, 1, shape[-1]), name="token")

        def call(self, x: Any) -> Any:
            return keras.ops.concatenate([keras.ops.repeat(self.token, keras.ops.shape(x)[0], 0), x], 1)

    x = layers.Reshape((16, _WIDTH))(layers.Conv2D(_WIDTH, 4, strides=4)(x))
    x = _positions(keras, ClassToken()(x), 17)
    for _ in range(2):
        x = _block(layers, x, "gelu")
    return layers.Dense(10)(layers.LayerNormalization()(x)[:, 0])


def _recurrent(kind: str) -> Callable[..., Any]:
    def layers_of(keras: Any, x: Any) -> Any:
        x = getattr(keras.layers, kind)(24, return_sequences=True)(x)
        return keras.layers.Dense(5, activation="softmax")(getattr(keras.layers, kind)(20)(x))

    return layers_of


def _embedding(keras: Any, ids: Any) -> Any:
    x = keras.layers.Embedding(_VOCABULARY, 24)(ids)
    x = keras.layers.Dense(48, activation="relu")(keras.layers.GlobalAveragePooling1D()(x))
    return keras.layers.Dense(3, activation="sigmoid")(x)


_IMAGE, _SERIES, _IDS = (16, 16, 3), (12, 16), (_LENGTH,)

#: The inputs of each model without the batch, and its layers.
MODELS: Mapping[str, tuple[Shapes, Callable[..., Any]]] = {
    "attention": ({"x": _SERIES}, _attention),
    "BERT": ({"ids": _IDS, "mask": _IDS}, _bert),
    "CNN": ({"x": _IMAGE}, _cnn),
    "embedding": ({"ids": _IDS}, _embedding),
    "GPT-2": ({"ids": _IDS}, _gpt2),
    "GRU": ({"x": _SERIES}, _recurrent("GRU")),
    "keyword spotter": _device("keyword_spotter"),
    "LSTM": ({"x": _SERIES}, _recurrent("LSTM")),
    "MLP": ({"x": (64,)}, _mlp),
    "MobileNetV3": _device("mobile_v3"),
    "residual CNN": _device("residual_cnn"),
    "swish CNN": ({"x": _IMAGE}, _swish_cnn),
    "temporal CNN": _device("temporal_cnn"),
    "U-Net": _device("unet"),
    "ViT": ({"x": _IMAGE}, _vit),
}
