"""Ragged tensors of strings in the interfaces of composites: checks of their types, and random values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from litefuse.ir.types import TensorType

__all__ = ["INDICES", "random_ragged", "random_strings", "row_count", "splits_problem", "values_problem"]

#: The dtypes of row splits.
INDICES = ("int64", "int32")


def values_problem(name: str, values: TensorType, *, result: bool = False) -> str | None:
    """Returns why a type cannot be that of the values of a ragged tensor of strings.

    Args:
        name: Their name in the message.
        values: Their type.
        result: Whether they are a result of an op, so that their number depends on the elements of its inputs.
    """
    if values.dtype != "string" or values.shape is None or len(values.shape) != 1:
        return f"{name} is {values}; the values of a ragged tensor of strings are string[?]"
    if result and values.shape != (None,):
        return f"{name} is {values}; how many strings there are depends on what is in the arguments"
    return None


def splits_problem(name: str, splits: TensorType, dtypes: Sequence[str], rows: int | None = None) -> str | None:
    """Returns why a type cannot be that of row splits of this many rows; None for any number."""
    if splits.dtype not in dtypes or splits.shape is None or len(splits.shape) != 1 or splits.shape[0] == 0:
        return f"{name} is {splits}; row splits are {' or '.join(dtypes)} of rank 1, with one element or more"
    count = row_count(splits)
    if count is not None and rows is not None and count != rows:
        return f"{name} is {splits}; the row splits of {rows} rows are {splits.dtype}[{rows + 1}]"
    return None


def row_count(splits: TensorType) -> int | None:
    """Returns the number of rows that row splits have, if known."""
    return None if not splits.shape or splits.shape[0] is None else splits.shape[0] - 1


def random_strings(shape: Sequence[int], random: np.random.Generator, letters: str = "abc") -> npt.NDArray[Any]:
    """Draws strings of up to eight of the letters."""
    strings = ["".join(random.choice(list(letters), random.integers(9))).encode() for _ in range(math.prod(shape))]
    # The interpreter accepts a scalar string only as an array of numpy's bytes type.
    return np.array(strings, object).reshape(shape) if shape else np.array(strings[0])


def random_ragged(kinds: Sequence[TensorType], size: int, random: np.random.Generator) -> list[npt.NDArray[Any]] | None:
    """Draws values and their row splits, the outermost first; None if the types allow none.

    Args:
        kinds: The types of the values and the row splits.
        size: The number of rows if unknown, and the least number of additional values.
        random: The source of the values.
    """
    values, *splits = kinds
    sizes = [*map(row_count, splits), values.shape[0] if values.shape else None]
    count = size if sizes[0] is None else sizes[0]
    parts: list[npt.NDArray[Any]] = []
    for kind, known in zip(splits, sizes[1:], strict=True):
        total = known if known is not None else count + size if count else 0
        if total and not count:
            return None
        places = np.sort(random.integers(0, total, max(count - 1, 0), endpoint=True))
        parts.append(np.array([0, *places, total][: count + 1], kind.dtype))
        count = total
    return [random_strings([count], random), *parts]
