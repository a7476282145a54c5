"""The titled tables that reports are made of, and numbers of things in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["VERDICTS", "Judgement", "Section", "count_of", "listed", "shape_text", "time_text"]

Judgement: TypeAlias = Literal["good", "warn", "bad", "unclear"] | None
"""The judgement of a row: good, worth knowing, bad, or unclear; None if it has none."""

#: The judgements of verdicts: of comparisons, and of checks for targets.
VERDICTS: Mapping[str, Judgement] = {
    "equal": "good",
    "accelerated": "good",
    "partly": "warn",
    "refused": "bad",
    "differs": "bad",
    "inconclusive": "unclear",
    "unknown": "unclear",
}

# In a sentence, the first of more things than this are named.
_NAMED = 3


@dataclass(frozen=True)
class Section:
    """A titled table.

    Attributes:
        title: The title.
        rows: The cells of each row.
        headings: The columns' headings; empty if the table needs none.
        right: The right-aligned columns.
        judgements: The judgement of each row; may be empty.
        note: A line below the table; may be empty.
        judgement: The judgement of the whole, which the title shows.
    """

    title: str
    rows: Sequence[Sequence[str]] = ()
    headings: Sequence[str] = ()
    right: frozenset[int] = frozenset()
    judgements: Sequence[Judgement] = ()
    note: str = ""
    judgement: Judgement = None


def count_of(number: int, thing: str) -> str:
    """Formats a number of things, such as ``2 calls``; the plural has an s."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def listed(texts: Iterable[str]) -> str:
    """Lists the first texts, and says how many more there are."""
    found = list(texts)
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED + 1 else ""
    return ", ".join(found[:_NAMED] if more else found) + more


def shape_text(shape: Sequence[int | None] | None) -> str:
    """Formats a shape, such as ``[?, 3]``; ``[*]`` for an unknown rank."""
    if shape is None:
        return "[*]"
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def time_text(seconds: float) -> str:
    """Formats a time with three digits, such as ``0.920 ms``."""
    if seconds >= 10:
        return f"{seconds:,.1f} s"
    if seconds >= 0.1:
        return f"{seconds * 1e3:,.0f} ms"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.3g} us"
