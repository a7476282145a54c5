"""Differences between the parts of two LiteRT files, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Category: TypeAlias = Literal[
    "signatures", "operators", "tensors", "weights", "order", "names", "metadata", "properties"
]
"""Kinds of difference between two files. The first four are about what they compute."""


Change: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class ComparedFile:
    """One of the files.

    Attributes:
        name: Its name.
        size: Its size in bytes.
        sha256: The SHA-256 of its bytes, in hexadecimal.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class ValueChange:
    """A value that differs.

    Attributes:
        what: The value, such as ``padding`` or ``input x: shape``.
        before: The value in the first file, as JSON has it; None where it has none.
        after: The value in the second file.
    """

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class OperatorChange:
    """An operator that is not the same in both.

    Attributes:
        change: ``added``: only the second file has it; ``removed``: only the first; ``changed``: see ``values``;
            ``moved``: it is run in another order.
        name: Its name in the schema, or a custom op's own; the name of a composite.
        layer: The layer that it is from; may be empty.
        result: The name of its first result; empty if it has none.
        place_before: Subgraph and index in the first file; None if it is added.
        place_after: Those in the second file; None if it is removed.
        values: The values that differ: ``op``, ``version``, the names of options, ``input 0``, ``inputs``, ``outputs``.
    """

    change: Literal["added", "removed", "changed", "moved"]
    name: str
    layer: str
    result: str
    place_before: tuple[int, int] | None = None
    place_after: tuple[int, int] | None = None
    values: tuple[ValueChange, ...] = ()


@dataclass(frozen=True)
class TensorChange:
    """A tensor that is not the same in both.

    Attributes:
        change: ``added``, ``removed`` or ``changed``.
        name: Its name, in the first file if it is in both.
        layer: The layer that it is from; may be empty.
        place_before: Subgraph and index in the first file; None if it is added.
        place_after: Those in the second file; None if it is removed.
        size: The bytes of its value, in the second file if it is in both; 0 if it is not a constant.
        values: The values that differ: ``dtype``, ``shape``, ``quantization``, ``is_variable``, ``is_constant``.
    """

    change: Change
    name: str
    layer: str
    place_before: tuple[int, int] | None = None
    place_after: tuple[int, int] | None = None
    size: int = 0
    values: tuple[ValueChange, ...] = ()


@dataclass(frozen=True)
class WeightChange:
    """A constant whose numbers differ. Quantized ones are compared as the real numbers that they stand for.

    Attributes:
        name: Its name in the first file.
        layer: The layer that it is from; may be empty.
        dtype_before: Its dtype in the first file.
        dtype_after: Its dtype in the second file.
        elements: The number of its elements.
        differing: How many of them differ; None if they cannot be compared.
        max_difference: The largest difference; None if they cannot be compared, or are not numbers.
        relative: The largest difference divided by the largest magnitude in the first file; None as above.
        problem: Why they cannot be compared one by one; else empty.
        before: Its numbers in the first file, if there are few: axes, sizes and the like; else None.
        after: Those in the second file.
    """

    name: str
    layer: str
    dtype_before: str
    dtype_after: str
    elements: int
    differing: int | None
    max_difference: float | None = None
    relative: float | None = None
    problem: str = ""
    before: tuple[Any, ...] | None = None
    after: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class NameChange:
    """A tensor that has another name, and is the same otherwise.

    Attributes:
        before: Its name in the first file.
        after: Its name in the second file.
    """

    before: str
    after: str


@dataclass(frozen=True)
class SizeChange:
    """A part of the file that takes more or fewer bytes.

    Attributes:
        part: ``layer``, ``metadata``, ``unread`` (buffers that nothing reads), ``files`` (associated files) or
            ``structure`` (the rest).
        layer: The layer.
        dtype: The dtype of its constants.
        before: The bytes in the first file.
        after: The bytes in the second file.
    """

    part: str
    layer: str
    dtype: str
    before: int
    after: int
