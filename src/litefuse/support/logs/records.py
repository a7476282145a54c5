"""Records as lines of text or JSON; those of child processes, which the parent process handles like its own."""

from __future__ import annotations

import inspect
import json
import logging
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from types import FrameType
from typing import Any, TypeAlias

from litefuse.support.logs.events import FIELDS, silent_by_default
from litefuse.support.report.json_form import json_form
from litefuse.support.report.printable import printable

#: Names the plug-in whose code is running in a frame; None if there is none.
Speaker: TypeAlias = "Callable[[FrameType | None], str | None]"


class TextFormatter(logging.Formatter):
    """A line for each record, and the traceback below it if there is one; control characters are shown as escapes."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s: %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class JsonFormatter(logging.Formatter):
    """An object in strict JSON for each record, in one line of ASCII.

    It has ``time`` (UTC, ISO 8601), ``level``, ``logger``, ``message`` and ``process``; the fields of the event; and
    ``exception``, a traceback, if there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        told |= {name: value for name, value in vars(record).items() if name in FIELDS}
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            told["exception"] = record.exc_text
        return json.dumps(json_form(told), allow_nan=False)


class Forwarding(logging.Handler):
    """Sends records to the parent process, as dictionaries that any process can read.

    Args:
        send: Sends one.
        speaker: Names the plug-in that logs: other records are dropped, and the message has its name, unless the
            logger's is one of its own. None: all are sent as they are.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None], speaker: Speaker | None = None) -> None:
        super().__init__()
        self._send = send
        self._speaker = speaker
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
            if self._speaker is not None:
                frame = inspect.currentframe()
                plug_in = self._speaker(None if frame is None else frame.f_back)
                if plug_in is None:
                    return
                message = message if record.name.startswith(plug_in) else f"[{plug_in}] {message}"
            if record.exc_info and not record.exc_text:
                record.exc_text = self._formatter.formatException(record.exc_info)
            told = {**vars(record), "msg": message, "args": None, "exc_info": None}
            self._send(json_form(told))
        except Exception:  # noqa: BLE001  a record that cannot be sent must not end the work
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name of logging's method
        del record


@contextmanager
def forwarded(level: int | None, send: Callable[[dict[str, Any]], None], speaker: Speaker) -> Generator[None]:
    """Sends the records of litefuse and of plug-ins to the parent process in the context.

    Args:
        level: The lowest level that it wants; None for none.
        send: Sends one.
        speaker: Names the plug-in that logs.
    """
    if level is None:
        yield
        return
    logger, root = silent_by_default(), logging.getLogger()
    before = logger.level, logger.propagate, root.level
    handlers = {logger: Forwarding(send), root: Forwarding(send, speaker)}
    for heard, handler in handlers.items():
        heard.addHandler(handler)
        heard.setLevel(level)
    logger.propagate = False  # whoever logs in this process would say it twice
    try:
        yield
    finally:
        for heard, handler in handlers.items():
            heard.removeHandler(handler)
        logger.setLevel(before[0])
        root.setLevel(before[2])
        logger.propagate = before[1]


def take_record(told: Mapping[str, Any]) -> None:
    """Handles a record of a child process; one of a plug-in as one of litefuse's, too, which somebody listens to."""
    if "logging" not in sys.modules:
        return
    record = logging.makeLogRecord({**told})
    logger, own = logging.getLogger(record.name), silent_by_default()
    if logger.isEnabledFor(record.levelno) and logger.hasHandlers():
        logger.handle(record)
    if record.name.partition(".")[0] != own.name and own.isEnabledFor(record.levelno):
        for handler in own.handlers:
            if record.levelno >= handler.level:
                handler.handle(record)
