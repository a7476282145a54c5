"""Language models that write: the loop over tokens, with cache, sampling and stop token, is in the model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, PROMPT, STOP = 40, 16, 2, 2, 12, 4, 3


def greedy(tf: Any, logits: Any, seed: Any) -> Any:
    return tf.argmax(logits, -1, tf.int32)


def drawn(tf: Any, logits: Any, seed: Any) -> Any:
    return tf.random.stateless_categorical(logits, 1, seed, tf.int32)[:, 0]


def drawn_of_the_likely(tf: Any, logits: Any, seed: Any) -> Any:
    """Of the classes that make up nine tenths together."""
    likely, classes = tf.math.top_k(logits, VOCABULARY)
    before = tf.cumsum(tf.nn.softmax(likely), -1, exclusive=True)
    place = tf.random.stateless_categorical(tf.where(before < 0.9, likely, -np.inf), 1, seed, tf.int32)
    return tf.gather(classes, place, batch_dims=1)[:, 0]


SAMPLERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    each.__name__: each for each in (greedy, drawn, drawn_of_the_likely)
}


def writer(tf: Any, sampler: str) -> Any:
    random = np.random.default_rng(5)
    # What Keras's slice_update is.
    update_slice = importlib.import_module("tensorflow.compiler.tf2xla.python.xla").dynamic_update_slice

    def weight(*shape: int) -> Any:
        return tf.Variable(random.standard_normal(shape).astype(np.float32) * 0.7)

    module = tf.Module()
    module.tokens, module.positions = weight(VOCABULARY, WIDTH), weight(LENGTH, WIDTH)
    module.kernels = [[weight(WIDTH, WIDTH) for _ in range(4)] for _ in range(LAYERS)]
    split = [-1, 1, HEADS, WIDTH // HEADS]

    def step(token: Any, position: Any, cache: Any) -> tuple[Any, Any]:
        """The next token's logits, and the cache of keys and values: ``[2 * LAYERS, batch, LENGTH, HEADS, -1]``."""
        x = tf.gather(module.tokens, token) + module.positions[position]
        seen = tf.where(tf.range(LENGTH) <= position, 0.0, -np.inf)
        for layer, (query, key, value, out) in enumerate(module.kernels):
            for part, kernel in enumerate((key, value)):
                added = tf.reshape(tf.matmul(x, kernel), split)[None]
                place = tf.stack([2 * layer + part, 0, position, 0, 0])
                cache = update_slice(cache, added, place)
            heads = tf.reshape(tf.matmul(x, query), split)
            scores = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", heads, cache[2 * layer]) + seen)
            mixed = tf.einsum("bhqk,bkhd->bqhd", scores, cache[2 * layer + 1])
            x += tf.matmul(tf.reshape(mixed, [-1, WIDTH]), out)
        return tf.matmul(x, module.tokens, transpose_b=True), cache

    def serve(prompt: Any, seed: Any) -> dict[str, Any]:
        batch = tf.shape(prompt)[0]

        def proceed(position: Any, tokens: Any, cache: Any, done: Any) -> Any:
            return (position < LENGTH - 1) & ~tf.reduce_all(done)

        def write(position: Any, tokens: Any, cache: Any, done: Any) -> Any:
            logits, cache = step(tokens[:, position], position, cache)
            following = position + 1
            written = SAMPLERS[sampler](tf, logits, seed + tf.stack([0, position]))
            written = tf.where(following < PROMPT, tokens[:, following], tf.where(done, 0, written))
            place = tf.stack([0, following])
            tokens = update_slice(tokens, written[:, None], place)
            return following, tokens, cache, done | ((written == STOP) & (following >= PROMPT))

        tokens = tf.pad(prompt, [[0, 0], [0, LENGTH - PROMPT]])
        cache = tf.zeros([2 * LAYERS, batch, LENGTH, HEADS, WIDTH // HEADS])
        done = tf.zeros([batch], tf.bool)
        last, tokens, _, _ = tf.while_loop(proceed, write, [0, tokens, cache, done])
        return {"tokens": tokens, "steps": last}

    signature = [tf.TensorSpec([None, PROMPT], tf.int32, name="prompt"), tf.TensorSpec([2], tf.int32, name="seed")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_tokens(tensorflow: TensorFlow, sampler: str) -> None:
    random = np.random.default_rng(1)
    sets = [
        {"prompt": random.integers(4, VOCABULARY, (batch, PROMPT)).astype(np.int32), "seed": np.array(seed, np.int32)}
        for batch, seed in ((1, [1, 2]), (3, [-5, 7]), (2, [0, 0]))
    ]
    result = check(tensorflow, tensorflow.save(writer, sampler), sets)
    assert op_counts(result.model_bytes)["DYNAMIC_UPDATE_SLICE"] >= 2 * LAYERS + 1
