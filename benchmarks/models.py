"""The SavedModels that are converted. ``python benchmarks/models.py NAME FOLDER`` makes one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

MODELS = {
    "MobileNetV3Small": "10 MB",
    "MobileNetV2": "14 MB",
    "EfficientNetB0": "21 MB",
    "DenseNet121": "32 MB",
    "InceptionV3": "95 MB",
    "ResNet50": "102 MB",
    "ResNet152": "241 MB",
    "encoder": "438 MB, 12 layers of a BERT-like encoder, 768 wide",
    "text_rnn": "a text classifier: embedding with mask, two bidirectional LSTMs; the batch is fixed",
    "speech_gru": "speech commands: Conv1D and two GRUs over a second of features; the batch is fixed",
    "translation": "an encoder and a decoder of LSTMs with attention; the batch is fixed",
    "composite": "two embeddings of words, each an annotated composite",
    "embedding": "1.03 GB, an embedding of 240,000 rows and a dense layer",
}
_WORDS = 30522
_ROWS = 240_000


def make(name: str, folder: str) -> None:
    """Makes one in this process.

    Args:
        name: A key of ``MODELS``, ``chain:N`` for a model of N ops, ``unrolled:N`` for a GRU of N steps, or
            ``matrices:N`` for a model of N MB of weights.
        folder: Where it goes.
    """
    tf: Any = importlib.import_module("tensorflow")
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(0)
    kind, _, size = name.partition(":")
    if kind in _OF_KERAS or hasattr(keras.applications, kind):
        model = _OF_KERAS[kind](keras) if kind in _OF_KERAS else getattr(keras.applications, kind)(weights=None)
        signature = [
            tf.TensorSpec(each.shape, each.dtype, name=f"x{number or ''}") for number, each in enumerate(model.inputs)
        ]
        model.export(folder, verbose=False, input_signature=signature if len(signature) == 1 else [signature])
        return
    module = {"composite": composite, "embedding": embedding}[kind](tf) if not size else _SIZED[kind](tf, int(size))
    tf.saved_model.save(module, folder, {"serving_default": module.serve})


def inputs_of(details: dict[str, Any]) -> dict[str, Any]:
    """Values for a signature's inputs: word numbers for integers, else a picture's values; a batch of one."""
    random = np.random.default_rng(0)
    values: dict[str, Any] = {}
    for name, detail in details.items():
        batch, *others = detail["shape_signature"]
        shape = [max(1, batch), *(224 if size < 0 else size for size in others)]
        whole = np.issubdtype(detail["dtype"], np.integer)
        values[name] = (random.integers(1, 40, shape) if whole else random.uniform(0, 1, shape)).astype(detail["dtype"])
    return values


def encoder(keras: Any, layers: int = 12, width: int = 768, heads: int = 12, inner: int = 3072) -> Any:
    """Like BERT's, with 128 words."""
    ids = keras.Input((128,), dtype="int32")
    x = keras.layers.Embedding(_WORDS, width)(ids) + keras.layers.Embedding(128, width)(np.arange(128)[None])
    x = keras.layers.LayerNormalization()(x)
    for _ in range(layers):
        y = keras.layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = keras.layers.LayerNormalization()(x + y)
        y = keras.layers.Dense(width)(keras.layers.Dense(inner, activation="gelu")(x))
        x = keras.layers.LayerNormalization()(x + y)
    return keras.Model(ids, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(x)))


def text_rnn(keras: Any) -> Any:
    """With a fixed batch, without which the stock converter does not convert it."""
    layers = keras.layers
    ids = keras.Input(batch_shape=(1, 100), dtype="int32")
    x = layers.Embedding(20_000, 64, mask_zero=True)(ids)
    x = layers.Bidirectional(layers.LSTM(64, return_sequences=True))(x)
    x = layers.Bidirectional(layers.LSTM(64))(x)
    return keras.Model(ids, layers.Dense(4, activation="softmax")(x))


def speech_gru(keras: Any) -> Any:
    """With a fixed batch, as are all recurrent models here."""
    layers = keras.layers
    x = keras.Input(batch_shape=(1, 98, 40))
    y = layers.BatchNormalization()(layers.Conv1D(128, 5, strides=2, activation="relu")(x))
    y = layers.GRU(128)(layers.GRU(128, return_sequences=True)(y))
    return keras.Model(x, layers.Dense(12, activation="softmax")(y))


def translation(keras: Any) -> Any:
    """The decoder begins with the encoder's state and looks at all of its outputs."""
    layers = keras.layers
    ids, given = (keras.Input(batch_shape=(1, 40), dtype="int32") for _ in range(2))
    encoded, *states = layers.LSTM(256, return_sequences=True, return_state=True)(
        layers.Embedding(8000, 256, mask_zero=True)(ids)
    )
    decoded = layers.LSTM(256, return_sequences=True)(layers.Embedding(8000, 256)(given), initial_state=states)
    seen = layers.Concatenate()([decoded, layers.Attention()([decoded, encoded])])
    return keras.Model([ids, given], layers.Dense(8000)(seen))


def composite(tf: Any) -> Any:
    """Words and their tags, each looked up by an annotated product with one-hot vectors."""
    random = np.random.default_rng(0)

    @tf.function(experimental_implements="embedding_matmul")
    def look_up(table: Any, ids: Any) -> Any:
        return tf.matmul(tf.one_hot(ids, table.shape[0]), table)

    module = tf.Module()
    module.words, module.tags, module.weight = (
        tf.Variable(random.standard_normal(shape).astype(np.float32) * 0.2)
        for shape in ((5000, 64), (40, 64), (64, 32))
    )

    @tf.function(input_signature=[tf.TensorSpec([50], tf.int32, name=name) for name in ("x", "tags")])
    def serve(x: Any, tags: Any) -> Any:
        return {"y": tf.nn.relu((look_up(module.words, x) + look_up(module.tags, tags)) @ module.weight)}

    module.serve = serve
    return module


def embedding(tf: Any) -> Any:
    """Large, and of few ops."""
    module = tf.Module()
    module.table, module.weight = tf.Variable(_matrix(_ROWS, 1024)), tf.Variable(_matrix(1024, 12_000))

    @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.nn.relu(tf.reduce_mean(tf.gather(module.table, x), axis=1) @ module.weight)}

    module.serve = serve
    return module


def chain(tf: Any, ops: int) -> Any:
    """So many ops one after the other, with different constants."""
    numbers = np.random.default_rng(0).uniform(-1, 1, (ops // 2, 8)).astype(np.float32)
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 8], name="x")], autograph=False)
    def serve(x: Any) -> Any:
        for each in numbers:
            x = tf.tanh(x + each)
        return {"y": x}

    module.serve = serve
    return module


def unrolled(tf: Any, steps: int) -> Any:
    """A GRU of 16 units that is written as a loop in Python, so that each step has ops of its own."""
    module = tf.Module()
    module.weights = [tf.Variable(_matrix(rows, 48)) for rows in (16, 16, 2)]
    kernel, recurrent, biases = module.weights

    @tf.function(input_signature=[tf.TensorSpec([1, steps, 16], name="x")], autograph=False)
    def serve(x: Any) -> Any:
        state = tf.zeros([1, 16])
        for step in range(steps):
            of_x = tf.split(x[:, step] @ kernel + biases[0], 3, axis=1)
            of_state = tf.split(state @ recurrent + biases[1], 3, axis=1)
            update, reset = (tf.sigmoid(a + b) for a, b in zip(of_x[:2], of_state[:2], strict=True))
            state = update * state + (1 - update) * tf.tanh(of_x[2] + reset * of_state[2])
        return {"y": state}

    module.serve = serve
    return module


def matrices(tf: Any, megabytes: int) -> Any:
    """Four dense layers of so many megabytes together."""
    size = round((megabytes * 1e6 / 16) ** 0.5)
    module = tf.Module()
    module.weights = [tf.Variable(_matrix(size, size, seed=number)) for number in range(4)]

    @tf.function(input_signature=[tf.TensorSpec([None, size], name="x")])
    def serve(x: Any) -> Any:
        for each in module.weights:
            x = tf.nn.relu(x @ each)
        return {"y": x}

    module.serve = serve
    return module


def _matrix(rows: int, columns: int, seed: int = 0) -> Any:
    return np.random.default_rng([rows, seed]).standard_normal((rows, columns), np.float32) * np.float32(rows**-0.5)


_OF_KERAS = {"encoder": encoder, "speech_gru": speech_gru, "text_rnn": text_rnn, "translation": translation}
_SIZED = {"chain": chain, "matrices": matrices, "unrolled": unrolled}

if __name__ == "__main__":
    make(sys.argv[1], str(Path(sys.argv[2])))
