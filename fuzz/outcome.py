"""What became of a mutant, and which of these outcomes are faults of litefuse."""

from __future__ import annotations

import re
import shutil
import traceback
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from litefuse.errors import EngineCrashError, LitefuseError

_ROOT = Path(__file__).resolve().parents[1]
_BUG = "This is a bug in litefuse"
_FRAME = re.compile(r'File "(?P<file>[^"]*)", line (?P<line>\d+)(?:,)? in (?P<name>\S+)')


class Kind(str, Enum):
    """What became of a mutant."""

    SUCCESS = "success"
    REFUSAL = "refusal"
    LITERT_DEATH = "contained death in LiteRT"
    ENGINE_DEATH = "contained death of the lowering engine"
    DEATH = "death of the caller"
    FOREIGN = "foreign exception"
    HANG = "hang"
    BUG = "bug in litefuse"
    MEMORY = "memory over the limit"

    @property
    def is_finding(self) -> bool:
        """Whether it is a fault of litefuse."""
        return self in {Kind.DEATH, Kind.FOREIGN, Kind.HANG, Kind.BUG, Kind.MEMORY}


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    Attributes:
        kind: The class of the outcome.
        group: What outcomes of one cause have in common.
        detail: The message, traceback or report.
    """

    kind: Kind
    group: str = ""
    detail: str = ""


def of_error(error: BaseException) -> Outcome:
    """What an exception that litefuse let out is: a refusal, a contained death, or a fault."""
    if isinstance(error, EngineCrashError):
        if error.module_path is not None:
            shutil.rmtree(Path(error.module_path).parent, ignore_errors=True)
        first = str(error).partition("\n")[0]
        return Outcome(Kind.ENGINE_DEATH, shape_of_text(first), str(error))
    if isinstance(error, LitefuseError):
        text = str(error)
        if _BUG in text:
            return Outcome(Kind.BUG, f"{shape_of_text(error.message)} at {_innermost(text)}", text)
        return Outcome(Kind.REFUSAL, f"{type(error).__name__}: {shape_of_text(error.message)}", text)
    trace = "".join(traceback.format_exception(error))
    return Outcome(Kind.FOREIGN, f"{type(error).__name__}: {shape_of_text(str(error))} at {_innermost(trace)}", trace)


def shape_of_text(text: str) -> str:
    """A message without what differs between two of one class: names, numbers."""
    first = text.partition("\n")[0]
    return re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?", "N", re.sub(r"'[^']*'|\"[^\"]*\"|\[[^]]*\]", "…", first))[:160]


def _innermost(trace: str) -> str:
    """The last frame of a traceback that is the project's."""
    found = "an unknown place"
    for frame in _FRAME.finditer(trace):
        file = frame["file"]
        if "litefuse/" in file and "site-packages" not in file:
            found = f"{file.rpartition('/litefuse/')[2]}:{frame['line']} in {frame['name']}"
    return found
