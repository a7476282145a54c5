"""Targets of entry points, some of which do not load."""

from __future__ import annotations

import os
from typing import Any

fine = "fine"


def __getattr__(name: str) -> Any:
    if name == "dies":
        os.abort()
    if name == "exits":
        raise SystemExit(3)
    raise AttributeError(name)
