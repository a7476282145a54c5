"""Caches of attention: stacked, updated in another layout than they are stored in, with heads that queries share."""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.auditing import operators
from tests.tensorflow.checking import check_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow

_CACHE = {"x": (1, 1, 9, 8), "v": (1, 3, 2, 4)}
_MATRICES = (4, 9, 4)


def _as_heads(tf: Any, x: Any) -> Any:
    return tf.reshape(x, [1, 9, 2, 4])


def _update(tf: Any, x: Any, v: Any, start: Any) -> Any:
    xla: Any = importlib.import_module("tensorflow.compiler.tf2xla.python.xla")  # as Keras does
    return xla.dynamic_update_slice(x, v, tf.stack(start))


def _stored(tf: Any, x: Any, v: Any, i: Any) -> Any:
    updated = _update(tf, _as_heads(tf, x), v, [0, i, 0, 0])
    return {"x": tf.reshape(updated, [1, 1, 9, 8]), "y": tf.einsum("bihd,bjhd->bij", updated, updated)}


def _stacked(tf: Any, x: Any, v: Any, i: Any) -> Any:
    """As Keras Hub does: one cache of all layers, of which a layer takes its part, and stacks it again."""
    cache = tf.stack(
        [tf.stack([_as_heads(tf, x), _as_heads(tf, 2 * x)], 1), tf.stack([_as_heads(tf, 3 * x)] * 2, 1)], 1
    )
    keys = _update(tf, cache[:, 0, ...][:, 0, ...], v, [0, i, 0, 0])
    layers = tf.stack([tf.stack([keys, cache[:, 0, ...][:, -1, ...]], 1), cache[:, 1, ...]], axis=1)
    return {"x": tf.reshape(layers[:, 0, 0], [1, 1, 9, 8]), "y": layers[:, -2, -1], "z": layers[0, 1, :, 2:, ..., ::2]}


def _turned(tf: Any, x: Any, v: Any, i: Any) -> Any:
    rows = tf.transpose(tf.reshape(x, [1, 2, 9, 4]), [0, 2, 1, 3])
    updated = _update(tf, rows, v, [0, i, 0, 0])
    return {"x": tf.transpose(updated, [0, 2, 1, 3]), "y": tf.reduce_sum(updated, [1, 2])}


def _one_head(tf: Any, x: Any, v: Any, i: Any) -> Any:
    """An update of one of the heads that are one dimension of the cache: no part of a row can be written."""
    updated = _update(tf, _as_heads(tf, x), v[:, :, :1], [0, 0, i, 0])
    return {"x": tf.reshape(updated, [1, 1, 9, 8])}


def _across_rows(tf: Any, x: Any, v: Any, i: Any) -> Any:
    """Rows of another length than those that are stored."""
    updated = _update(tf, tf.reshape(x, [1, 6, 3, 4]), v[:, :, :1], [0, i, 1, 0])
    return {"x": tf.reshape(updated, [1, 1, 9, 8])}


# For each way to update a cache: the ops that must be left of those that copy.
_UPDATES: dict[Callable[..., Any], dict[str, int]] = {
    _stored: {"DYNAMIC_UPDATE_SLICE": 1, "RESHAPE": 2, "PACK": 1},
    _stacked: {"DYNAMIC_UPDATE_SLICE": 1, "PACK": 2, "STRIDED_SLICE": 1},  # one pack is the start of the update
    _turned: {"DYNAMIC_UPDATE_SLICE": 1, "PACK": 1, "TRANSPOSE": 2},  # of the update, and of what is summed
    _one_head: {"DYNAMIC_UPDATE_SLICE": 1, "RESHAPE": 2},
    _across_rows: {"DYNAMIC_UPDATE_SLICE": 1, "RESHAPE": 2},
}


def ops_by_signature(model: bytes) -> dict[str, Counter[str]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for root, graph, name, _ in operators(model):
        for signature in root.signatureDefs:
            if root.subgraphs[signature.subgraphIndex] is graph:
                counts[signature.signatureKey.decode()][name] += 1
    return counts


def caches(tf: Any) -> Any:
    module = tf.Module()
    specs = [*(tf.TensorSpec(shape, name=name) for name, shape in _CACHE.items()), tf.TensorSpec((), tf.int32, "i")]

    def signature(update: Callable[..., Any]) -> Any:
        def serve(x: Any, v: Any, i: Any) -> Any:
            return update(tf, x, v, i)

        return tf.function(serve, input_signature=specs, autograph=False)

    module.functions = {update.__name__: signature(update) for update in _UPDATES}
    return module, {name: function.get_concrete_function() for name, function in module.functions.items()}


def test_a_cache_is_updated_as_it_is_stored(tensorflow: TensorFlow) -> None:
    numbers = np.random.default_rng(3)
    inputs = {name: numbers.standard_normal(shape).astype(np.float32) for name, shape in _CACHE.items()}
    calls = [
        (update.__name__, {**inputs, "i": np.asarray(place, np.int32)})
        for update in _UPDATES
        for place in (2, 0, 8, -1, 2)  # beyond the end, the update is moved
    ]
    path = tensorflow.save(caches)
    result = check_calls(tensorflow, path, calls)
    by_signature = ops_by_signature(result.model_bytes)
    for update, counts in _UPDATES.items():
        for name, count in counts.items():
            assert by_signature[update.__name__].get(name, 0) <= count, (update.__name__, by_signature)
    assert "TRANSPOSE" not in by_signature["_stored"]


def _attention(tf: Any, repeat: Callable[[Any], Any], k: Any) -> Any:
    q = tf.concat([k, -3 * k], 1)[:, :, 2:5]
    keys, values = (_update(tf, factor * k, k[:, :, :1], [0, 0, factor, 0]) for factor in (1, 2))
    weights = tf.nn.softmax(tf.matmul(q, repeat(keys), transpose_b=True))
    return {"w": weights, "y": tf.matmul(weights, repeat(values))}


# For each way to make eight matrices of four: whether neighbours are equal, as the rows of one batch need it.
_REPEATS: dict[str, tuple[Callable[[Any, Any], Any], bool]] = {
    "repeat": (lambda tf, k: tf.repeat(k, 2, 1), True),
    "broadcast": (
        lambda tf, k: tf.reshape(tf.broadcast_to(k[:, :, None], [tf.shape(k)[0], 4, 2, 9, 4]), [-1, 8, 9, 4]),
        True,
    ),
    "turned": (lambda tf, k: tf.transpose(tf.repeat(tf.transpose(k, [0, 2, 1, 3]), 2, 2), [0, 2, 1, 3]), True),
    "tile": (lambda tf, k: tf.tile(k, [1, 2, 1, 1]), False),
    "other_rows": (lambda tf, k: tf.tile(k, [1, 2, 1, 1]) + tf.repeat(k, 2, 1), False),
    "rows": (lambda tf, k: tf.reshape(tf.repeat(k, 2, 2), [-1, 8, 9, 4]), False),
}


def shared_heads(tf: Any, batch: int | None) -> Any:
    module = tf.Module()
    specs = [tf.TensorSpec((batch, *_MATRICES), name="k")]

    def signature(repeat: Callable[[Any, Any], Any]) -> Any:
        def serve(k: Any) -> Any:
            return _attention(tf, lambda k: repeat(tf, k), k)

        return tf.function(serve, input_signature=specs, autograph=False)

    module.functions = {name: signature(repeat) for name, (repeat, _) in _REPEATS.items()}
    return module, {name: function.get_concrete_function() for name, function in module.functions.items()}


@pytest.mark.parametrize("batch", [None, 2])
def test_matrices_that_rows_share_are_not_repeated(tensorflow: TensorFlow, batch: int | None) -> None:
    numbers = np.random.default_rng(5)
    calls = [
        (name, {"k": numbers.standard_normal((rows, *_MATRICES)).astype(np.float32)})
        for name in _REPEATS
        for rows in ((2, 2) if batch else (1, 3))
    ]
    result = check_calls(tensorflow, tensorflow.save(shared_heads, batch), calls)
    by_signature = ops_by_signature(result.model_bytes)
    for name, (_, shared) in _REPEATS.items():
        repeats = {"TILE", "BROADCAST_TO"} & by_signature[name].keys()
        assert not (shared and repeats), (name, by_signature[name])
