"""The uses that a model makes of an input, as far as they give its values a meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from litefuse.support.records import Record

Box: TypeAlias = "tuple[tuple[int, int, int], ...]"
"""A part of an input: for each axis that is cut, the axis, the start of the part and its exclusive end."""


class Rows(Record):
    """Each value picks one of a number of rows, such as those of a table, or classes.

    Attributes:
        table: The name of the table that has the rows.
        count: How many there are; None for the size of a dynamic dimension.
        first: The value that picks the first row.
        low: The least legal value; None if any is legal.
        high: The greatest one.
        weighty: Whether the rows hold data, so that each of them matters.
        row: The shape of a row; None if it is unknown.
    """

    table: str
    count: int | None
    first: int
    low: int | None
    high: int | None
    weighty: bool
    row: tuple[int, ...] | None = None


class Near(Record):
    """The values are compared with a constant."""

    value: float


class Padding(Record):
    """A value that marks places of a sequence as empty."""

    value: int


class Count(Record):
    """The values are lengths.

    Attributes:
        limit: The greatest length; None for that of a dynamic dimension.
    """

    limit: int | None


class Limits(Record):
    """Values are legal only in some limits.

    Attributes:
        low: The least value.
        high: The greatest one; None for that of a dynamic dimension, less one.
    """

    low: int
    high: int | None


class Range(Record):
    """The values are quantized: those beyond the range would become its ends.

    Attributes:
        low: The least value that is represented.
        high: The greatest one.
    """

    low: float
    high: float


class Words(Record):
    """Strings, or numbers, are looked up in a table.

    Attributes:
        keys: The keys of the table.
        pieces: The delimiter at which the input is split before that: empty for white space; None if it is not split.
    """

    keys: tuple[bytes | int, ...]
    pieces: bytes | None


class Text(Record):
    """Strings are split.

    Attributes:
        delimiter: The delimiter; empty for white space.
    """

    delimiter: bytes


class Expression(Record):
    """Strings are searched with a regular expression."""

    pattern: str


class Numerals(Record):
    """Strings are parsed.

    Attributes:
        kind: ``number`` or ``base64``.
    """

    kind: str


class Meaning(Enum):
    """Uses that are the same wherever they are."""

    MASK = "the values are true or false (0 or 1)"
    SMALL = "the values decide something of unknown meaning: sizes, axes, how often a loop iterates"
    SORTED = "the values are segment ids, in order"
    IMAGE = "the values are pixels, from 0 to 255"
    POSITIVE = "the values are greater than 0, like sizes of boxes"
    WHOLE = "real numbers are converted to integers"


Use: TypeAlias = Meaning | Rows | Near | Padding | Count | Limits | Range | Words | Text | Expression | Numerals
"""A use of values. Uses of different kinds are never equal, whatever their numbers are."""


@dataclass
class Domain:
    """The values that an input takes.

    Attributes:
        name: Its name.
        dtype: Its numpy dtype, ``object`` for strings.
        shape: Its shape; None for a dynamic dimension.
        scale: The scale of quantized numbers; 0 for others.
        zero: Their zero point.
        uses: The uses of its parts, in the order in which they are found.
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
