"""A transformer text classifier in Keras 3, as its documentation builds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.every import every
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

VOCABULARY, LENGTH, WIDTH, CLASSES = 200, 12, 16, 3


def text_classifier(tf: Any, dtype: str) -> Any:
    keras, layers = tf.keras, tf.keras.layers
    ids = keras.Input([LENGTH], dtype=dtype, name="ids")
    positions = np.arange(LENGTH)[None]
    x = layers.Embedding(VOCABULARY, WIDTH, name="tokens")(ids)
    x = x + layers.Embedding(LENGTH, WIDTH, name="positions")(positions)
    attended = layers.MultiHeadAttention(num_heads=2, key_dim=8, name="attention")(x, x)
    x = layers.LayerNormalization(name="norm_1")(x + layers.Dropout(0.1)(attended))
    wide = layers.Dense(32, activation="gelu", name="wide")(x)
    x = layers.LayerNormalization(name="norm_2")(x + layers.Dense(WIDTH, name="narrow")(wide))
    x = layers.GlobalAveragePooling1D()(x)
    model = keras.Model(ids, layers.Dense(CLASSES, activation="softmax", name="classes")(x))
    random = np.random.default_rng(4)
    model.set_weights([weight + random.normal(0, 0.3, weight.shape) for weight in model.get_weights()])
    return model


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_text_classifier(tensorflow: TensorFlow, dtype: str) -> None:
    path = tensorflow.save(text_classifier, dtype)
    random = np.random.default_rng(6)
    inputs = [{"ids": random.integers(0, VOCABULARY, [batch, LENGTH]).astype(dtype)} for batch in (1, 3, 1)]
    outputs = [tensorflow.run(path, each, calls=1)[0] for each in inputs]
    assert every(next(iter(output.values())).std() > 0.01 for output in outputs)
    result = check(tensorflow, path, inputs)
    stock = tensorflow.stock_convert(path)
    assert isinstance(stock, bytes), stock
    ours, theirs = op_counts(result.model_bytes), op_counts(stock)
    # Fewer ops on sizes; and layer normalization subtracts, in place of adding what it negates.
    assert {op: count for op, count in ours.items() if count > theirs[op] + (theirs["NEG"] if op == "SUB" else 0)} == {}
    assert sum(ours.values()) < sum(theirs.values())
