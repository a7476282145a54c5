"""Cases of models in integers, which run in part, and as a whole on request."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["in_part"]

_ALL = os.environ.get("LITEFUSE_INTEGERS") == "all"
_Case = TypeVar("_Case")


def in_part(cases: Iterable[_Case], every: int) -> list[_Case]:
    """Returns one of so many cases; all of them with ``LITEFUSE_INTEGERS=all`` in the environment."""
    return [*cases][:: 1 if _ALL else every]
