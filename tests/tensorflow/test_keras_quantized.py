"""Models that Keras has quantized (``model.quantize("int8")``): products of int8, with scales computed in each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.checking import check, normal

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def with_weights(model: Any) -> Any:
    random = np.random.default_rng(5)
    for weight in model.weights:
        if "seed" not in weight.path:
            weight.assign(random.normal(0, 0.4, tuple(weight.shape)))
    model.quantize("int8")
    return model


def dense(tf: Any) -> Any:
    keras = tf.keras
    x = keras.Input((10,), name="x")
    y = keras.layers.Dense(300, activation="relu")(x)
    return with_weights(keras.Model(x, keras.layers.Dense(4)(y)))


def text(tf: Any) -> Any:
    keras = tf.keras
    ids = keras.Input((6,), dtype="int32", name="ids")
    x = keras.layers.Embedding(50, 16)(ids)
    x = x + keras.layers.MultiHeadAttention(2, 8)(x, x)
    x = keras.layers.EinsumDense("abc,cd->abd", (6, 24), bias_axes="d")(x)
    return with_weights(keras.Model(ids, keras.layers.Dense(5)(keras.layers.GlobalAveragePooling1D()(x))))


# A number next to the middle between two integers may be rounded to the other one, a 127th of the largest in its row.
TOLERANCE = 0.01


def test_dense(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(dense), normal({"x": (None, 10)}, batches=(3, 1, 7)), rtol=TOLERANCE)
    assert result.report.op_counts["BATCH_MATMUL"] == 2
    assert len(result.model_bytes) < 300 * 14 * 4, "a byte for each weight"


def test_embeddings_and_attention(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(6)
    inputs = [{"ids": random.integers(0, 50, (batch, 6)).astype(np.int32)} for batch in (3, 1, 5)]
    check(tensorflow, tensorflow.save(text), inputs, rtol=TOLERANCE)


def product(tf: Any, adjoint: bool, rank: int, constant: bool) -> Any:
    module = tf.Module()
    shape = [None, *[2] * (rank - 2), 40]
    weights = tf.constant(np.random.default_rng(1).integers(-128, 128, (7, 40) if adjoint else (40, 7)), tf.int8)
    signature = [tf.TensorSpec(shape, tf.int8, name="x")]
    signature += [] if constant else [tf.TensorSpec(weights.shape, tf.int8, name="w")]

    def serve(*factors: Any) -> Any:
        x, w = (*factors, weights)[:2]
        return {"y": tf.matmul(x, w, transpose_b=adjoint, output_type=tf.int32)}

    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def test_products_of_int8_are_exact(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(7)
    for adjoint in (False, True):
        for rank in (2, 3):
            for constant in (False, True):
                w = random.integers(-128, 128, (7, 40) if adjoint else (40, 7)).astype(np.int8)
                inputs = [
                    {"x": random.integers(-128, 128, (batch, *[2] * (rank - 2), 40)).astype(np.int8)}
                    | ({} if constant else {"w": w})
                    for batch in (3, 1, 4)
                ]
                check(tensorflow, tensorflow.save(product, adjoint, rank, constant), inputs)
