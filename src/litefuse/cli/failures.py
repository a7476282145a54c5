"""Failures of commands: exit codes, and errors as JSON."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar, cast

import click

from litefuse.errors import LitefuseError

__all__ = ["VERDICT_CODES", "ExitCode", "error_json", "json_asked_for", "json_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_ASKED = "litefuse.json"


class ExitCode(IntEnum):
    """Exit codes of commands."""

    DONE = 0
    FAILED = 1
    """The command failed, or the compared models differ."""
    USAGE = 2
    INCONCLUSIVE = 3
    """The comparison found no difference, but proves nothing."""
    NOT_COMPARED = 4
    """One of the models to compare cannot be loaded or called."""
    NOT_ACCELERATED = 5
    """A target refuses an op, and was required not to."""


#: The exit codes of comparisons, by their verdicts.
VERDICT_CODES = {"equal": ExitCode.DONE, "differs": ExitCode.FAILED, "inconclusive": ExitCode.INCONCLUSIVE}


def json_option(help_text: str) -> Callable[[_Command], _Command]:
    """Makes the option ``--json``, with which errors are JSON too."""

    def remember(context: click.Context, _: click.Parameter, value: bool) -> bool:
        context.meta[_ASKED] = value
        return value

    return click.option("--json", "as_json", is_flag=True, is_eager=True, callback=remember, help=help_text)


def json_asked_for(context: click.Context) -> bool:
    """Whether the running command has the option ``--json``."""
    return bool(context.meta.get(_ASKED))


def error_json(error: BaseException, code: int) -> dict[str, Any]:
    """Converts an error to dictionaries and lists: its class, its message and its other attributes."""
    told: dict[str, Any] = {"type": type(error).__name__, "message": getattr(error, "message", None) or str(error)}
    if not isinstance(error, LitefuseError):
        return {"ok": False, "exit_code": code, "error": told}
    told |= {name: _plain(value) for name, value in vars(error).items() if name not in {"message", "trace"}}
    return {"ok": False, "exit_code": code, "error": told}


def _plain(value: Any) -> Any:
    """Converts a value for JSON: named tuples, such as ``UnsupportedOp``, become dictionaries of their fields."""
    if not isinstance(value, tuple):
        return value
    values: Any = cast("Any", value)
    return values._asdict() if hasattr(values, "_asdict") else [_plain(each) for each in values]
