"""Decoders over caches: the contract, and the signatures that LiteRT-LM calls, as a SavedModel."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from litefuse.errors import LitefuseError
from litefuse.frontends.jax_export import write_exports
from litefuse.frontends.signature import with_signature
from litefuse.frontends.writer import quiet_logging, refused, write_saved_model

Caches: TypeAlias = Sequence[tuple[Any, Any]]
"""The keys and values of each layer, of shape ``[1, rows, heads, size]`` and dtype float32."""


@dataclass(frozen=True)
class Decoder:
    """A language model that is not Keras Hub's, for :func:`litefuse.language_model`.

    Attributes:
        step: Computes the logits of tokens, ``f(tokens, position, caches) -> (logits, caches)``. It gets ``tokens``
            (int32 ``[1, N]``), which stand at ``position`` (int32 ``[]``) and behind it, and the keys and values of
            each layer (float32 ``[1, rows, heads, size]``), of which the rows before ``position`` are those of earlier
            tokens. It writes N rows from ``position`` on, lets each token attend to the rows up to its own, and returns
            float logits ``[1, N, vocabulary]`` and the caches. Rows and N differ between calls.
        heads: For each layer, how many heads its keys and values have, and the size of each.
        start: The tokens that stand before each prompt.
        stop: The tokens that end a text.
        max_positions: How many positions the model knows; None for any number.
        framework: What ``step`` is written in: ``tensorflow`` or ``jax``.
    """

    step: Callable[[Any, Any, Caches], tuple[Any, Caches]]
    heads: Sequence[tuple[int, int]]
    start: Sequence[int] = ()
    stop: Sequence[int] = ()
    max_positions: int | None = None
    framework: Literal["tensorflow", "jax"] = "tensorflow"


def write_decoder(decoder: Decoder, rows: int, prefill: Sequence[int], folder: Path) -> None:
    """Writes a SavedModel with the signatures ``decode`` and, for each number N of ``prefill``, ``prefill_N``.

    LiteRT-LM reads the length of a cache from its axis 2; as ``[1, heads, rows, size]``, it is multiplied as it lies.

    Args:
        decoder: The decoder.
        rows: The rows of the caches.
        prefill: How many tokens of a prompt are taken at once.
        folder: The folder to write, which does not exist.

    Raises:
        LitefuseError: The decoder cannot be traced, or its results have other shapes than its contract says.
    """
    lengths = {"decode": 1} | {f"prefill_{length}": length for length in prefill}
    write = _write_on_jax if decoder.framework == "jax" else _write_on_tensorflow
    write(decoder, rows, lengths, folder)


def _write_on_tensorflow(decoder: Decoder, rows: int, lengths: Mapping[str, int], folder: Path) -> None:
    tf: Any = sys.modules.get("tensorflow") or importlib.import_module("tensorflow")
    signatures: dict[str, Any] = {}
    for key, length in lengths.items():
        specs = {
            name: tf.TensorSpec(shape, dtype, name) for name, (shape, dtype) in _inputs(decoder, rows, length).items()
        }

        def call(tensors: Mapping[str, Any], *, with_logits: bool = key == "decode") -> Any:
            return _called(decoder, rows, tensors, tf.transpose, with_logits=with_logits)

        with refused("the decoder cannot be traced"), quiet_logging():
            signatures[key] = with_signature(tf.function(call, autograph=False).get_concrete_function(specs))
    write_saved_model(signatures, folder)


def _write_on_jax(decoder: Decoder, rows: int, lengths: Mapping[str, int], folder: Path) -> None:
    jax: Any = importlib.import_module("jax")
    export: Any = importlib.import_module("jax.export")
    exports: dict[str, Any] = {}
    for key, length in lengths.items():
        known = _inputs(decoder, rows, length)

        def call(*values: Any, names: Sequence[str] = tuple(known), with_logits: bool = key == "decode") -> Any:
            tensors = dict(zip(names, values, strict=True))
            return _called(decoder, rows, tensors, jax.numpy.transpose, with_logits=with_logits)

        specs = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in known.values()]
        with refused("the decoder cannot be traced"):
            exports[key] = export.export(jax.jit(call), platforms=["cpu"])(*specs), tuple(known)
    write_exports(exports, folder)


def _inputs(decoder: Decoder, rows: int, length: int) -> dict[str, tuple[tuple[int, ...], str]]:
    """Returns the shapes and dtypes of a signature's inputs."""
    caches = {
        f"kv_cache_{kind}_{layer}": ((1, heads, rows, size), "float32")
        for layer, (heads, size) in enumerate(decoder.heads)
        for kind in "kv"
    }
    return {"tokens": ((1, length), "int32"), "input_pos": ((length,), "int32"), **caches}


def _called(
    decoder: Decoder, rows: int, tensors: Mapping[str, Any], transpose: Callable[..., Any], *, with_logits: bool
) -> dict[str, Any]:
    caches = [
        tuple(transpose(tensors[f"kv_cache_{kind}_{layer}"], (0, 2, 1, 3)) for kind in "kv")
        for layer in range(len(decoder.heads))
    ]
    logits, written = decoder.step(tensors["tokens"], tensors["input_pos"][0], caches)  # pyright: ignore[reportArgumentType]
    if len(written) != len(caches):
        raise LitefuseError(f"the decoder returns caches of {len(written)} layers, and takes {len(caches)}")
    if len({id(cache) for pair in written for cache in pair}) < 2 * len(caches):
        raise LitefuseError(
            "the decoder returns one tensor for two caches", hint="Leave layers that share a cache out of heads."
        )
    outputs = {"logits": logits} if with_logits else {}
    for layer, ((heads, size), pair) in enumerate(zip(decoder.heads, written, strict=True)):
        for kind, cache in zip("kv", pair, strict=True):
            if tuple(cache.shape) != (1, rows, heads, size):
                raise LitefuseError(
                    f"the decoder returns a cache of shape {list(cache.shape)}, not {[1, rows, heads, size]}"
                )
            outputs[f"kv_cache_{kind}_{layer}"] = transpose(cache, (0, 2, 1, 3))
    return outputs
