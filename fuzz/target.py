"""What is fuzzed: a target makes mutants out of numbers, and tries them."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from fuzz.child import Ending, Stop
from fuzz.outcome import Kind, Outcome


class Target(ABC):
    """One thing that is fuzzed.

    A mutant is the content of a file, so that it can be kept and tried again, and is a pure function of the target and
    a number. ``try_out`` runs in a child process, which may die of it.

    Attributes:
        name: What the command line calls it.
        suffix: Of the files with mutants.
        batch: After how many mutants the child is replaced: what one leaves behind meets the others.
        slow: Seconds after which a mutant is looked at: one that is where it may be for ever is ended there.
        timeout: Seconds after which a mutant hangs.
        memory: Bytes that the child and its children may have.
        needs_sanitizers: Whether it cannot be tried without a library that is built with sanitizers.
    """

    name: ClassVar[str]
    suffix: ClassVar[str]
    batch: ClassVar[int] = 50
    slow: ClassVar[float] = 10.0
    timeout: ClassVar[float] = 60.0
    memory: ClassVar[int] = 2 << 30
    needs_sanitizers: ClassVar[bool] = False

    @classmethod
    def environment(cls, *, sanitized: bool = True) -> Mapping[str, str]:
        """Variables to set for the process that the children are forked from.

        Args:
            sanitized: Whether what is litefuse's in C++ is to be what sanitizers watch; it is built for that.
        """
        del sanitized
        return {}

    @abstractmethod
    def mutant(self, number: int) -> bytes:
        """The mutant of a number."""

    @abstractmethod
    def try_out(self, content: bytes) -> Outcome:
        """Tries a mutant; whatever it raises is judged as well."""

    def judge(self, content: bytes, ending: Ending) -> Outcome:
        """What it is that a mutant ended the child, or had to be ended with it."""
        del content
        kind = {Stop.DEATH: Kind.DEATH, Stop.TIME: Kind.HANG, Stop.MEMORY: Kind.MEMORY}[ending.stop]
        return Outcome(kind, f"{ending.how} at {ending.place}", ending.stderr)

    def is_contained(self, ending: Ending) -> bool:
        """Whether a slow mutant need not be waited for, since it is in code that is not litefuse's."""
        del ending
        return False

    def random(self, number: int) -> random.Random:
        """The random numbers of a mutant."""
        return random.Random(f"{self.name}:{number}")
