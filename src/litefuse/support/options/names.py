"""Lists of names, as users give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from litefuse.errors import LitefuseError

__all__ = ["listed_names", "refuse_one_string"]


def listed_names(value: Iterable[str] | None, argument: str) -> tuple[str, ...] | None:
    """Returns names that a user gave; None if there are none.

    Args:
        value: The names.
        argument: The argument that they were given for.

    Raises:
        LitefuseError: It is one string, whose letters would be taken for names, or no names.
    """
    refuse_one_string(value, argument)
    if value is None:
        return None
    given = cast("object", value)
    names = list(cast("Iterable[object]", given)) if isinstance(given, Iterable) else [given]
    if not all(isinstance(name, str) for name in names):
        raise LitefuseError(f"{argument} takes a list of names, which are strings, not {value!r}")
    return tuple(cast("list[str]", names))


def refuse_one_string(value: object, argument: str) -> None:
    """Refuses a string where a list is expected.

    Args:
        value: The value.
        argument: The argument that it was given for.

    Raises:
        LitefuseError: It is a string.
    """
    if isinstance(value, str):
        raise LitefuseError(f"{argument} takes a list of names, not the string {value!r}", hint=f"Pass [{value!r}].")
