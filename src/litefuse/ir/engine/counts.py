"""Counters of the engine's work, which are the same in each run, unlike times."""

from __future__ import annotations

from collections import Counter

__all__ = ["COUNTS"]

COUNTS: Counter[str] = Counter()
"""``engine_calls``: the number of pipelines and exports; ``copied_bytes``: the bytes of constants copied for it."""
