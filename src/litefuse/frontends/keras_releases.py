"""The releases of Keras that are safe to read files with."""

from __future__ import annotations

import re

__all__ = ["CORRECTED_TEXT", "is_corrected"]

# The first releases in which a file has no known way to run code, and what to ask pip for. 3.12 is the last for Python
# 3.10, and has got the corrections of later releases.
_CORRECTED = ((3, 12, 4), (3, 15, 1))
CORRECTED_TEXT = "3.12.4 or a later 3.12, or 3.15.1 or later"


def is_corrected(version: str) -> bool:
    """Whether a release of Keras is one of those."""
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:3])
    (line, latest) = _CORRECTED
    return numbers >= latest or (numbers[:2] == line[:2] and numbers >= line)
