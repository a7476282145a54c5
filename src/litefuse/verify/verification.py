"""What a verification found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["OutputVerdict", "Verification"]


@dataclass(frozen=True)
class OutputVerdict:
    """One output of a signature, in all calls.

    Attributes:
        signature: The signature's key.
        name: The output's name.
        dtype: Its dtype.
        shape: Its shape in the call that differs most.
        error: The largest difference of a call: relative to the largest value that is expected; of integers, truth
            values and strings, the share of those that differ; infinite if there is nothing to compare.
        call: The number of that call, from 1; 0 if no call has the output.
        problem: What is wrong besides; may be empty.
    """

    signature: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float
    call: int
    problem: str = ""


@dataclass(frozen=True)
class Verification:
    """What a verification found.

    Attributes:
        model: The LiteRT model.
        original: What it was compared with.
        tolerance: The error that is allowed.
        calls: How often the signatures were called.
        outputs: The verdict on each output.
    """

    model: str
    original: str
    tolerance: float
    calls: int
    outputs: tuple[OutputVerdict, ...]

    @property
    def ok(self) -> bool:
        """Whether the error of every output is within the tolerance."""
        return all(self.accepts(each) for each in self.outputs)

    @property
    def error(self) -> float:
        """The largest error of an output; 0 without outputs."""
        return max((each.error for each in self.outputs), default=0.0)

    def accepts(self, output: OutputVerdict) -> bool:
        """Whether the error of an output is within the tolerance; one that is no number is not."""
        return output.error <= self.tolerance

    def to_json(self) -> dict[str, Any]:
        """Dictionaries and lists for ``json.dumps``; an infinite error is None."""
        outputs: list[Mapping[str, Any]] = [
            {**asdict(each), "shape": list(each.shape), "error": _finite(each.error), "ok": self.accepts(each)}
            for each in self.outputs
        ]
        return {
            "model": self.model,
            "original": self.original,
            "tolerance": self.tolerance,
            "calls": self.calls,
            "ok": self.ok,
            "error": _finite(self.error),
            "outputs": outputs,
        }

    def __str__(self) -> str:
        from litefuse.report.text import sections_text
        from litefuse.verify.sections import verification_sections

        return sections_text(verification_sections(self))


def _finite(error: float) -> float | None:
    return error if error != float("inf") else None
