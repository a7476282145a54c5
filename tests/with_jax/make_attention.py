# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false
"""Run as a program, with ``KERAS_BACKEND=jax``: exports attention as JAX has it, and models of Keras Hub on JAX.

``python -m tests.with_jax.make_attention FOLDER``: for each name on the standard input the SavedModel
``FOLDER/NAME.model`` and ``FOLDER/NAME.npz``: how many attentions there are, the inputs, and the outputs of each batch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.frontends.jax_export import write_exported
from tests.tensorflow import keras_attention
from tests.with_jax.process import serve

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
export: Any = importlib.import_module("jax.export")

KEYS, HEADS, DEPTH = 7, 4, 8


def _as_flax(q: Any, k: Any, v: Any, keep: Any) -> Any:
    """Queries are scaled, masked scores are the least number, heads are the last but one axis."""
    scores = jnp.einsum("...qhd,...khd->...hqk", q / jnp.sqrt(DEPTH), k)
    scores = jnp.where(keep[:, None, None], scores, jnp.finfo(jnp.float32).min)
    return jnp.einsum("...hqk,...khd->...qhd", jax.nn.softmax(scores), v)


def _as_torch(q: Any, k: Any, v: Any, keep: Any) -> Any:
    """As what traces of PyTorch's attention become: both factors are scaled, and matrices in three axes multiplied."""
    batch, root = q.shape[0], np.float32(DEPTH**-0.25)
    q, k, v = (jnp.transpose(each, (0, 2, 1, 3)).reshape(batch * HEADS, -1, DEPTH) for each in (q, k, v))
    scores = (q * root) @ jnp.swapaxes(k * root, 1, 2)
    scores = scores.reshape(batch, HEADS, -1, KEYS) + jnp.where(keep, 0.0, -jnp.inf)[:, None, None]
    powers = jnp.exp(scores - jnp.max(scores, -1, keepdims=True))
    weights = (powers / jnp.sum(powers, -1, keepdims=True)).reshape(batch * HEADS, -1, KEYS)
    return jnp.transpose((weights @ v).reshape(batch, HEADS, -1, DEPTH), (0, 2, 1, 3))


def _bounded(q: Any, k: Any, v: Any, keep: Any) -> Any:
    scores = 20.0 * jnp.tanh(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 20.0)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(keep[:, None, None], scores, -1e9)), v)


#: A function by name, of queries, keys, values and whether each key stays, and the heads of its keys.
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "dot_product_attention": (
        lambda q, k, v, keep: jax.nn.dot_product_attention(q, k, v, mask=keep[:, None, None]),
        HEADS,
    ),
    "groups": (lambda q, k, v, keep: jax.nn.dot_product_attention(q, k, v, mask=keep[:, None, None]), 2),
    "causal": (
        lambda q, k, v, keep: jax.nn.dot_product_attention(q, k, v + 0 * keep[..., None, None], is_causal=True),
        HEADS,
    ),
    "as_flax": (_as_flax, HEADS),
    "as_torch": (_as_torch, HEADS),
    "bounded": (_bounded, HEADS),
}


def make(name: str, folder: Path) -> None:
    """Exports one function or model."""
    if name in FUNCTIONS:
        function, heads = FUNCTIONS[name]
        of_keys = [None, KEYS, heads, DEPTH]
        specs = {"q": ([None, 5, HEADS, DEPTH], "float32"), "k": (of_keys, "float32"), "v": (of_keys, "float32")}
        specs["keep"] = ([None, KEYS], "bool")

        def of_all(inputs: dict[str, Any]) -> Any:
            return function(*(inputs[key] for key in specs))
    else:
        model = keras_attention.model_of(name)
        specs = keras_attention.inputs_of(model)

        def of_all(inputs: dict[str, Any]) -> Any:
            return model(inputs if isinstance(model.input, dict) else inputs["images"], training=False)

    (batch,) = export.symbolic_shape("batch")
    given = {
        key: jax.ShapeDtypeStruct([batch if size is None else size for size in shape], dtype)
        for key, (shape, dtype) in specs.items()
    }
    traced = jax.jit(lambda **inputs: of_all(inputs))
    with keras_attention.counting() as calls:
        exported = export.export(traced)(**given)
    write_exported(exported, folder / f"{name}.model")
    arrays: dict[str, npt.NDArray[Any]] = {"called": np.array(len(calls) or 1)}
    random = np.random.default_rng(0)
    for size in (1, 3) if name in FUNCTIONS else (1,):
        inputs = {
            key: _drawn(random, [size if each is None else each for each in shape], dtype)
            for key, (shape, dtype) in specs.items()
        }
        arrays |= {f"{size}.in.{key}": value for key, value in inputs.items()}
        leaves = jax.tree_util.tree_leaves(traced(**inputs))
        arrays |= {f"{size}.out.{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
    np.savez(folder / f"{name}.npz", allow_pickle=False, **arrays)


def _drawn(random: np.random.Generator, shape: list[int], dtype: str) -> npt.NDArray[Any]:
    if dtype == "bool":
        return np.arange(shape[1]) < random.integers(1, shape[1] + 1, [shape[0], 1])
    if dtype.startswith("float"):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


if __name__ == "__main__":
    serve(make)
