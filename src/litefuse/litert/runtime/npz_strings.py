"""Strings in ``.npz`` files, which can hold arrays of objects only as pickles.

Numpy pads an array of bytes with NULs, and drops those at the end of an element. If there are such strings, a second
array has the lengths of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["restored_strings", "stored_strings"]

# The suffix of the array of lengths, after the name of the strings; no input or output has such a name.
_LENGTHS = " (lengths)"


def stored_strings(name: str, strings: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays by name that store an array of ``bytes`` and ``str`` (written as UTF-8)."""
    elements = [each.encode() if isinstance(each, str) else bytes(each) for each in strings.reshape(-1).tolist()]
    stored: dict[str, npt.NDArray[Any]] = {name: np.array(elements, np.bytes_).reshape(strings.shape)}
    if any(element.endswith(b"\0") for element in elements):
        stored[name + _LENGTHS] = np.array([len(element) for element in elements], np.int32).reshape(strings.shape)
    return stored


def restored_strings(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of a file, with strings that have lengths restored to arrays of ``bytes``.

    Raises:
        ValueError: A length is less than that of its string.
    """
    restored = dict(arrays)
    for name, strings in arrays.items():
        lengths = arrays.get(name + _LENGTHS)
        if lengths is None or strings.dtype.kind != "S" or lengths.shape != strings.shape:
            continue
        too_short, too_long = lengths < np.char.str_len(strings), lengths > strings.itemsize
        if lengths.dtype.kind not in "iu" or np.any(too_short | too_long):
            raise ValueError(f"the lengths of the strings {name!r} are not theirs")
        padded: npt.NDArray[Any] = np.empty(strings.size, object)
        pairs = zip(strings.reshape(-1).tolist(), lengths.reshape(-1).tolist(), strict=True)
        padded[:] = [each.ljust(length, b"\0") for each, length in pairs]
        restored[name] = padded.reshape(strings.shape)
        del restored[name + _LENGTHS]
    return restored
