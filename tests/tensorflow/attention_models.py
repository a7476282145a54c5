# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
"""Attention, in the spellings of several frameworks, and what is nearly attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

BATCH, QUERIES, KEYS, HEADS, DEPTH = 2, 5, 7, 4, 8
WIDTH = HEADS * DEPTH


class Case(NamedTuple):
    """A function of tensors.

    Attributes:
        shapes: The shapes of its arguments: those whose names begin with ``keep`` are masks, all others float32.
        function: The function, of TensorFlow and the arguments.
        outcome: What becomes of it where the composite is wanted; or, of what is no attention, what the report says.
    """

    shapes: Mapping[str, Sequence[int | None]]
    function: Callable[..., Any]
    outcome: str | None = "STABLEHLO_COMPOSITE"


def _tensors(batch: int | None, queries: int | None, keys: int | None, heads: int = HEADS) -> dict[str, Any]:
    of_keys = [batch, keys, heads, DEPTH]
    return {"q": [batch, queries, HEADS, DEPTH], "k": of_keys, "v": of_keys}


FIXED = _tensors(BATCH, QUERIES, KEYS)
OPEN = _tensors(None, None, None)


def _plain(tf: Any, q: Any, k: Any, v: Any, between: Callable[[Any], Any] = lambda scores: scores) -> Any:
    scores = between(tf.einsum("btnh,bsnh->bnts", q, k) * 0.3)
    return tf.einsum("bnts,bsnh->btnh", tf.nn.softmax(scores), v)


def _heads(tf: Any, x: Any) -> Any:
    return tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, HEADS, DEPTH]), [0, 2, 1, 3])


def _separate_heads(tf: Any, x: Any, keep: Any) -> Any:
    """As Hugging Face's BERT, with numbers as mask."""
    q, k, v = _heads(tf, x), _heads(tf, x * 1.3), _heads(tf, x + 1)
    scores = tf.matmul(q, k, transpose_b=True) / np.float32(np.sqrt(DEPTH))
    scores += (1 - tf.cast(keep[:, None, None, :], tf.float32)) * -10000.0
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores, axis=-1), v), [0, 2, 1, 3])
    return tf.reshape(mixed, [tf.shape(x)[0], -1, WIDTH])


def _merged_heads(tf: Any, x: Any, m: Any) -> Any:
    """As Hugging Face's BART: heads and batch are one axis in the products, and two where the mask is added."""
    batch, length = tf.shape(x)[0], tf.shape(x)[1]
    q, k, v = (tf.reshape(_heads(tf, each), [-1, length, DEPTH]) for each in (x * 0.3, x * 1.3, x + 1))
    scores = tf.reshape(tf.matmul(q, k, transpose_b=True), [batch, HEADS, length, length]) + m
    weights = tf.nn.softmax(tf.reshape(scores, [batch * HEADS, length, length]))
    mixed = tf.reshape(tf.matmul(weights, v), [batch, HEADS, length, DEPTH])
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch, length, WIDTH])


def _spelled_softmax(tf: Any, q: Any, k: Any, v: Any) -> Any:
    scores = tf.einsum("btnh,bsnh->bnts", q, k)
    powers = tf.exp(scores - tf.stop_gradient(tf.reduce_max(scores, -1, keepdims=True)))
    return tf.einsum("bnts,bsnh->btnh", powers / tf.reduce_sum(powers, -1, keepdims=True), v)


def _one_head(tf: Any, q: Any, k: Any, v: Any) -> Any:
    return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.3), v)


def _one_head_of_keys(tf: Any, q: Any, k: Any, v: Any) -> Any:
    scores = tf.einsum("btnh,bsh->bnts", q, k) * 0.3
    return tf.einsum("bnts,bsh->btnh", tf.nn.softmax(scores), v)


def _groups(tf: Any, q: Any, k: Any, v: Any, keep: Any) -> Any:
    scores = tf.where(keep[:, None, None], tf.einsum("btkgh,bskh->bkgts", q, k) * 0.3, -1e9)
    return tf.einsum("bkgts,bskh->btkgh", tf.nn.softmax(scores), v)


def _windows(tf: Any, q: Any, k: Any, v: Any, m: Any, bias: Any) -> Any:
    """As Swin: windows are part of the batch, and each has a mask."""
    scores = tf.matmul(q * 0.3, k, transpose_b=True) + bias[None]
    scores = tf.reshape(tf.reshape(scores, [2, 4, HEADS, 5, 5]) + m[None, :, None], [8, HEADS, 5, 5])
    return tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])


def _zeroed(tf: Any, q: Any, k: Any, v: Any, keep: Any) -> Any:
    """As Keras 3's softmax of a mask: a query whose keys are all masked has no weights."""
    weights = tf.nn.softmax(tf.where(keep, tf.einsum("btnh,bsnh->bnts", q, k), -1e9))
    return tf.einsum("bnts,bsnh->btnh", tf.where(keep, weights, 0.0), v)


def _with_weights(tf: Any, q: Any, k: Any, v: Any) -> Any:
    weights = tf.nn.softmax(tf.einsum("btnh,bsnh->bnts", q, k))
    return tf.concat([tf.einsum("bnts,bsnh->btnh", weights, v), tf.transpose(weights, [0, 2, 1, 3])], -1)


#: What is attention, by name.
ATTENTION = {
    "einsum": Case(FIXED, _plain),
    "open_sizes": Case(OPEN, _plain),
    "bounded": Case(OPEN, lambda tf, q, k, v: _plain(tf, q, k, v, lambda s: tf.tanh(s / 20.0) * 20.0)),
    "separate_heads": Case({"x": [None, 5, WIDTH], "keep": [None, 5]}, _separate_heads),
    "merged_heads": Case({"x": [None, None, WIDTH], "m": [None, 1, None, None]}, _merged_heads),
    "spelled_softmax": Case(OPEN, _spelled_softmax),
    "rank_2": Case({"q": [5, 8], "k": [7, 8], "v": [7, 6]}, _one_head),
    "one_head": Case({"q": [3, 5, 8], "k": [3, 7, 8], "v": [3, 7, 8]}, _one_head),
    "one_head_open": Case(
        {"q": [None, 5, 8], "k": [None, 7, 8], "v": [None, 7, 8]},
        _one_head,
        "inlined: XNNPACK takes one head of keys only with a batch of 1, and here the batch is open",
    ),
    "one_head_of_keys": Case({"q": [2, 5, 4, 8], "k": [2, 7, 8], "v": [2, 7, 8]}, _one_head_of_keys),
    "one_head_of_keys_open": Case({"q": [None, 5, 4, 8], "k": [None, 7, 8], "v": [None, 7, 8]}, _one_head_of_keys),
    "broadcast_keys": Case({"q": [2, 4, 5, 8], "k": [2, 1, 7, 8], "v": [2, 1, 7, 8]}, _one_head),
    "groups": Case({"q": [2, 5, 2, 3, 8], "k": [2, 7, 2, 8], "v": [2, 7, 2, 8], "keep": [2, 5, 7]}, _groups),
    "groups_open": Case(
        {"q": [None, None, 2, 3, 8], "k": [None, None, 2, 8], "v": [None, None, 2, 8], "keep": [None, None, None]},
        _groups,
    ),
    "windows": Case(
        {"q": [8, 4, 5, 8], "k": [8, 4, 5, 8], "v": [8, 4, 5, 8], "m": [4, 5, 5], "bias": [4, 5, 5]}, _windows
    ),
    "one_tensor": Case({"x": [2, 5, 8]}, lambda tf, x: tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x)),
    "infinite_mask": Case(
        {**FIXED, "keep": [BATCH, 1, 1, KEYS]},
        lambda tf, q, k, v, m: _plain(tf, q, k, v, lambda s: tf.where(m, s, -np.inf)),
    ),
    "dropped": Case(
        {**FIXED, "keep": [BATCH, 1, 1, KEYS]},
        lambda tf, q, k, v, m: _plain(tf, q, k, v, lambda s: tf.where(m, -1e30, s)),
    ),
    "zeroed": Case({**OPEN, "keep": [None, 1, None, None]}, _zeroed),
    "weights_too": Case(FIXED, _with_weights),
}


def _linear(tf: Any, x: Any) -> Any:
    """Keys and queries have a softmax each, and keys are multiplied with values first."""
    weight = tf.constant(np.random.default_rng(3).standard_normal((WIDTH, WIDTH)).astype(np.float32))
    products = (tf.reshape(tf.matmul(tf.reshape(x, [-1, WIDTH]), weight * f), tf.shape(x)) for f in (1, 2, 3))
    q, k, v = (tf.transpose(_heads(tf, each), [0, 1, 3, 2]) for each in products)
    return tf.matmul(tf.nn.softmax(tf.transpose(q, [0, 1, 3, 2])), tf.matmul(tf.nn.softmax(k), v, transpose_b=True))


#: What is nearly attention: what the report says of it; None: nothing.
NEARLY = {
    "over_queries": Case(
        FIXED,
        lambda tf, q, k, v: tf.einsum("bnts,bsnh->btnh", tf.nn.softmax(tf.einsum("btnh,bsnh->bnts", q, k), axis=2), v),
        "the product with the values is not over the axis of the softmax",
    ),
    "exchanged": Case(
        _tensors(BATCH, QUERIES, QUERIES),
        lambda tf, q, k, v: tf.einsum("bnst,bsnh->btnh", tf.nn.softmax(tf.einsum("btnh,bsnh->bnts", q, k)), v),
        "the product with the values is not over the axis of the softmax",
    ),
    "cosine": Case(
        {**FIXED, "tau": [HEADS, 1, 1]},
        lambda tf, q, k, v, tau: _plain(
            tf, tf.math.l2_normalize(q, -1), tf.math.l2_normalize(k, -1), v, lambda s: s * tau
        ),
        "the scores are multiplied by more than one number",
    ),
    "linear": Case({"x": [2, 7, WIDTH]}, _linear, "only the keys have some axes, besides the one of the softmax"),
    "rectified": Case(
        FIXED,
        lambda tf, q, k, v: _plain(tf, q, k, v, tf.nn.relu),
        "Relu is between the scores and the softmax",
    ),
    "weak_mask": Case(
        {**FIXED, "keep": [BATCH, 1, 1, KEYS]},
        lambda tf, q, k, v, m: _plain(tf, q, k, v, lambda s: tf.where(m, s, -5.0)),
        "masked scores are -5, which does not mask them",
    ),
    "experts": Case(
        {"x": [2, 5, 8], "w": [8, 3], "e": [2, 5, 3, 6]},
        lambda tf, x, w, e: tf.einsum("bse,bsed->bsd", tf.nn.softmax(tf.einsum("bsc,ce->bse", x, w)), e),
        "the values have not the axes of the keys",
    ),
    "classifier": Case({"x": [2, 8], "w": [8, 3]}, lambda tf, x, w: tf.nn.softmax(tf.matmul(x, w)), None),
    "additive": Case(
        {"q": [2, 5, 8], "k": [2, 7, 8]},
        lambda tf, q, k: tf.matmul(tf.nn.softmax(tf.reduce_sum(tf.tanh(q[:, :, None] + k[:, None]), -1)), k),
        None,
    ),
}


def _of_itself(tf: Any, x: Any) -> Any:
    q = tf.transpose(x, [0, 2, 1, 3])
    return tf.transpose(tf.matmul(tf.nn.softmax(tf.matmul(q, q, transpose_b=True)), q), [0, 2, 1, 3])


#: Where there is more to it than the spelling: of the results of others, of one key, of one query.
OTHERS = {
    "stacked": Case({"x": [2, 5, 4, 8]}, lambda tf, x: _of_itself(tf, _of_itself(tf, x))),
    "one_key": Case(_tensors(BATCH, QUERIES, 1), _plain, "there is only one key"),
    "one_query": Case({**_tensors(BATCH, 1, KEYS), "keep": [BATCH, 1, 1, KEYS]}, ATTENTION["infinite_mask"].function),
    "open_keys": Case(
        {"q": [2, 5, 2, 3, 8], "k": [2, None, 2, 8], "v": [2, None, 2, 8]},
        lambda tf, q, k, v: tf.einsum("bkgts,bskh->btkgh", tf.nn.softmax(tf.einsum("btkgh,bskh->bkgts", q, k)), v),
    ),
}
CASES = {**ATTENTION, **NEARLY, **OTHERS}


def module(tf: Any, names: Sequence[str]) -> Any:
    """A module with a signature for each case."""
    result = tf.Module()
    signatures: dict[str, Any] = {}
    for name in names:
        case = CASES[name]
        specs = [
            tf.TensorSpec(shape, tf.bool if key.startswith("keep") else tf.float32, name=key)
            for key, shape in case.shapes.items()
        ]
        function = tf.function(_serving(tf, case.function), input_signature=specs, autograph=False)
        setattr(result, name, function)
        signatures[name] = function
    return result, signatures


def _serving(tf: Any, function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    return lambda *tensors: {"y": function(tf, *tensors)}


def drawn(case: Case, batch: int) -> dict[str, npt.NDArray[Any]]:
    """Arguments, with a batch and other sizes where these are open; some queries have no keys that stay."""
    random = np.random.default_rng(batch)
    queries, keys = 3 + batch, (3 + batch if "x" in case.shapes else 2 + batch)
    made: dict[str, npt.NDArray[Any]] = {}
    for name, shape in case.shapes.items():
        of_keys = name in {"k", "v"}
        sizes = [
            size if size is not None else batch if axis == 0 else keys if of_keys or axis == len(shape) - 1 else queries
            for axis, size in enumerate(shape)
        ]
        values = random.standard_normal(sizes).astype(np.float32)
        if name.startswith("keep"):
            made[name] = values > 0
            made[name][..., 0] = True
            if case is ATTENTION["zeroed"]:
                made[name][0] = False
        else:
            made[name] = values
    return made
