"""Events, which become records of the loggers ``litefuse.*``.

A logger has the name of a package: ``litefuse.composites``. Records have what they are about as attributes, those in
:data:`FIELDS`.

Nothing is shown unless somebody has asked for it: ``litefuse`` has a ``NullHandler``. Where ``logging`` is not even
imported, there can be no handler, and events cost nothing.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
_ROOT = "litefuse"

#: The attributes of records, beyond those of Python's. Each event has some of them.
FIELDS = {
    "event": "What happened, such as `stage done`; see the table of events.",
    "model": "The model that it is about.",
    "work": "The work that is in progress, such as `Converting my_saved_model`.",
    "stage": "The stage of the work, such as `Fusing`.",
    "step": "The step of the work, such as `fuse-composites`.",
    "seconds": "How long it took.",
    "error": "The class of the error that it ended with.",
    "composite": "The name of a composite.",
    "function": "The annotated function.",
    "fused_into": "The op that it became; None if it was not fused.",
    "reason": "Why not.",
    "url": "The URL that was read.",
    "size": "The bytes of the file.",
    "pid": "The process.",
    "job": "What the process does, as `package.module:function`.",
    "worker": "The worker of a cluster.",
    "death": "How the process ended: a signal's name or an exit code.",
    "told": "Whether the command prints it anyway: in its report, or as its error.",
}


def event(room: str, level: int, message: str, **fields: Any) -> None:
    """Logs an event, if anybody listens.

    Args:
        room: The package that it is from, such as ``composites``.
        level: :data:`DEBUG`, :data:`INFO`, :data:`WARNING` or :data:`ERROR`.
        message: What happened, for people.
        fields: The attributes of the record, some of :data:`FIELDS`.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    silent_by_default()
    logger: logging.Logger = logging.getLogger(f"{_ROOT}.{room}")
    if logger.isEnabledFor(level):
        logger.log(level, "%s", message, extra=fields, stacklevel=2)


def is_heard(level: int) -> bool:
    """Whether records of a level go anywhere."""
    logging = sys.modules.get("logging")
    if logging is None:
        return False
    own: logging.Logger = logging.getLogger(_ROOT)
    if not own.isEnabledFor(level):
        return False
    logger: logging.Logger | None = own
    while logger is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False


def silent_by_default() -> logging.Logger:
    """Returns the logger ``litefuse``, which says nothing until it is given a handler."""
    import logging

    logger = logging.getLogger(_ROOT)
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        logger.addHandler(logging.NullHandler())
    return logger
