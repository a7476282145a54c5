"""The target ``options``: the readers of the C++ kernels, called by ctypes in a library with sanitizers."""

from __future__ import annotations

import base64
import ctypes
import functools
import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.build import readers_environment
from fuzz.outcome import Kind, Outcome
from fuzz.target import Target
from fuzz.values import STRINGS, change_bytes, hostile_integer
from litefuse.litert.runtime.options import decode_map
from litefuse.litert.runtime.tensors import encode_strings

_SEEDS = Path(__file__).resolve().parents[1] / "seeds" / "calls.json"
_LONGEST = 2000  # characters of a text or an expression
# What expressions are made of.
_PIECES = (
    *(
        "a",
        "b",
        ".",
        "ä",
        r"\d",
        r"\W",
        r"\b",
        "^",
        "$",
        "[a-c]",
        "[^ä-\U0001d11e]",
        "[[:alpha:]]",
        r"\x{10ffff}",
        r"\Q*\E",
    ),
    *(
        "(",
        ")",
        "|",
        "*",
        "+",
        "?",
        "*?",
        "{2}",
        "{0,3}",
        "{2,}",
        "(?:",
        "(?P<n>",
        "[",
        "]",
        "\\",
        "{1000}",
        r"\101",
        "(a*)*",
    ),
)


class ReadersTarget(Target):
    """Flexbuffers, tensors of strings and regular expressions, well-formed and damaged."""

    name = "options"
    suffix = ".json"
    batch = 2000
    needs_sanitizers = True

    def __init__(self) -> None:
        self._library: Any = None

    @classmethod
    def environment(cls, *, sanitized: bool = True) -> Mapping[str, str]:
        del sanitized
        return readers_environment()

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        fields = draw.choice(_MUTANTS)(draw)
        encoded = {
            key: base64.b64encode(value).decode() if isinstance(value, bytes) else value
            for key, value in fields.items()
        }
        return json.dumps(encoded).encode()

    def try_out(self, content: bytes) -> Outcome:
        if self._library is None:
            self._library = ctypes.CDLL(os.environ["LITEFUSE_FUZZ_READERS"])
            self._library.fuzz_read_strings.restype = ctypes.c_int64
        fields = json.loads(content)
        reader = fields["reader"]
        data = base64.b64decode(fields["data"])
        if reader == "options":
            found = self._library.fuzz_read_options(data, ctypes.c_size_t(len(data)), fields["name"].encode())
            refused = found == 0
        elif reader == "strings":
            refused = self._library.fuzz_read_strings(data, ctypes.c_size_t(len(data)), fields["count"]) < 0
        else:
            text = base64.b64decode(fields["text"])
            sizes = ctypes.c_size_t(len(data)), ctypes.c_size_t(len(text))
            refused = self._library.fuzz_match(data, sizes[0], text, sizes[1], fields["full"]) < 0
        return Outcome(Kind.REFUSAL if refused else Kind.SUCCESS, reader)


@functools.cache
def _options() -> list[tuple[bytes, list[str]]]:
    """Options of calls, with their names."""
    found: list[tuple[bytes, list[str]]] = []
    for call in json.loads(_SEEDS.read_text()):
        data = base64.b64decode(call["options"])
        if names := sorted(decode_map(data) or ()):
            found.append((data, names))
    return found


def _mutated_options(draw: random.Random) -> dict[str, Any]:
    data, names = draw.choice(_options())
    return {"reader": "options", "data": change_bytes(draw, data), "name": draw.choice(names)}


def _mutated_strings(draw: random.Random) -> dict[str, Any]:
    count = draw.randrange(6)
    data = encode_strings(np.array([draw.choice(STRINGS) for _ in range(count)], object))
    if draw.random() < 0.3:
        count = min(hostile_integer(draw, 32), 1 << 20)
    return {"reader": "strings", "data": change_bytes(draw, data), "count": max(count, 0)}


def _mutated_expression(draw: random.Random) -> dict[str, Any]:
    pattern = "".join(draw.choice(_PIECES) for _ in range(draw.choice((1, 3, 8, 30)))).encode()
    if draw.random() < 0.3:
        pattern = change_bytes(draw, pattern, most=2)
    if draw.random() < 0.05:
        pattern *= draw.randrange(1, 100)
    text = b"".join(draw.choice((b"a", b"b", b"1", "ä".encode(), b"\xff", b" ")) for _ in range(draw.randrange(200)))
    return {"reader": "expression", "data": pattern[:_LONGEST], "text": text, "full": int(draw.random() < 0.5)}


_MUTANTS: tuple[Callable[[random.Random], dict[str, Any]], ...] = (
    *(_mutated_options, _mutated_options, _mutated_strings, _mutated_expression, _mutated_expression),
)
