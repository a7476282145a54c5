"""What the engine is made to do, counted: unlike times, these are the same in each run."""

from __future__ import annotations

from collections import Counter

__all__ = ["COUNTS"]

COUNTS: Counter[str] = Counter()
"""``engine_calls``: pipelines and exports that were run; ``copied_bytes``: of constants that the engine was given."""
