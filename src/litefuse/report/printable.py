"""Texts of models, which are whatever their author wrote, made fit for a terminal."""

from __future__ import annotations

__all__ = ["one_line", "printable", "shortened"]

_ELLIPSIS = "…"


def printable(text: str) -> str:
    """Escapes what a terminal would not print but obey: control characters, and those that change the direction.

    Newlines stay.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else _escaped(each) for each in text)


def one_line(text: str) -> str:
    """Escapes newlines, too: for the names of a model's parts."""
    return printable(text).replace("\n", "\\n")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def shortened(text: str, width: int) -> str:
    """Makes a text fit a number of characters: an ellipsis takes the place of its middle.

    Names of layers begin alike and differ at the end, so two thirds of what stays is the end.
    """
    if len(text) <= width:
        return text
    kept = max(width - len(_ELLIPSIS), 2)
    end = kept - kept // 3
    return f"{text[: kept // 3]}{_ELLIPSIS}{text[-end:]}"
