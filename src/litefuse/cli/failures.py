"""How commands fail: exit codes, and errors as JSON."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar, cast

import click

from litefuse.errors import LitefuseError

__all__ = ["ExitCode", "error_json", "json_asked_for", "json_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_ASKED = "litefuse.json"


class ExitCode(IntEnum):
    """What a command ends with."""

    DONE = 0
    FAILED = 1
    """Refused, or what was compared differs."""
    USAGE = 2
    INCONCLUSIVE = 3
    """What was compared neither differs nor proves anything."""
    NOT_COMPARED = 4
    """One of the two that were to be compared cannot be loaded or called."""


def json_option(help_text: str) -> Callable[[_Command], _Command]:
    """Adds the option ``--json``, with which errors are JSON too."""

    def remember(context: click.Context, _: click.Parameter, value: bool) -> bool:
        context.meta[_ASKED] = value
        return value

    return click.option("--json", "as_json", is_flag=True, is_eager=True, callback=remember, help=help_text)


def json_asked_for(context: click.Context) -> bool:
    """Whether the command that runs was asked for JSON."""
    return bool(context.meta.get(_ASKED))


def error_json(error: BaseException, code: int) -> dict[str, Any]:
    """An error as dictionaries and lists: its class, what its message is made of, and what else it tells."""
    told: dict[str, Any] = {"type": type(error).__name__, "message": getattr(error, "message", None) or str(error)}
    if not isinstance(error, LitefuseError):
        return {"ok": False, "exit_code": code, "error": told}
    told |= {name: _plain(value) for name, value in vars(error).items() if name not in {"message", "trace"}}
    return {"ok": False, "exit_code": code, "error": told}


def _plain(value: Any) -> Any:
    """What JSON can hold: of named tuples, such as ``UnsupportedOp``, their fields by name."""
    if not isinstance(value, tuple):
        return value
    values: Any = cast("Any", value)
    return values._asdict() if hasattr(values, "_asdict") else [_plain(each) for each in values]
