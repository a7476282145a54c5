"""What became of a case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any


class Verdict(Enum):
    """What became of a case, in the words of the tables."""

    PASSES = "passes"
    REFUSED = "refused"
    WRONG = "wrong"
    DOES_NOT_RUN = "does not run"
    DIED = "process died"
    TOO_SLOW = "too slow"
    NOT_EXPORTED = "not exported"


@dataclass(frozen=True)
class Outcome:
    """What became of a case with a converter.

    Attributes:
        case: The case's name.
        converter: ``litefuse`` or ``stock``.
        verdict: The verdict.
        message: Why, if it does not pass.
        size: The bytes of the file, if there is one.
        ops: The number of ops in all its subgraphs.
        error: The largest error of an output, relative to the largest absolute value in it.
        seconds: How long the conversion took.
    """

    case: str
    converter: str
    verdict: Verdict
    message: str = ""
    size: int | None = None
    ops: int | None = None
    error: float | None = None
    seconds: float | None = None


def outcome_of(fields: Mapping[str, Any]) -> Outcome:
    """The outcome with these fields, where the verdict is in words."""
    values: dict[str, Any] = {**fields, "verdict": Verdict(fields["verdict"])}
    return Outcome(**values)


def read_outcomes(path: Path) -> dict[str, Outcome]:
    """The outcomes in a file of JSON lines, by their cases; none if there is no file."""
    if not path.exists():
        return {}
    outcomes = [outcome_of(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return {each.case: each for each in outcomes}


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Writes a file of JSON lines, one for each case."""
    lines = [json.dumps({**asdict(each), "verdict": each.verdict.value}) + "\n" for each in outcomes]
    path.write_text("".join(lines), "utf-8")
