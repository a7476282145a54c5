"""A ``CausalLM`` of Keras Hub as a decoder.

Nothing is known of any family: a model is asked by calls that stop where it calls what is looked at. So its form of a
cache is the one that it makes for itself, and its special tokens are those of its own ``generate``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from litefuse.errors import LitefuseError
from litefuse.frontends.language_models.decoder import Caches, Decoder
from litefuse.frontends.writer import describe_error, refused

# Rows of caches that are looked at: a number that no model has of heads, so that it tells the axis.
_ROWS = 22
_TEXT = "a"
_Step: TypeAlias = Callable[[Any, Any, Caches], tuple[Any, Caches]]
# How much logits may differ by rounding, relative to the largest: in float32, and in types of 16 bits.
_ROUNDING, _COARSE_ROUNDING = 1e-3, 0.1
_PREPROCESSOR = "Give it one, or pass a litefuse.Decoder with the tokens that start and end its texts."


class Prompt(NamedTuple):
    """A text as ``generate`` of a model takes it.

    Attributes:
        tokens: Its tokens, with those that stand before it.
        start: The tokens that stand before each prompt.
        stop: The tokens that end a text.
    """

    tokens: tuple[int, ...]
    start: tuple[int, ...]
    stop: tuple[int, ...]


class _SeenError(Exception):
    """Ends a call where it reaches what is looked at."""


def is_causal_lm(model: object) -> bool:
    """Whether an object is a ``CausalLM`` of Keras Hub."""
    package = sys.modules.get("keras_hub")
    return package is not None and isinstance(model, package.models.CausalLM)


def decoder_of(causal_lm: Any) -> Decoder:
    """Returns a ``CausalLM`` as a decoder.

    Raises:
        LitefuseError: It has no preprocessor, takes more than text, keeps something else than keys and values, or runs
            on a backend other than TensorFlow and JAX.
    """
    keras: Any = sys.modules["keras"]
    framework = keras.config.backend()
    if framework not in {"tensorflow", "jax"}:
        raise LitefuseError(
            f"the model runs on Keras's backend {framework!r}; only 'tensorflow' and 'jax' have graphs to convert",
            hint="Save it with model.save('model.keras') and convert that file.",
        )
    prompt = prompt_of(causal_lm, _TEXT)
    cache = _cache_of(keras, causal_lm)
    in_pairs, heads_first = isinstance(cache, tuple | list), False
    if in_pairs:
        heads = [_heads(pair) for pair in cast("Sequence[Any]", cache)]
    elif len(cache.shape) == 6 and cache.shape[2] == 2 and _ROWS in cache.shape[3:5]:
        heads_first = cache.shape[3] != _ROWS
        heads = [(int(cache.shape[3 if heads_first else 4]), int(cache.shape[5]))] * int(cache.shape[1])
    else:
        raise _other_cache(tuple(cache.shape))
    step = _step(keras, causal_lm, in_pairs=in_pairs, heads_first=heads_first, masked=False)
    try:
        written = _check_chunks(keras, causal_lm, step, heads)
    except LitefuseError:
        if "padding_mask" not in inspect.signature(causal_lm.call_with_cache).parameters:
            raise
        # Its own mask is as long as the tokens, not as the cache.
        step = _step(keras, causal_lm, in_pairs=in_pairs, heads_first=heads_first, masked=True)
        written = _check_chunks(keras, causal_lm, step, heads)
    step, kept = _without_copies(step, written)
    positions = getattr(causal_lm.backbone, "max_sequence_length", None)
    return Decoder(step, [heads[layer] for layer in kept], prompt.start, prompt.stop, positions, framework)


def prompt_of(causal_lm: Any, text: str) -> Prompt:
    """Returns a text as a model's own ``generate`` takes it.

    Raises:
        LitefuseError: The model has no preprocessor, or takes more than text.
    """
    if causal_lm.preprocessor is None:
        raise LitefuseError("the model has no preprocessor, so its tokenizer is not known", hint=_PREPROCESSOR)
    seen: dict[str, Any] = {}

    def generate(inputs: Any, stop_token_ids: Any = None) -> None:
        seen.update(inputs=inputs, stop=stop_token_ids)
        raise _SeenError

    body = tokens_of(causal_lm.preprocessor.tokenizer, text)
    with _asked(causal_lm, "make_generate_function", lambda: generate):
        causal_lm.generate(text, max_length=len(body) + _ROWS)
    convert: Any = sys.modules["keras"].ops.convert_to_numpy
    count = int(np.sum(convert(seen["inputs"]["padding_mask"])))
    tokens = tuple(map(int, np.ravel(convert(seen["inputs"]["token_ids"]))[:count]))
    start = tokens[: count - len(body)]
    if tokens != (*start, *body):
        raise LitefuseError("the model's preprocessor writes more than tokens before a text")
    return Prompt(tokens, start, tuple(map(int, dict.fromkeys(seen["stop"] or ()))))


def tokens_of(tokenizer: Any, text: str) -> tuple[int, ...]:
    """Returns the tokens of a text by a tokenizer of Keras Hub."""
    tokens = tokenizer([text])[0]
    return tuple(map(int, tokens.numpy() if hasattr(tokens, "numpy") else tokens))


def _cache_of(keras: Any, causal_lm: Any) -> Any:
    """Returns the cache that a model makes for a prompt of ``_ROWS`` tokens."""
    signature = inspect.signature(causal_lm.call_with_cache)
    seen: dict[str, Any] = {}

    def call(*values: Any, **named: Any) -> None:
        seen.update(signature.bind(*values, **named).arguments)
        raise _SeenError

    needed = [name for name, known in signature.parameters.items() if known.default is known.empty]
    if needed != ["token_ids", "cache", "cache_update_index"]:
        raise LitefuseError(f"the model's call_with_cache takes {', '.join(needed)}, more than tokens and a cache")
    tokens = keras.ops.zeros((1, _ROWS), "int32")
    with _asked(causal_lm, "call_with_cache", call):
        causal_lm.generate_step({"token_ids": tokens, "padding_mask": keras.ops.ones((1, _ROWS), "bool")})
    return seen["cache"]


def _check_chunks(keras: Any, causal_lm: Any, step: _Step, heads: Sequence[tuple[int, int]]) -> Sequence[Any]:
    """Checks that a model computes the same of a prompt in chunks as at once, and returns the caches that it writes.

    Keras Hub takes prompts at once, so a family may be wrong otherwise: GPT-NeoX of Keras Hub 0.32 rotates the queries
    of a chunk as if it stood at the beginning.
    """
    ops = keras.ops
    last: list[Any] = []
    caches: Caches = ()
    tokens = np.arange(1, _ROWS + 1, dtype=np.int32)[None]
    for chunks in ((tokens,), np.split(tokens, 2, axis=1)):
        caches = [(ops.zeros((1, _ROWS, *sizes)), ops.zeros((1, _ROWS, *sizes))) for sizes in heads]
        logits, position = None, 0
        for chunk in chunks:
            with refused("the model cannot be called with a cache"):
                logits, caches = step(ops.convert_to_tensor(chunk), ops.convert_to_tensor(position, "int32"), caches)
            position += chunk.shape[1]
        last.append(keras.ops.convert_to_numpy(logits)[0, -1])
    most = _ROUNDING if causal_lm.compute_dtype == "float32" else _COARSE_ROUNDING
    if not np.max(np.abs(last[0] - last[1])) <= most * np.max(np.abs(last[0])):
        raise LitefuseError(
            "the model computes other logits of a prompt in chunks than at once, so LiteRT-LM would write other texts",
            hint="This is a fault of its family in this release of Keras Hub. Try another: pip install -U keras-hub.",
        )
    return [np.stack([ops.convert_to_numpy(part) for part in pair]) for pair in caches]


def _without_copies(step: _Step, written: Sequence[Any]) -> tuple[_Step, Sequence[int]]:
    """Leaves out layers that have the keys and values of another: LiteRT-LM would write one cache of the two.

    Args:
        step: The step of all layers.
        written: The caches that it wrote.

    Returns:
        The step, and the layers that have caches.
    """
    sources = [next(at for at, other in enumerate(written) if np.array_equal(layer, other)) for layer in written]
    kept = sorted({*sources})

    def shared(tokens: Any, position: Any, caches: Caches) -> tuple[Any, Caches]:
        logits, all_written = step(tokens, position, [caches[kept.index(source)] for source in sources])
        return logits, [all_written[layer] for layer in kept]

    return shared, kept


@contextmanager
def _asked(model: Any, method: str, spy: Callable[..., Any]) -> Generator[None]:
    """Replaces a method of a model during the context, which ends where that is called."""
    vars(model)[method] = spy
    try:
        yield
    except _SeenError:
        return
    except Exception as error:  # models raise any exception
        raise LitefuseError(f"the model takes more than text: {describe_error(error)}") from error
    finally:
        del vars(model)[method]
    raise LitefuseError(f"the model does not call {method}")


def _heads(pair: Any) -> tuple[int, int]:
    parts = cast("Sequence[Any]", pair if isinstance(pair, tuple | list) else [pair])
    shapes = [tuple(map(int, part.shape)) for part in parts]
    if len(shapes) != 2 or shapes[0] != shapes[1] or len(shapes[0]) != 4 or shapes[0][:2] != (1, _ROWS):
        raise _other_cache(*shapes)
    return shapes[0][2:]  # pyright: ignore[reportReturnType]  of four sizes, two


def _other_cache(*shapes: tuple[int, ...]) -> LitefuseError:
    return LitefuseError(
        f"the model keeps something else than keys and values of each token: {', '.join(map(str, shapes))} for "
        f"{_ROWS} tokens"
    )


def _step(keras: Any, causal_lm: Any, *, in_pairs: bool, heads_first: bool, masked: bool) -> _Step:
    """Returns the step of a model whose cache is in pairs, or one tensor ``[batch, layers, 2, rows, heads, size]``.

    Heads may come before rows there. With ``masked``, the model is told that no row is padding.
    """
    ops, dtype = keras.ops, causal_lm.compute_dtype

    def moved(cache: Any, to: str) -> Any:
        return ops.cast(ops.transpose(cache, (0, 2, 1, 3)) if heads_first else cache, to)

    def step(tokens: Any, position: Any, caches: Caches) -> tuple[Any, Caches]:
        pairs: Any = tuple((moved(keys, dtype), moved(values, dtype)) for keys, values in caches)
        cache = pairs if in_pairs else ops.stack([ops.stack(pair, axis=1) for pair in pairs], axis=1)
        mask = {"padding_mask": ops.ones((1, caches[0][0].shape[1]), "bool")} if masked else {}
        logits, _, cache = causal_lm.call_with_cache(tokens, cache, position, **mask)
        written = cache if in_pairs else [(cache[:, layer, 0], cache[:, layer, 1]) for layer in range(len(pairs))]
        return ops.cast(logits, "float32"), [
            (moved(keys, "float32"), moved(values, "float32")) for keys, values in written
        ]

    return step


def default_context(causal_lm: Any) -> int | None:
    """Returns how many tokens a model's preprocessor takes; None if it does not say."""
    length = getattr(causal_lm.preprocessor, "sequence_length", None)
    return None if length is None else int(length)


def generated(causal_lm: Any, tokens: tuple[int, ...], context: int, stop: tuple[int, ...]) -> list[int]:
    """Returns the tokens that a model writes behind others, greedily: up to one that ends it, or the context's end."""
    keras: Any = sys.modules["keras"]
    filler = next(token for token in range(len(stop) + 1) if token not in stop)  # padding must not end the text
    row = np.full((1, context), filler, np.int32)
    row[0, : len(tokens)] = tokens
    with refused("the model cannot write"):
        inputs = {"token_ids": row, "padding_mask": np.arange(context)[None] < len(tokens)}
        inputs = {name: keras.ops.convert_to_tensor(value) for name, value in inputs.items()}
        outputs = causal_lm.make_generate_function()(inputs, stop_token_ids=list(stop) or None)
    written = list(map(int, keras.ops.convert_to_numpy(outputs["token_ids"])[0, len(tokens) :]))
    ends = [place for place, token in enumerate(written) if token in stop]
    return written[: ends[0]] if ends else written
