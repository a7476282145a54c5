"""The cases of the suite: which model, in which shapes, and what of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from suites.huggingface.families import FAMILIES


class Kind(Enum):
    """What a signature does."""

    FORWARD = "forward"
    STEP = "step"
    GENERATE = "generate"


@dataclass(frozen=True)
class Plan:
    """A case to export.

    Attributes:
        family: The key of its family.
        head: What follows the family's name in the class's name.
        kind: What the signature does.
        dynamic: Whether sizes are unknown where transformers' own signature has them so.
        options: Arguments of the configuration on top of the family's.
        generation: Arguments of ``generate``.
        note: What tells the case from others of the same class.
    """

    family: str
    head: str
    kind: Kind = Kind.FORWARD
    dynamic: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    generation: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""

    @property
    def name(self) -> str:
        """The case's name."""
        kind = () if self.kind is Kind.FORWARD else (self.kind.value,)
        note = (self.note,) if self.note else ()
        return "-".join((self.family + self.head, *kind, *note, "dynamic" if self.dynamic else "fixed"))

    @property
    def varies_length(self) -> bool:
        """Whether the lengths of sequences are unknown, and not the batch alone."""
        return self.dynamic and self.kind not in _FIXED_LENGTHS.get(self.family, set())


_DECODERS = {
    "GPT2": "LMHeadModel",
    "GPTJ": "ForCausalLM",
    "OPT": "ForCausalLM",
    "XGLM": "ForCausalLM",
    "CTRL": "LMHeadModel",
    "Mistral": "ForCausalLM",
    "Roberta": "ForCausalLM",
}
_ENCODERS_WITH_DECODERS = {
    "Bart": "ForConditionalGeneration",
    "T5": "ForConditionalGeneration",
    "Marian": "MTModel",
    "Pegasus": "ForConditionalGeneration",
    "Blenderbot": "ForConditionalGeneration",
    "Whisper": "ForConditionalGeneration",
}
_GENERATORS = {
    "GPT2": "LMHeadModel",
    "T5": "ForConditionalGeneration",
    "Bart": "ForConditionalGeneration",
    "Whisper": "ForConditionalGeneration",
}
# Whisper's encoder has a position for each frame of its window; the others take the length of a cache from its static
# shape, and fail where there is none.
_FIXED_LENGTHS: Mapping[str, AbstractSet[Kind]] = {
    "Whisper": {*Kind},
    "Mistral": {Kind.STEP},
    "XGLM": {Kind.STEP},
}
_DECODER_OPTIONS: Mapping[str, Mapping[str, Any]] = {"Roberta": {"is_decoder": True}}
_NOTHING: Mapping[str, Any] = {}
_LARGE_VOCABULARY: Mapping[str, Any] = {"vocab_size": 50257, "n_embd": 256}


def plans(only: str = "") -> Iterator[Plan]:
    """The cases whose names the expression matches, family by family."""
    return (plan for plan in _plans() if re.search(only, plan.name))


def _plans() -> Iterator[Plan]:
    for family, description in FAMILIES.items():
        for number, head in enumerate(description.heads):
            is_decoder = head == _DECODERS.get(family)
            decoder = _DECODER_OPTIONS.get(family, _NOTHING) if is_decoder else _NOTHING
            if number == 0:
                yield Plan(family, head)
            yield Plan(family, head, dynamic=number % 2 == 1 or number == 0, options=decoder)
        for models in (_DECODERS, _ENCODERS_WITH_DECODERS):
            if family in models:
                options = _DECODER_OPTIONS.get(family, _NOTHING)
                yield Plan(family, models[family], Kind.STEP, options=options)
                yield Plan(family, models[family], Kind.STEP, dynamic=True, options=options)
        if family in _GENERATORS:
            for note, beams in (("greedy", 1), ("beam", 3)):
                generation = {"num_beams": beams, "do_sample": False, "max_new_tokens": 6}
                yield Plan(family, _GENERATORS[family], Kind.GENERATE, generation=generation, note=note)
    greedy = {"num_beams": 1, "do_sample": False, "max_new_tokens": 6}
    yield Plan("GPT2", "LMHeadModel", Kind.GENERATE, dynamic=True, generation=greedy, note="greedy")
    yield Plan("T5", "ForConditionalGeneration", Kind.GENERATE, dynamic=True, generation=greedy, note="greedy")
    for family in ("OPT", "Marian"):
        head = (_DECODERS | _ENCODERS_WITH_DECODERS)[family]
        yield Plan(family, head, Kind.GENERATE, generation=greedy, note="greedy")
    yield Plan("GPT2", "LMHeadModel", options=_LARGE_VOCABULARY, note="large-vocabulary")
