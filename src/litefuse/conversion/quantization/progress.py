"""Progress over samples, with the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable

from litefuse.support.progress.stages import Step

__all__ = ["SampleProgress"]

# The least time between two messages, in seconds.
_INTERVAL = 0.2


class SampleProgress:
    """Announces how many samples are done.

    Args:
        announce: Called with the text.
        step: The step that the text begins with.
        total: The number of samples; None if it is not known.
    """

    def __init__(self, announce: Callable[[str], None], step: str, total: int | None = None) -> None:
        self._announce = announce
        self._step = step
        self._total = total
        self._begun = self._last = time.monotonic()
        self._done = 0

    def advance(self) -> None:
        """Counts one sample that is done."""
        self._done += 1
        now = time.monotonic()
        if now - self._last < _INTERVAL:
            return
        self._last = now
        text = f"{self._step}: sample {self._done:,}"
        if self._total is not None:
            left = (now - self._begun) / self._done * (self._total - self._done)
            text += f" of {self._total:,}, {_duration(left)} left"
        self._announce(Step(text, self._done, self._total or 0))


def _duration(seconds: float) -> str:
    """Formats a time, such as ``2 min 5 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
