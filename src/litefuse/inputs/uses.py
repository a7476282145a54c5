"""What a model does with an input, as far as it gives its values a meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "Box",
    "Count",
    "Domain",
    "Expression",
    "Image",
    "Limits",
    "Mask",
    "Near",
    "Numerals",
    "Padding",
    "Rows",
    "Small",
    "Sorted",
    "Text",
    "Use",
    "Whole",
    "Words",
]

Box: TypeAlias = "tuple[tuple[int, int, int], ...]"
"""A part of an input: for each axis that is cut, the axis and the first index of the part and that behind it."""


@dataclass(frozen=True)
class Rows:
    """Each value picks one of a number of rows, as of a table, or of classes.

    Attributes:
        table: What the rows are of.
        count: How many there are; None for as many as an open dimension has.
        first: The value that picks the first row.
        low: The least value that is legal; None if any is.
        high: The greatest one.
        weighty: Whether the rows hold something, so that each of them matters.
        row: The shape of a row; None if it is not known.
    """

    table: str
    count: int | None
    first: int
    low: int | None
    high: int | None
    weighty: bool
    row: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Near:
    """The values are compared with a constant."""

    value: float


@dataclass(frozen=True)
class Padding:
    """A value that marks places of a sequence as empty."""

    value: int


@dataclass(frozen=True)
class Mask:
    """The values are true or false (0 or 1)."""


@dataclass(frozen=True)
class Count:
    """The values are lengths.

    Attributes:
        limit: The greatest length; None for that of an open dimension.
    """

    limit: int | None


@dataclass(frozen=True)
class Limits:
    """The values are legal in some limits only.

    Attributes:
        low: The least value.
        high: The greatest one; None for that of an open dimension, less one.
    """

    low: int
    high: int | None


@dataclass(frozen=True)
class Small:
    """The values decide what nothing is known of: sizes, axes, how often a loop turns."""


@dataclass(frozen=True)
class Sorted:
    """The values are numbers of segments, in order."""


@dataclass(frozen=True)
class Image:
    """The values are those of pixels, from 0 to 255."""


@dataclass(frozen=True)
class Positive:
    """The values are greater than 0, as sizes of boxes."""


@dataclass(frozen=True)
class Whole:
    """Real numbers become whole ones."""


@dataclass(frozen=True)
class Words:
    """Strings, or numbers, are looked up.

    Attributes:
        keys: What there is.
        pieces: What the input is split at before that: empty for white space; None if it is not split.
    """

    keys: tuple[bytes | int, ...]
    pieces: bytes | None


@dataclass(frozen=True)
class Text:
    """Strings are taken apart.

    Attributes:
        delimiter: Where; empty for white space.
    """

    delimiter: bytes


@dataclass(frozen=True)
class Expression:
    """Strings are searched with a regular expression."""

    pattern: str


@dataclass(frozen=True)
class Numerals:
    """Strings are read as something.

    Attributes:
        kind: ``number`` or ``base64``.
    """

    kind: str


Use: TypeAlias = (
    Rows
    | Near
    | Padding
    | Mask
    | Count
    | Limits
    | Small
    | Sorted
    | Image
    | Positive
    | Whole
    | Words
    | Text
    | Expression
    | Numerals
)
"""What is done with values. No two kinds are equal, whatever their numbers are."""


@dataclass
class Domain:
    """What an input takes.

    Attributes:
        name: Its name.
        dtype: Its numpy dtype, ``object`` for strings.
        shape: Its shape; None for a size that is open.
        scale: The scale of quantized numbers; 0 for others.
        zero: Their zero point.
        uses: What is done with which part of it, in the order in which it is found.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    scale: float = 0.0
    zero: int = 0
    uses: dict[tuple[Box, Use], None] = field(default_factory=dict[tuple[Box, Use], None])

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{'string' if self.dtype == object else self.dtype} [{sizes}]"
