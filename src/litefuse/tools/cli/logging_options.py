"""The options of all commands that show events of the work: ``-v``, ``--log-level`` and the like."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from litefuse.errors import LitefuseError
from litefuse.tools.cli.output import LOG_OPTIONS, check_writable
from litefuse.tools.cli.parameters import PLACE

if TYPE_CHECKING:
    import logging

LEVEL_VARIABLE = "LITEFUSE_LOG"
_LEVELS = ("debug", "info", "warning", "error")


def log_options(command: click.Command) -> None:
    """Adds the options to a command, or to all commands of a group."""
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            log_options(subcommand)
        return
    assert command.callback is not None
    command.params += [
        _option("--verbose", "-v", count=True, help="Log events to standard error; -vv: all steps."),
        _option(
            "--log-level",
            type=click.Choice(_LEVELS),
            envvar=LEVEL_VARIABLE,
            help="Log events of this level and above; -v is info, -vv is debug.",
        ),
        _option(
            "--log-file",
            type=PLACE,
            metavar="FILE",
            envvar=f"{LEVEL_VARIABLE}_FILE",
            help="Append events to this file: info and above, unless --log-level is given.",
        ),
        _option(
            "--log-format",
            type=click.Choice(["text", "json"]),
            default="text",
            envvar=f"{LEVEL_VARIABLE}_FORMAT",
            help="Write each event as a line of text (default) or a JSON object.",
        ),
    ]
    command.callback = _logged(command.callback)


def _option(*names: str, **attributes: Any) -> click.Option:
    return click.Option(list(names), expose_value=False, callback=_remember, **attributes)


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    context.meta.setdefault(LOG_OPTIONS, {})[parameter.name] = value
    return value


def _logged(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    def command(*arguments: Any, **options: Any) -> Any:
        with _logging(click.get_current_context()):
            return run(*arguments, **options)

    return command


@contextmanager
def _logging(context: click.Context) -> Generator[None]:
    """Shows events as the options say; without any, warnings that the command does not print itself."""
    from litefuse.support.logs.events import silent_by_default

    asked = context.meta.get(LOG_OPTIONS, {})
    file: Path | None = asked.get("log_file")
    level = asked.get("log_level") or ("", "info", "debug")[min(asked.get("verbose") or 0, 2)]
    handler = _handler(file, context) if file is not None else _terminal(everything=bool(level))
    handler.setFormatter(_formatter(asked.get("log_format") or "text"))
    logger = silent_by_default()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel((level or ("warning" if file is None else "info")).upper())
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        handler.close()


def _handler(file: Path, context: click.Context) -> logging.Handler:
    import logging

    paths = [param for param in context.params.values() if isinstance(param, Path)]
    check_writable(file, "the log", reads=paths, option="--log-file")
    try:
        handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise LitefuseError(f"the log cannot be written: {error.strerror or error}", where=str(file)) from error
    handler.handleError = _give_up  # a full disk must not end the work
    return handler


def _terminal(*, everything: bool) -> logging.Handler:
    import logging
    import sys

    handler = logging.StreamHandler(sys.stderr)
    handler.handleError = _give_up
    if not everything:
        handler.addFilter(lambda record: not getattr(record, "told", False))
    return handler


def _formatter(form: str) -> logging.Formatter:
    from litefuse.support.logs.records import JsonFormatter, TextFormatter

    return JsonFormatter() if form == "json" else TextFormatter()


def _give_up(record: logging.LogRecord) -> None:
    del record
