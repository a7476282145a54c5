"""Which ops of a kernel that the pack has in C++ run in Python all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["PARTLY_NATIVE", "is_beyond_native"]


def _letters(attributes: Mapping[str, Any]) -> bool:
    """The letters of Unicode are in no library that the kernels in C++ could do without."""
    return attributes.get("encoding", "") not in ("", b"")


def _expression(attributes: Mapping[str, Any]) -> bool:
    r"""Flags, or what may be a class of Unicode (\pL); whether a backslash is itself behind one does not matter."""
    pattern = attributes.get("pattern", "")
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)  # what is no text, C++ refuses
    return re.search(r"\\[pP]|\(\?(?!:|P?<)", text) is not None


_BEYOND: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    **dict.fromkeys(("StaticRegexFullMatch", "StaticRegexReplace"), _expression),
    **dict.fromkeys(("StringLower", "StringUpper"), _letters),
}

PARTLY_NATIVE = frozenset(_BEYOND)
"""The ops whose attributes decide it."""


def is_beyond_native(op: str, attributes: Mapping[str, Any]) -> bool:
    """Whether an op with such attributes is beyond the kernel in C++; there is one of its name."""
    return op in _BEYOND and _BEYOND[op](attributes)
