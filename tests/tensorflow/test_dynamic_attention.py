# pyright: reportUnknownVariableType=false
"""Attention of any batch and length, as decoders write it: right, and wholly XNNPACK's once its masks are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, partition_count

if TYPE_CHECKING:
    from tests.tensorflow.process import Arrays, TensorFlow

WIDTH, HEADS, LAYERS, VOCABULARY = 24, 3, 2, 40
DEPTH = WIDTH // HEADS


class Weights:
    """Random weights, by name; the same name is another weight each time."""

    def __init__(self, tf: Any) -> None:
        self._tf, self._random = tf, np.random.default_rng(0)

    def __call__(self, *shape: int) -> Any:
        return self._tf.constant((self._random.standard_normal(shape) * 0.2).astype(np.float32))

    def flat_product(self, x: Any, width: int) -> Any:
        """A product of the flattened rows and a bias, as GPT-2's convolution of size 1 is written."""
        tf, shape = self._tf, self._tf.shape(x)
        flat = tf.reshape(x, [-1, x.shape[-1]])
        total = tf.matmul(flat, self(x.shape[-1], width)) + self(1, width)
        return tf.reshape(total, [shape[0], shape[1], width])

    def dense(self, x: Any, width: int) -> Any:
        """A product and a bias, as Keras's Dense is written."""
        return self._tf.nn.bias_add(self._tf.tensordot(x, self(x.shape[-1], width), [[2], [0]]), self(width))


def fused_queries(tf: Any, ids: Any, mask: Any) -> Any:
    """As GPT-2: queries, keys and values are one product; the mask is multiplied and subtracted."""
    weights, shape = Weights(tf), tf.shape(ids)
    length = shape[1]
    x = tf.gather(weights(VOCABULARY, WIDTH), ids) + tf.gather(weights(20, WIDTH), tf.range(length))[None]
    padding = tf.cast(tf.reshape(mask, [tf.shape(mask)[0], 1, 1, tf.shape(mask)[1]]), tf.float32)
    causal = tf.cast(tf.range(length)[:, None] >= tf.range(length)[None], tf.float32)
    causal = tf.reshape(causal, [1, 1, length, length])
    for _ in range(LAYERS):
        parts = tf.split(weights.flat_product(x, 3 * WIDTH), 3, axis=2)
        heads = [tf.reshape(part, [tf.shape(part)[0], tf.shape(part)[1], HEADS, DEPTH]) for part in parts]
        q, k, v = (tf.transpose(part, [0, 2, 1, 3]) for part in heads)
        scores = tf.matmul(q, k, transpose_b=True) / np.float32(np.sqrt(DEPTH))
        scores = scores * causal - 1e4 * (1 - causal) + (1 - padding) * -1e4
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
        mixed = tf.reshape(mixed, [tf.shape(mixed)[0], tf.shape(mixed)[1], WIDTH])
        x = x + weights.flat_product(mixed, WIDTH)
        x = x + weights.flat_product(tf.nn.gelu(weights.flat_product(x, 2 * WIDTH), approximate=True), WIDTH)
    return tf.reshape(x, [shape[0], shape[1], WIDTH])


def merged_batches(tf: Any, ids: Any, mask: Any) -> Any:
    """As BART: the heads are merged with the batch for the products, and asserted sizes are read from them."""
    weights = Weights(tf)
    x = tf.gather(weights(VOCABULARY, WIDTH), ids)
    padding = (1 - tf.cast(mask, tf.float32)[:, None, None, :]) * -1e4
    for _ in range(LAYERS):
        batch, length = tf.shape(x)[0], tf.shape(x)[1]
        scaled = weights.dense(x, WIDTH) * np.float32(DEPTH**-0.5)
        parts = [scaled, weights.dense(x, WIDTH), weights.dense(x, WIDTH)]
        heads = [tf.transpose(tf.reshape(part, [batch, -1, HEADS, DEPTH]), [0, 2, 1, 3]) for part in parts]
        q, k, v = (tf.reshape(part, [batch * HEADS, -1, DEPTH]) for part in heads)
        scores = tf.matmul(q, k, transpose_b=True)
        tf.debugging.assert_equal(tf.shape(scores), [batch * HEADS, length, tf.shape(k)[1]])
        scores = tf.reshape(scores, [batch, HEADS, length, tf.shape(k)[1]]) + padding
        scores = tf.reshape(scores, [batch * HEADS, length, tf.shape(k)[1]])
        mixed = tf.reshape(tf.matmul(tf.nn.softmax(scores), v), [batch, HEADS, length, DEPTH])
        mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch, length, WIDTH])
        x = x + weights.dense(mixed, WIDTH)
        x = x + weights.dense(tf.nn.relu(weights.dense(x, 2 * WIDTH)), WIDTH)
    return x


FORMS = {form.__name__: form for form in (fused_queries, merged_batches)}


def module(tf: Any, name: str) -> Any:
    result = tf.Module()
    specifications = [tf.TensorSpec([None, None], tf.int32, name=name) for name in ("ids", "mask")]

    def serve(ids: Any, mask: Any) -> dict[str, Any]:
        return {"y": FORMS[name](tf, ids, mask)}

    result.serve = tf.function(serve, input_signature=specifications, autograph=False)
    return result, {"serving_default": result.serve}


def calls(*sizes: tuple[int, int]) -> list[Arrays]:
    random = np.random.default_rng(1)
    return [
        {
            "ids": random.integers(0, VOCABULARY, size).astype(np.int32),
            "mask": (np.arange(size[1]) < random.integers(1, size[1] + 1, (size[0], 1))).astype(np.int32),
        }
        for size in sizes
    ]


@pytest.mark.parametrize("name", FORMS)
def test_the_layers_are_one_partition(tensorflow: TensorFlow, name: str) -> None:
    inputs = calls((1, 5), (3, 7), (2, 1), (1, 1), (4, 20))
    path = tensorflow.save(module, name)
    result = check(tensorflow, path, inputs)
    assert partition_count(result.model_bytes, inputs[1]) == 1
    assert partition_count(litefuse.convert(path, batch=1).model_bytes, inputs[0]) == 1


@pytest.mark.parametrize("name", FORMS)
def test_a_mask_of_one_row_is_broadcast(tensorflow: TensorFlow, name: str) -> None:
    """A size of which it is not known whether it is that of the batch."""
    one, several = calls((1, 6), (3, 6))
    check(tensorflow, tensorflow.save(module, name), [{**several, "mask": one["mask"]}, one, several])
