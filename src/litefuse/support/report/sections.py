"""The sections that reports are made of, which are titled tables, and numbers of things in words.

Each report has a module that makes the sections of its data, such as ``litefuse.support.report.conversion_sections``.
That module imports the data's class, and not the reverse: the class is a ``litefuse.support.report.shown.Shown``, which
names the function that makes its sections. A table with a row for each of some items declares its columns::

    table(
        "Layers",
        layers,
        [Column("name", lambda layer: layer.name), Column("bytes", lambda layer: f"{layer.size:,}", right=True)],
        judge=lambda layer: "good" if layer.is_quantized else None,
    )
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

_Item = TypeVar("_Item")

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

_FROM_GOOD_TO_BAD: tuple[Judgement, ...] = (None, "good", "warn", "unclear", "bad")

# In a sentence, the first of more things than this are named.
_NAMED = 3

# Ops stand in several columns if there are more than this.
_OPS_ABREAST = 3
_OPS_BELOW = 6


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


@dataclass(frozen=True)
class Column(Generic[_Item]):
    """A column of a table in which each row is about one item.

    Attributes:
        heading: Its heading; may be empty.
        cell: Returns the text of its cell in an item's row.
        right: Whether it is aligned at the right, as numbers are.
    """

    heading: str
    cell: Callable[[_Item], str]
    right: bool = False


def table(
    title: str,
    items: Iterable[_Item],
    columns: Sequence[Column[_Item]],
    *,
    judge: Callable[[_Item], Judgement] | None = None,
    note: str = "",
    judgement: Judgement = None,
) -> Section:
    """Returns the section with a row for each item, by its columns.

    Args:
        title: The title.
        items: The items.
        columns: The columns; without headings if none has one.
        judge: Returns the judgement of an item's row; None: rows have none.
        note: A line below the table.
        judgement: The judgement of the whole.
    """
    items = list(items)
    return Section(
        title,
        [tuple(column.cell(item) for column in columns) for item in items],
        headings=tuple(column.heading for column in columns) if any(column.heading for column in columns) else (),
        right=frozenset(place for place, column in enumerate(columns) if column.right),
        judgements=() if judge is None else [judge(item) for item in items],
        note=note,
        judgement=judgement,
    )


def op_section(counts: Mapping[str, int], title: str) -> Section:
    """Returns the section with the number of each op, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    abreast = 1 if len(ordered) <= _OPS_BELOW else _OPS_ABREAST
    height = -(-len(ordered) // abreast)
    rows = [
        tuple(cell for name, count in ordered[row::height] for cell in (f"{count:,}", name)) for row in range(height)
    ]
    return Section(f"{title}: {sum(counts.values()):,}", rows, right=frozenset(range(0, 2 * abreast, 2)))


def worst_of(judgements: Iterable[Judgement]) -> Judgement:
    """Returns the worst of some judgements; None if there are none."""
    return max(judgements, key=_FROM_GOOD_TO_BAD.index, default=None)


def count_of(number: int, thing: str) -> str:
    """Formats a number of things, such as ``2 calls``; the plural has an s."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def listed(texts: Iterable[str], most: int = _NAMED) -> str:
    """Lists the first texts, and says how many more there are."""
    texts = list(texts)
    more = f" and {len(texts) - most:,} more" if len(texts) > most + 1 else ""
    return ", ".join(texts[:most] if more else texts) + more


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
