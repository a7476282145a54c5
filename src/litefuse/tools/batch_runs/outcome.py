"""Outcomes of the models of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from litefuse.support.report.shown import Shown

Status: TypeAlias = Literal[
    "done", "inconclusive", "differs", "refused", "failed", "timeout", "memory", "crashed", "interrupted"
]
"""Status of a step. ``done``: it worked, and what was compared is equal; ``inconclusive``: a comparison proves nothing;
``differs``: outputs differ; ``refused``: a target does not take the file; ``failed``: an error in the model or its
options; ``timeout``, ``memory``: it exceeded a limit; ``crashed``: its process died; ``interrupted``: not tried."""

_BY_WEIGHT: Sequence[Status] = (
    *("done", "inconclusive", "refused", "differs", "failed", "timeout", "memory", "crashed", "interrupted"),
)
#: Those that stay as they are in the next batch: all was carried out.
KEPT = frozenset({"done", "inconclusive", "differs", "refused"})


@dataclass(frozen=True)
class StepOutcome:
    """Outcome of one step of a model.

    Attributes:
        step: ``convert``, ``verify``, ``check TARGET`` or ``quantize VARIANT``.
        status: Its status.
        seconds: How long it took.
        message: Why it is not done; may be empty.
        facts: What is known of it, such as sizes and errors.
    """

    step: str
    status: Status
    seconds: float = 0.0
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Outcome:
    """Outcome of one model of a batch.

    Attributes:
        name: Its name.
        path: Its path or URL.
        steps: What became of each step, in order; the last is the one that failed, where one did.
        files: The SHA-256 and the size of each file that was written, by its name.
        attempts: How often it was tried; 0 if an earlier batch had done it.
        report: The report of the conversion, as of ``Report.to_json``; empty if there is none.
    """

    name: str
    path: str
    steps: tuple[StepOutcome, ...] = ()
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict[str, "tuple[str, int]"])
    attempts: int = 1
    report: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def status(self) -> Status:
        """Status of its worst step."""
        statuses: list[Status] = [step.status for step in self.steps]
        return max(statuses, key=_BY_WEIGHT.index) if statuses else "interrupted"

    @property
    def seconds(self) -> float:
        """How long it took."""
        return sum(step.seconds for step in self.steps)

    @property
    def message(self) -> str:
        """Why it is not done; empty if it is."""
        worst = next((step for step in self.steps if step.status == self.status and step.message), None)
        return "" if worst is None else f"{worst.step}: {worst.message}"

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        told = {**vars(self), "steps": [{**vars(step)} for step in self.steps]}
        return {**told, "status": self.status, "seconds": self.seconds, "message": self.message}

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Outcome:
        """Returns what ``to_json`` was of.

        Raises:
            KeyError: It was of something else; TypeError and ValueError likewise.
        """
        steps = tuple(StepOutcome(**step) for step in told["steps"])
        files = {str(name): (str(digest), int(size)) for name, (digest, size) in told["files"].items()}
        if not all(step.status in _BY_WEIGHT for step in steps):
            raise ValueError("a status is unknown")
        return cls(str(told["name"]), str(told["path"]), steps, files, int(told["attempts"]), dict(told["report"]))

    def again(self) -> Outcome:
        """Returns the outcome of a batch in which an earlier one had done it."""
        return replace(self, attempts=0)


@dataclass(frozen=True)
class BatchResult(Shown):
    """Outcome of a batch.

    Attributes:
        output: The folder, or URL, of the files.
        outcomes: The outcome of each model, in their order.
        seconds: How long the batch took.
    """

    output: str
    outcomes: tuple[Outcome, ...]
    seconds: float = 0.0

    _sections_by = "litefuse.tools.batch_runs.batch_sections:batch_sections"

    @property
    def ok(self) -> bool:
        """Whether all is done, and what was compared is equal."""
        return all(outcome.status == "done" for outcome in self.outcomes)

    @property
    def counts(self) -> dict[str, int]:
        """How many models there are of each status."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        return {status: counts[status] for status in _BY_WEIGHT if counts[status]}

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        models = [outcome.to_json() for outcome in self.outcomes]
        return {"ok": self.ok, "output": self.output, "counts": self.counts, "seconds": self.seconds, "models": models}
