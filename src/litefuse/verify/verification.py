"""What a verification found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from litefuse.verify.coverage import Coverage

if TYPE_CHECKING:
    from litefuse.verify.layers.layers import Layers

__all__ = ["OutputVerdict", "Verdict", "Verification"]

Verdict: TypeAlias = Literal["equal", "differs", "inconclusive"]
"""What a comparison says: an inconclusive one says nothing, since what was compared could not have differed."""


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
        problem: What is wrong besides, or why the verdict is inconclusive; may be empty.
        verdict: What the comparison says.
        moved: In how many calls the output was another than in the call of the same shapes before, by more than the
            error that is allowed.
        comparable: How many calls had such a one before them, with other inputs.
    """

    signature: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float
    call: int
    problem: str = ""
    verdict: Verdict = "equal"
    moved: int = 0
    comparable: int = 0


@dataclass(frozen=True)
class Verification:
    """What a verification found.

    Attributes:
        model: The LiteRT model.
        original: What it was compared with.
        tolerance: The error that is allowed.
        calls: How often the signatures were called.
        outputs: The verdict on each output.
        coverage: How many rows of tables, and words, the inputs reached that were drawn from the model.
        limit: What integers were less than because the model, or the original, takes nothing else; None if they were
            drawn as the model's graph says, or given.
        layers: What is inside, of one call; None if nobody looked.
    """

    model: str
    original: str
    tolerance: float
    calls: int
    outputs: tuple[OutputVerdict, ...]
    coverage: tuple[Coverage, ...] = ()
    limit: int | None = None
    layers: Layers | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole: that on the worst output."""
        found = {each.verdict for each in self.outputs}
        return "differs" if "differs" in found else "inconclusive" if "inconclusive" in found else "equal"

    @property
    def ok(self) -> bool:
        """Whether all outputs are equal, as far as the tolerance goes; an inconclusive comparison is not."""
        return self.verdict == "equal"

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
            {**asdict(each), "shape": list(each.shape), "error": _finite(each.error), "ok": each.verdict == "equal"}
            for each in self.outputs
        ]
        return {
            "model": self.model,
            "original": self.original,
            "tolerance": self.tolerance,
            "calls": self.calls,
            "verdict": self.verdict,
            "ok": self.ok,
            "error": _finite(self.error),
            "outputs": outputs,
            "coverage": [asdict(each) for each in self.coverage],
            "limit": self.limit,
            **({} if self.layers is None else {"layers": self.layers.to_json()}),
        }

    def __str__(self) -> str:
        from litefuse.report.text import sections_text
        from litefuse.verify.sections import verification_sections

        return sections_text(verification_sections(self))


def _finite(error: float) -> float | None:
    return error if error != float("inf") else None
