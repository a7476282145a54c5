"""Ragged tensors of strings in the interfaces of composites: what is wrong with their parts, and random ones."""

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
    """Why these cannot be the values of a ragged tensor of strings.

    Args:
        name: What to call them.
        values: Their type.
        result: Whether they come from an op, and their number from what is in its inputs.
    """
    if values.dtype != "string" or values.shape is None or len(values.shape) != 1:
        return f"{name} is {values}; the values of a ragged tensor of strings are string[?]"
    if result and values.shape != (None,):
        return f"{name} is {values}; how many strings there are depends on what is in the arguments"
    return None


def splits_problem(name: str, splits: TensorType, dtypes: Sequence[str], rows: int | None = None) -> str | None:
    """Why these cannot be the row splits of so many rows; None for any number."""
    if splits.dtype not in dtypes or splits.shape is None or len(splits.shape) != 1 or splits.shape[0] == 0:
        return f"{name} is {splits}; row splits are {' or '.join(dtypes)} of rank 1, with one element or more"
    found = row_count(splits)
    if found is not None and rows is not None and found != rows:
        return f"{name} is {splits}; the row splits of {rows} rows are {splits.dtype}[{rows + 1}]"
    return None


def row_count(splits: TensorType) -> int | None:
    """How many rows these row splits are of, if that is known."""
    return None if not splits.shape or splits.shape[0] is None else splits.shape[0] - 1


def random_strings(shape: Sequence[int], random: np.random.Generator, letters: str = "abc") -> npt.NDArray[Any]:
    """Strings of up to eight of the letters."""
    strings = ["".join(random.choice(list(letters), random.integers(9))).encode() for _ in range(math.prod(shape))]
    # The interpreter takes a scalar string from an array of numpy's own bytes only.
    return np.array(strings, object).reshape(shape) if shape else np.array(strings[0])


def random_ragged(kinds: Sequence[TensorType], size: int, random: np.random.Generator) -> list[npt.NDArray[Any]] | None:
    """Values and the row splits of them, the outermost first; None when there can be none.

    Args:
        kinds: The types of all these.
        size: How many rows there are, where it is unknown, and at least how many more values.
        random: Where the values come from.
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
