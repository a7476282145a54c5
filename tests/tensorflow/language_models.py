"""Small language models of Keras Hub, with weights that write many different tokens; for the TensorFlow process."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

LENGTH, CHUNK = 48, 8
_TEXT = (
    "the quick brown fox jumps over the lazy dog and then some more words to join 123 456",
    "Привет мир, как дела сегодня",
    "こんにちは世界、元気ですか",
    "مرحبا بالعالم كيف حالك",
    "नमस्ते दुनिया 👍🏽",
)
_SPECIAL = (
    "<|endoftext|>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
)


def save(tf: Any, path: str, family: str, change: str = "") -> None:
    """Saves a model to a ``.keras`` file or, without that suffix, to the folder of a preset; see :func:`made`."""
    del tf
    causal_lm = made(family, change)
    (causal_lm.save if Path(path).suffix else causal_lm.save_to_preset)(path)


def save_large(tf: Any, path: str, layers: int) -> None:
    """Saves a Llama 3 whose layers have 27 MB each."""
    del tf
    made("stacked", num_layers=layers, hidden_dim=512, intermediate_dim=4096).save(path)


def made(family: str, change: str = "", **arguments: Any) -> Any:
    """Makes a model on Keras's backend.

    Args:
        family: The name of a function below.
        change: What differs from the model without a change: a key of ``CHANGES``.
        **arguments: Arguments of its backbone.
    """
    models: Any = importlib.import_module("keras_hub.models")
    arguments |= _ARGUMENTS.get(change, {})
    causal_lm = FAMILIES[family](models, merges=change == "another merge", **arguments)
    random = np.random.default_rng(3)
    for weight in causal_lm.weights:
        shape: tuple[int, ...] = tuple(weight.shape)
        value = random.normal(size=shape)
        if "embedding" in weight.path:
            value *= 0.3
        elif len(shape) > 1:
            value *= 3 / float(np.prod(shape[:-1])) ** 0.5
        else:
            value = 0.2 * value + ("scale" in weight.path)
        weight.assign(value)
    if change in CHANGES:
        CHANGES[change](causal_lm)
    return causal_lm


def save_with_a_wrong_row(tf: Any, path: str, bundle: str) -> None:
    """Saves a model, and a bundle that writes the keys of its first layer over the row before theirs."""
    import keras
    import keras_hub

    import litefuse
    from litefuse.frontends.language_models.keras_hub import decoder_of
    from litefuse.frontends.language_models.tokenizers import write_tokenizer

    save(tf, path, "stacked")
    causal_lm: Any = cast("Any", keras).models.load_model(path)
    assert isinstance(causal_lm, keras_hub.models.CausalLM)
    decoder = decoder_of(causal_lm)

    def step(tokens: Any, position: Any, caches: Any) -> Any:
        logits, written = decoder.step(tokens, position, caches)
        (keys, values), *others = written
        return logits, [(tf.where(position > CHUNK, tf.roll(keys, -1, 1), keys), values), *others]

    tokenizer = write_tokenizer(cast("Any", causal_lm.preprocessor).tokenizer, Path(bundle).parent)
    wrong = litefuse.Decoder(step, decoder.heads, decoder.start, decoder.stop)
    litefuse.language_model(wrong, tokenizer=tokenizer, context=LENGTH, prefill=CHUNK).save(bundle)


def refusal_of_one_tensor_for_two_caches(tf: Any, folder: str) -> str:
    """Returns what a decoder is told whose layers return one tensor."""
    import litefuse
    from litefuse.frontends.language_models.decoder import write_decoder

    def step(tokens: Any, position: Any, caches: Any) -> Any:
        del position
        return tf.zeros((1, tokens.shape[1], 4)), [caches[0], caches[0]]

    try:
        write_decoder(litefuse.Decoder(step, [(1, 4), (1, 4)]), 8, (4,), Path(folder))
    except litefuse.LitefuseError as error:
        return error.message
    return ""


def stacked(models: Any, *, merges: bool, **arguments: Any) -> Any:
    """A Llama 3: one tensor is the cache of all layers, whose heads are shared; a byte-pair tokenizer."""
    tokenizer = models.Llama3Tokenizer(*_byte_pairs(other=merges))
    sizes = {"num_layers": 2, "num_query_heads": 4, "num_key_value_heads": 2, "hidden_dim": 32, "intermediate_dim": 64}
    backbone = models.Llama3Backbone(tokenizer.vocabulary_size(), **{**sizes, **arguments})
    return models.Llama3CausalLM(backbone, models.Llama3CausalLMPreprocessor(tokenizer, sequence_length=LENGTH))


def paired(models: Any, *, merges: bool, **arguments: Any) -> Any:
    """A Gemma 3: a pair of tensors for each layer, sliding windows, tied tables; a tokenizer of SentencePiece."""
    assert not merges
    tokenizer = models.Gemma3Tokenizer(_sentence_pieces(), has_vision_tokens=False)
    backbone = models.Gemma3Backbone(
        tokenizer.vocabulary_size(),
        image_size=16,
        num_layers=6,
        num_query_heads=2,
        num_key_value_heads=1,
        hidden_dim=16,
        intermediate_dim=32,
        head_dim=8,
        use_query_key_norm=True,
        use_sliding_window_attention=True,
        **{"sliding_window_size": 8, **arguments},
    )
    return models.Gemma3CausalLM(models.Gemma3CausalLMPreprocessor(tokenizer, sequence_length=LENGTH), backbone)


def shared(models: Any, *, merges: bool, **arguments: Any) -> Any:
    """A Gemma 3n: one tensor with heads before rows, of which layers share caches; masks as long as the tokens."""
    assert not merges
    tokenizer = models.Gemma3nTokenizer(
        _sentence_pieces(
            *(f"<{name}_soft_token>" for name in ("image", "audio")),
            *(f"<{end}_of_{name}>" for name in ("image", "audio") for end in ("start", "end")),
            "<mask>",
            "[multimodal]",
        )
    )
    size = tokenizer.vocabulary_size()
    backbone = models.Gemma3nBackbone(
        text_vocab_size=size,
        text_hidden_size=16,
        num_hidden_layers=4,
        pad_token_id=0,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        intermediate_size=[32] * 4,
        hidden_activation="gelu_approximate",
        layer_types=["sliding_attention", "full_attention"] * 2,
        sliding_window=8,
        rope_theta=1e6,
        max_position_embeddings=512,
        vocab_size_per_layer_input=size,
        hidden_size_per_layer_input=4,
        altup_num_inputs=2,
        laurel_rank=2,
        num_kv_shared_layers=2,
        **arguments,
    )
    preprocessor = models.Gemma3nCausalLMPreprocessor(tokenizer, sequence_length=LENGTH)
    return models.Gemma3nCausalLM(preprocessor, backbone)


def positioned(models: Any, *, merges: bool, **arguments: Any) -> Any:
    """A GPT-2: a table of positions, a head for each query."""
    tokenizer = models.GPT2Tokenizer(*_byte_pairs(other=merges))
    backbone = models.GPT2Backbone(tokenizer.vocabulary_size(), 2, 4, 32, 64, max_sequence_length=LENGTH, **arguments)
    return models.GPT2CausalLM(backbone, models.GPT2CausalLMPreprocessor(tokenizer, sequence_length=LENGTH))


FAMILIES: dict[str, Callable[..., Any]] = {each.__name__: each for each in (stacked, paired, shared, positioned)}


def _swap_layers(causal_lm: Any) -> None:
    first, second = (layer.get_weights() for layer in causal_lm.backbone.transformer_layers[:2])
    causal_lm.backbone.transformer_layers[0].set_weights(second)
    causal_lm.backbone.transformer_layers[1].set_weights(first)


CHANGES: dict[str, Callable[[Any], None]] = {
    "swapped layers": _swap_layers,
    "another rotary base": lambda _: None,
    "another merge": lambda _: None,
    "another window": lambda _: None,
}
_ARGUMENTS = {"another rotary base": {"rope_max_wavelength": 5000}, "another window": {"sliding_window_size": 7}}


def _byte_pairs(*, other: bool) -> tuple[dict[str, int], list[str]]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_TEXT * 3, trainer)
    inner = json.loads(tokenizer.to_str())["model"]
    vocabulary: dict[str, int] = dict(inner["vocab"])
    for token in _SPECIAL:
        vocabulary[token] = len(vocabulary)
    merges = [" ".join(merge) for merge in inner["merges"]]
    if other:  # a pair that none of the others needs is not joined
        merges.pop()
    return vocabulary, merges


def _sentence_pieces(*symbols: str) -> bytes:
    trainer: Any = importlib.import_module("sentencepiece").SentencePieceTrainer
    written = io.BytesIO()
    trainer.train(
        sentence_iterator=iter(_TEXT * 3),
        model_writer=written,
        vocab_size=420,
        model_type="BPE",
        byte_fallback=True,
        hard_vocab_limit=False,
        minloglevel=2,
        pad_id=0,
        eos_id=1,
        bos_id=2,
        unk_id=3,
        pad_piece="<pad>",
        eos_piece="<eos>",
        bos_piece="<bos>",
        unk_piece="<unk>",
        user_defined_symbols=["<start_of_turn>", "<end_of_turn>", *symbols],
    )
    return written.getvalue()
