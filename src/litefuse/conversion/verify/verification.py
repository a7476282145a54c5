"""The result of a verification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from litefuse.conversion.verify.coverage import Coverage
from litefuse.conversion.verify.differing import DifferingCall
from litefuse.conversion.verify.layers.layers import Layers
from litefuse.support.report.json_form import json_form

__all__ = ["MARGIN", "OutputVerdict", "Verdict", "Verification", "worst_verdict"]

Verdict: TypeAlias = Literal["equal", "differs", "inconclusive"]
"""The verdict of a comparison; inconclusive if the compared outputs could not have differed."""


MARGIN = 3.0
"""An output of a quantized model is equal up to so many times the error that its quantization explains."""


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the verdict on a whole, from those on its parts: that on the worst."""
    found = {*verdicts}
    return "differs" if "differs" in found else "inconclusive" if "inconclusive" in found else "equal"


@dataclass(frozen=True)
class OutputVerdict:
    """One output of a signature, in all calls.

    Attributes:
        signature: The signature's key.
        name: The output's name.
        dtype: Its dtype.
        shape: Its shape in the call that differs most.
        error: The largest difference of a call: relative to the largest expected value; of integers, booleans and
            strings, the share that differs; infinite if there is nothing to compare.
        call: The number of that call, from 1; 0 if no call has the output.
        problem: What else is wrong, or why the verdict is inconclusive; may be empty.
        verdict: The verdict of the comparison.
        moved: In how many calls the output differed from the previous call with the same shapes, by more than the
            allowed error.
        comparable: How many calls had such a previous one, with other inputs.
        explained: The error that the rounding of a quantized model explains, in the call that differs most: the largest
            of several runs with other roundings. None if that is not what it is judged by, or not known.
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
    explained: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the verdict is that it is equal."""
        return self.verdict == "equal"

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for ``json.dumps``; NaN and infinities are None."""
        return {**json_form(self), "ok": self.ok}


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    Attributes:
        model: The LiteRT model.
        original: What it was compared with.
        tolerance: The allowed error; of a quantized model, if no other was asked for, that beyond which it is judged by
            what its quantization explains.
        calls: How often the signatures were called.
        outputs: The verdict on each output.
        coverage: How many rows of tables, and words, were reached by inputs drawn from the model.
        limit: The exclusive upper bound of integers, if the model or the original takes nothing else; None if they were
            drawn as the model's graph says, or given.
        layers: The comparison of tensors inside the model, in one call; None if there was none.
        differing: The call in which an output differs most, with its arrays; None if none differs. It is not in JSON.
    """

    model: str
    original: str
    tolerance: float
    calls: int
    outputs: tuple[OutputVerdict, ...]
    coverage: tuple[Coverage, ...] = ()
    limit: int | None = None
    layers: Layers | None = None
    differing: DifferingCall | None = field(default=None, compare=False, repr=False)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole: that on the worst output."""
        return worst_verdict(output.verdict for output in self.outputs)

    @property
    def ok(self) -> bool:
        """Whether all outputs are equal within the tolerance; an inconclusive comparison is not."""
        return self.verdict == "equal"

    @property
    def error(self) -> float:
        """The largest error of an output; 0 without outputs."""
        return max((output.error for output in self.outputs), default=0.0)

    def accepts(self, output: OutputVerdict) -> bool:
        """Whether the error of an output is within the tolerance, or what quantization explains; NaN is not."""
        return output.error <= max(self.tolerance, MARGIN * (output.explained or 0.0))

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        return {
            "model": self.model,
            "original": self.original,
            "tolerance": self.tolerance,
            "calls": self.calls,
            "verdict": self.verdict,
            "ok": self.ok,
            "error": json_form(self.error),
            "outputs": [output.to_json() for output in self.outputs],
            "coverage": json_form(self.coverage),
            "limit": self.limit,
            **({} if self.layers is None else {"layers": self.layers.to_json()}),
        }

    def __str__(self) -> str:
        from litefuse.conversion.verify.sections import verification_sections
        from litefuse.support.report.text import sections_text

        return sections_text(verification_sections(self))

    def _repr_html_(self) -> str:
        from litefuse.conversion.verify.sections import verification_sections
        from litefuse.support.report.html import sections_html

        return sections_html(verification_sections(self))
