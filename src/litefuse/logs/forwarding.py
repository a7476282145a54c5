"""Records of child processes, which the parent process handles as if they were its own."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from litefuse.logs.events import silent_by_default
from litefuse.report.json_form import json_form

__all__ = ["Forwarding", "forwarded", "take_record"]


class Forwarding(logging.Handler):
    """Sends records to the parent process, as dictionaries that any process can read.

    Args:
        send: Sends one.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._send = send
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if record.exc_info and not record.exc_text:
                record.exc_text = self._formatter.formatException(record.exc_info)
            told = {**vars(record), "msg": record.getMessage(), "args": None, "exc_info": None}
            self._send(json_form(told))
        except Exception:  # noqa: BLE001  a record that cannot be sent must not end the work
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name of logging's method
        del record


@contextmanager
def forwarded(level: int | None, send: Callable[[dict[str, Any]], None]) -> Generator[None]:
    """Sends the records of litefuse to the parent process in the context.

    Args:
        level: The lowest level that it wants; None for none.
        send: Sends one.
    """
    if level is None:
        yield
        return
    logger = silent_by_default()
    before = logger.level, logger.propagate
    handler = Forwarding(send)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False  # whoever logs in this process would say it twice
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


def take_record(told: Mapping[str, Any]) -> None:
    """Handles a record of a child process."""
    if "logging" not in sys.modules:
        return
    record = logging.makeLogRecord({**told})
    logger = logging.getLogger(record.name)
    silent_by_default()
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)
