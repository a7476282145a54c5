"""The forms of records: a line of text for people, or of JSON for programs."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timezone
from typing import Any

from litefuse.support.logs.events import FIELDS
from litefuse.support.report.json_form import json_form
from litefuse.support.report.printable import printable

__all__ = ["JsonFormatter", "TextFormatter"]


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
