"""The options of :func:`litefuse.language_model`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from litefuse.errors import LitefuseError
from litefuse.support.options.conversion import OnSteps, Quantization
from litefuse.support.options.declared import option
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.names import all_names


def _lengths(value: str | int | Sequence[int], argument: str = "it") -> tuple[int, ...]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else [value]
    try:
        lengths = tuple(dict.fromkeys(int(part) for part in parts))
    except (TypeError, ValueError):
        lengths = ()
    if not lengths or min(lengths) < 1:
        raise LitefuseError(f"{argument} takes numbers of tokens, such as 128 or 128,32, not {value!r}")
    return lengths


def _quantization(
    value: QuantizationForm | Literal["int4"] | Quantization | None, argument: str = "it"
) -> Quantization:
    if value == "int4":
        return Quantization("dynamic", weight_bits=4, granularity="block:32")
    if value == "auto":
        return Quantization("auto", max_error=0.1)
    return Quantization.of(value, argument)


class LanguageModel(OnSteps):
    """The options of :func:`litefuse.language_model`."""

    tokenizer: str | os.PathLike[str] | None = option(
        default=None,
        help="The file of the tokenizer: Hugging Face's tokenizer.json, or a model of SentencePiece.",
        metavar="FILE",
        path="read",
        otherwise="that of the model",
    )
    context: int | None = option(
        default=None,
        help="How many tokens the model knows at once, prompt and text together.",
        metavar="N",
        least=2,
        otherwise="that of the model's preprocessor",
    )
    prefill: tuple[int, ...] = option(
        default="128",
        converter=_lengths,
        help="How many tokens of a prompt are computed at once: a signature prefill_N for each number.",
        metavar="N[,N]",
    )
    target: tuple[str, ...] = option(
        default="cpu",
        converter=all_names,
        help="Where the model will run: on the CPU (cpu), or on the GPU as a whole (gpu).",
        is_repeated=True,
    )
    chat_template: str | os.PathLike[str] | None = option(
        default=None,
        help="A file with the Jinja template that makes a prompt of the messages of a conversation.",
        metavar="FILE",
        path="read",
    )
    model_type: str = option(
        default="generic_model",
        help="How LiteRT-LM handles conversations: the name of a family in its metadata, such as gemma3 or qwen3.",
        metavar="NAME",
    )
    quantize: Quantization = option(
        default=None,
        converter=_quantization,
        help="Shrink the weights: to int8 (dynamic), to int4 in blocks of 32 with a scale each, other weights to int8 "
        "(int4), to float16, or as far as outputs change by a tenth at most (auto).",
        python="Or a ``litefuse.Quantization``.",
        metavar="dynamic|int4|float16|auto",
    )
