"""Draws strings for a model: words that it knows and others, in common forms of text."""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.random_values import Deck
from litefuse.litert.inputs.uses import Domain, Expression, Numerals, Text, Words

_FOREIGN = ("Übergröße", "naïve", "Ἀθήνα", "слово", "言葉", "مرحبا", "😀")
_MARKS = ".,;:!?-'\"()"
_SENTENCE = 6
_BLANK = b" \t\n\v\f\r"
# Some letters of what classes in regular expressions stand for.
_CLASSES = {"d": "07", "w": "a_9", "s": " "}


class Texts:
    """Draws the strings of an input.

    Args:
        domain: The input and its uses.
        random: The source of randomness.
    """

    def __init__(self, domain: Domain, random: Random) -> None:
        uses = [use for _, use in domain.uses]
        self._random = random
        self._numerals = next((use.kind for use in uses if isinstance(use, Numerals)), None)
        keys = [key for use in uses if isinstance(use, Words) for key in use.keys]
        words = list(dict.fromkeys(key if isinstance(key, bytes) else str(key).encode() for key in keys))
        self.deck = Deck(words, random, f"words of {domain.name}") if words else None
        self._delimiters = [use.delimiter for use in uses if isinstance(use, Text)]
        self._delimiters += [use.pieces for use in uses if isinstance(use, Words) and use.pieces is not None]
        patterns = [use.pattern for use in uses if isinstance(use, Expression)]
        self._literals = sorted({letter for pattern in patterns for letter in pattern if letter.isprintable()})
        self._meant = sorted({letter for pattern in patterns for letter in _letters_of(pattern)})
        self._number = random.randrange(64)

    def draw(self, shape: Sequence[int], *, known: bool, plain: bool) -> npt.NDArray[Any]:
        """Draws strings.

        Args:
            shape: The shape of the array.
            known: Whether each is to be one word that the model knows, if it knows any, such that all words are dealt.
            plain: Whether they are to be single words in any case.
        """
        strings = np.empty(shape, object)
        flat = strings.reshape(-1)
        if known and self.deck is not None and self._numerals is None:
            flat[:] = self.deck.deal(flat.size)
        else:
            one = self._plain if plain else self._text
            flat[:] = [one() for _ in range(flat.size)]
        return strings

    def _plain(self) -> bytes:
        return eight_letters(self._random) if self._numerals is None else _numeral(self._numerals, self._random)

    def _text(self) -> bytes:
        if self._numerals is not None:
            return _numeral(self._numerals, self._random)
        self._number += 1
        form = self._number % 8
        if form == 0:
            return b""
        if self._meant and form in {1, 5}:  # expressions are to match whole strings, too
            return "".join(self._random.choices(self._meant, k=self._random.randrange(1, _SENTENCE))).encode()
        if not self._delimiters and (self.deck is not None or form < 3):
            return self._word(form)
        delimiter = self._random.choice(self._delimiters or [b""]) or b" "
        words = [self._word(self._random.randrange(1, 12)) for _ in range(self._random.randrange(1, _SENTENCE + 1))]
        text = delimiter.join(words)
        if form != 7:
            return text
        end = delimiter if delimiter != b" " else bytes([self._random.choice(_BLANK)])
        return end + text + 2 * end

    def _word(self, form: int) -> bytes:
        """Draws one word: as the model knows it, in another case, with punctuation, unknown, or non-ASCII."""
        random = self._random
        if form == 6:
            return random.choice(_FOREIGN).encode()
        word = eight_letters(random) if self.deck is None or form == 5 else bytes(self.deck.pick(1)[0])
        if form == 2:
            return word.upper()
        if form == 3:
            return word.title()
        if form == 4:
            return word + random.choice(self._literals or _MARKS).encode()
        return word


def _letters_of(pattern: str) -> set[str]:
    """Returns letters that an expression may match: those in it, the ends of ranges, some of its classes."""
    classes = {letter for name, letters in _CLASSES.items() if f"\\{name}" in pattern for letter in letters}
    return classes | {letter for letter in re.sub(r"\\[a-zA-Z]", "", pattern) if letter.isalnum() or letter == " "}


def eight_letters(random: Random) -> bytes:
    """Draws a word that hardly any model knows."""
    return "".join(random.choices(string.ascii_lowercase, k=8)).encode()


def _numeral(kind: str, random: Random) -> bytes:
    if kind == "integer":
        return str(random.randint(-1000, 1000)).encode()
    if kind == "number":
        forms = f"{random.gauss(0, 10):.4f}", f"{random.gauss(0, 1):.3e}", str(random.randint(-99, 99))
        return random.choice(forms).encode()
    if kind == "base64":
        return base64.urlsafe_b64encode(random.randbytes(random.randrange(12))).rstrip(b"=")
    return eight_letters(random)
