"""Texts of models, which are whatever their author wrote, made fit for a terminal."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    r"""Returns a text with control characters and the like as escapes, such as ``\x1b``: names may be hostile.

    Line feeds stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if _is_harmless(letter) else ascii(letter)[1:-1] for letter in text)


def _is_harmless(letter: str) -> bool:
    return letter == "\n" or letter.isprintable() or unicodedata.category(letter) == "Zs"


def one_line(text: str) -> str:
    """Escapes newlines, too: for the names of a model's parts."""
    return printable(text).replace("\n", "\\n")


def text_width(text: str) -> int:
    """Returns how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1


def shortened(text: str, width: int) -> str:
    """Returns a text of at most this width, with an ellipsis in place of its middle.

    Names of layers begin alike and differ at the end, so two thirds of what stays is the end.
    """
    if text_width(text) <= width:
        return text
    front = fitting(text, (width - 1) // 3)
    back = fitting(text[::-1], width - 1 - text_width(front))[::-1]
    return f"{front}…{back}"


def fitting(text: str, width: int) -> str:
    """Returns the longest beginning of a text of at most this width."""
    taken = 0
    for index, letter in enumerate(text):
        taken += _letter_width(letter)
        if taken > width:
            return text[:index]
    return text
