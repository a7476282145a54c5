"""Tokens, logits and texts of a model in Keras Hub, which a bundle's are compared with; in a process of its own."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litefuse.frontends.language_models.decoder import Decoder
from litefuse.frontends.language_models.files import load_causal_lm
from litefuse.frontends.language_models.keras_hub import decoder_of, generated, prompt_of, tokens_of
from litefuse.frontends.writer import refused

_TEXTS = (
    "",
    " ",
    "The quick brown fox  jumps over the lazy dog's 12,345 friends.\n\n\tif x[0] != 1e-5:\r\n        pass   \n",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "いろはにほへと、散りぬるを。カタカナも漢字も",
    "敏捷的棕色狐狸跳过了懒狗、花了\uff11\uff12元。",
    "다람쥐 헌 쳇바퀴에 타고파.",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ١٢٣",
    "דג סקרן שט בים מאוכזב ולפתע מצא חברה",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण १२३",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Zażółć gęślą jaźń, e\u0301 é ﬁ Å",
    "👩‍👩‍👧‍👦🇺🇳👍🏽❤️🏳️‍🌈 \U0001f9ff\U0010ffff",
    "\x01\x02\x07\x08\x1b[31m\x7f\x85\xa0\u200b\u200d\u2028\ufeff\u3000 ६ Ĵ ▁ Ġ",
    "<s></s><pad><unk><bos><eos><start_of_turn>user<end_of_turn><|endoftext|><|im_start|><|begin_of_text|>a<|eot_id|>",
)
_PIECES, _MIXED = 20_000, 300
_TRIES = 200


@dataclass(frozen=True)
class ReferenceJob:
    """Questions to a model in Keras Hub.

    Attributes:
        path: The file or folder of the model.
        folder: The folder to write logits to.
        context: How many tokens the bundle knows at once.
        lengths: How many tokens prompts are to have, with those that stand before each.
        written: How many tokens to write behind each.
    """

    path: Path
    folder: Path
    context: int
    lengths: Sequence[int]
    written: int


class WrittenPrompt(NamedTuple):
    """A prompt, and what the model writes behind it.

    Attributes:
        text: The prompt.
        tokens: Its tokens, with those that stand before it.
        written: The tokens behind it, greedily.
        logits: The file of the logits of each token that was written, ``[tokens, vocabulary]``.
    """

    text: str
    tokens: tuple[int, ...]
    written: tuple[int, ...]
    logits: Path


class Reference(NamedTuple):
    """The model's answers.

    Attributes:
        texts: Texts in many scripts, pieces of the vocabulary, and mixtures of these.
        encoded: The tokens of each text.
        decoded: The text of the tokens of each.
        prompts: The prompts.
        start: The tokens that stand before each prompt.
        stop: The tokens that end a text.
    """

    texts: list[str]
    encoded: list[tuple[int, ...]]
    decoded: list[str]
    prompts: list[WrittenPrompt]
    start: tuple[int, ...]
    stop: tuple[int, ...]


def ask_keras(job: ReferenceJob, announce: Callable[[str], None]) -> Reference:
    """Entry point of the process that the model runs in."""
    announce("read")
    causal_lm = load_causal_lm(job.path)
    causal_lm.compile(sampler="greedy", jit_compile=False)  # it would take longer than it saves
    tokenizer = causal_lm.preprocessor.tokenizer
    announce("call the original")
    chance = random.Random(0)
    pieces = _pieces(tokenizer, chance)
    mixed = ["".join(chance.choices(pieces, k=chance.randint(2, 12))) for _ in range(_MIXED)]
    texts = list(dict.fromkeys([*_TEXTS, *pieces, *mixed]))
    encoded = [tuple(map(int, tokens)) for tokens in tokenizer(texts)]
    decoded = list(map(str, tokenizer.detokenize([list(tokens) for tokens in encoded])))
    decoder = decoder_of(causal_lm)
    start = len(decoder.start)
    prompts = [
        _write(causal_lm, decoder, _text_of(tokenizer, pieces, length - start, chance), job)
        for length in job.lengths
        if start < length < job.context
    ]
    return Reference(texts, encoded, decoded, prompts, tuple(decoder.start), tuple(decoder.stop))


def _pieces(tokenizer: Any, chance: random.Random) -> list[str]:
    """Returns the texts of single tokens: a tokenizer that joins others differs in one of them."""
    count = tokenizer.vocabulary_size()
    ids = range(count) if count <= _PIECES else sorted(chance.sample(range(count), _PIECES))
    texts = map(str, tokenizer.detokenize([[token] for token in ids]))
    return [text for text in texts if text.strip() and not {"\0", "\ufffd"} & {*text}]


def _text_of(tokenizer: Any, pieces: Sequence[str], length: int, chance: random.Random) -> str:
    """Returns a text of so many tokens, or of nearly as many."""
    text, count = "", 0
    for _ in range(_TRIES):
        more = "".join(chance.choices(pieces, k=max(1, (length - count) // 2)))
        tokens = len(tokens_of(tokenizer, text + more))
        if tokens <= length:
            text, count = text + more, tokens
        if count == length:
            break
    return text


def _write(causal_lm: Any, decoder: Decoder, text: str, job: ReferenceJob) -> WrittenPrompt:
    ops: Any = sys.modules["keras"].ops
    prompt = prompt_of(causal_lm, text)
    count = len(prompt.tokens)
    end = min(job.context, count + job.written)
    written = tuple(generated(causal_lm, prompt.tokens, end, prompt.stop))
    row = np.asarray([[*prompt.tokens, *written]], np.int32)
    rows = (1, row.size)
    with refused("the model cannot be called"):
        caches = [(ops.zeros((*rows, *sizes)), ops.zeros((*rows, *sizes))) for sizes in decoder.heads]
        logits, _ = decoder.step(ops.convert_to_tensor(row), ops.convert_to_tensor(0, "int32"), caches)
    path = job.folder / f"{count}.npy"
    np.save(path, np.float32(ops.convert_to_numpy(logits)[0, count - 1 : count - 1 + max(1, len(written))]))
    return WrittenPrompt(text, prompt.tokens, written, path)
