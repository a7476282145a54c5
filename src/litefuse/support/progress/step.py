"""Steps of work that say how much of them is done."""

from __future__ import annotations

from typing import Any, final

__all__ = ["Step"]


@final
class Step(str):
    """The name of a step, or of a step and a detail (``ask: gpu, compile the model``), with a fraction.

    It is a string, so that it is taken wherever steps are, and can be sent from another process.

    Attributes:
        done: How many of the things that the step is about are done.
        total: How many there are; 0 if that is not known.
    """

    __slots__ = ("done", "total")

    done: int
    total: int

    def __new__(cls, text: str, done: int = 0, total: int = 0) -> Step:
        self = super().__new__(cls, text)
        self.done = done
        self.total = total
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Step, (str(self), self.done, self.total)
