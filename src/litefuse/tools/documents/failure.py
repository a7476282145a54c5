"""A command's failure, as data."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.support.report.json_form import json_form

__all__ = ["Failure", "details_of"]

_COMMON = tuple(inspect.signature(LitefuseError).parameters)


@dataclass(frozen=True)
class Failure:
    """The error that a command ended with.

    Attributes:
        type: The class of the error: one of ``litefuse.errors``; ``Interrupted``; ``UsageError`` and its kinds; or a
            class of Python's, for memory that is exhausted or a fault of litefuse.
        message: What is wrong.
        where: The file, signature, function or node that it is about; may be empty.
        hint: What to do next; may be empty.
        details: The other attributes of its class, such as the list of ops of an ``UnsupportedOpsError``.
    """

    type: str
    message: str
    where: str = ""
    hint: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Makes it of an exception."""
        kind = type(error).__name__
        if not isinstance(error, LitefuseError):
            told = str(getattr(error, "message", "") or error)
            return cls(kind, told or kind)
        details = {name: getattr(error, name) for name in details_of(type(error))}
        return cls(kind, error.message, error.where, error.hint, details)

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for ``json.dumps``."""
        told = {"type": self.type, "message": self.message, "where": self.where, "hint": self.hint}
        return told | json_form(self.details)


def details_of(kind: type[LitefuseError]) -> tuple[str, ...]:
    """Returns the names of the attributes that a class of ``litefuse.errors`` has beyond what every error has.

    Of a class that somebody derived from one of these, they are those of the latter.
    """
    own = next(each for each in kind.__mro__ if each.__module__ == LitefuseError.__module__)
    return tuple(name for name in inspect.signature(own).parameters if name not in _COMMON)
