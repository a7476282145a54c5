"""The result of a verification, as data and as sections of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.layers.layers import Layers, layer_sections
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.litert.results.difference import kind_of
from litefuse.support.report.json_form import json_form
from litefuse.support.report.sections import VERDICTS, Judgement, Section, count_of, shape_text
from litefuse.support.report.shown import Shown


@dataclass(frozen=True)
class Coverage:
    """How many rows of a table, words of a vocabulary, or branches the calls reached.

    Attributes:
        signature: The signature's key.
        name: The name of the table, or of the condition, in the model.
        reached: The number that was reached.
        size: The number that there are.
        sampled: Whether there are so many that only the ends and a sample are picked.
        kind: What is counted; words count as rows.
    """

    signature: str
    name: str
    reached: int
    size: int
    sampled: bool
    kind: Literal["rows", "branches"] = "rows"

    @property
    def complete(self) -> bool:
        """Whether everything was reached that should have been."""
        return self.sampled or self.reached >= self.size

    def __str__(self) -> str:
        return f"{self.reached:,} of {self.size:,}" + (", a sample" if self.sampled else "")


Verdict: TypeAlias = Literal["equal", "differs", "inconclusive"]
"""The verdict of a comparison; inconclusive if the compared outputs could not have differed."""


MARGIN = 3.0
"""An output of a quantized model is equal up to so many times the error that its quantization explains."""


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the verdict on a whole, from those on its parts: that on the worst."""
    distinct = {*verdicts}
    return "differs" if "differs" in distinct else "inconclusive" if "inconclusive" in distinct else "equal"


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
class Verification(Shown):
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
        samples: The kind of the samples that were given; empty without.
        layers: The comparison of tensors inside the model, in one call; None if there was none.
        differing: The call in which an output differs most, with its arrays; None if none differs. It is not in JSON.
    """

    _sections_by = "litefuse.conversion.verify.verification:verification_sections"

    model: str
    original: str
    tolerance: float
    calls: int
    outputs: tuple[OutputVerdict, ...]
    coverage: tuple[Coverage, ...] = ()
    limit: int | None = None
    samples: str = ""
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

    def __bool__(self) -> bool:
        return self.ok

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
            "samples": self.samples,
            **({} if self.layers is None else {"layers": self.layers.to_json()}),
        }


@dataclass(frozen=True)
class DifferingCall:
    """A call of both models, and what they gave.

    Attributes:
        number: Its number, from 1.
        output: The output that differs most.
        inputs: The inputs.
        found: The model's outputs.
        expected: The original's outputs.
    """

    number: int
    output: str
    inputs: Arrays
    found: Arrays
    expected: Arrays

    def __str__(self) -> str:
        """Says which call and element differ, both values, and the dtypes and shapes of the inputs."""
        given = ", ".join(f"{name} {value.dtype}{list(value.shape)}" for name, value in self.inputs.items())
        found, expected = self.found[self.output], self.expected[self.output]
        what = f"{self.output} of {found.dtype}{list(found.shape)}, not {expected.dtype}{list(expected.shape)}"
        if found.shape == expected.shape and found.size:
            place = tuple(map(int, np.unravel_index(np.argmax(_distances(found, expected)), found.shape)))
            what = f"{self.output}{list(place)} is {found[place]}, not {expected[place]}"
        return f"call {self.number}: {what}" + (f", of {given}" if given else "")


def differing_call(
    outputs: Sequence[OutputVerdict], calls: Sequence[Call], found: Sequence[Arrays], expected: Sequence[Arrays]
) -> DifferingCall | None:
    """Returns the call in which the output that differs most does so; None if no output differs that both have."""
    differs = [output for output in outputs if output.verdict == "differs" and output.call]
    if not differs:
        return None
    worst = max(differs, key=lambda differ: differ.error)
    number = worst.call - 1
    return DifferingCall(worst.call, worst.name, calls[number].inputs, found[number], expected[number])


def _distances(found: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Returns how far each element is from the expected one: 0 where both are NaN, infinite where one of them is."""
    if kind_of(expected.dtype) != "numbers":
        return np.asarray(found != expected)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = found.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.nan_to_num(np.abs(one - other), nan=np.inf, posinf=np.inf)
    return np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, distances)


_HEADINGS = ("signature", "output", "dtype", "shape", "error", "call", "", "")


def verification_sections(verification: Verification) -> list[Section]:
    """Returns the sections of a verification: the verdict on all, and each output with its error."""
    outputs = verification.outputs
    differ = [output.verdict for output in outputs].count("differs")
    unclear = [output.verdict for output in outputs].count("inconclusive")
    allowed = _allowed(verification)
    note = f"Equal: the error of each output is at most {allowed}."
    if differ:
        note = f"{count_of(differ, 'output')} of {len(outputs)} differ by more than {allowed}."
    elif unclear:
        note = (
            f"Inconclusive: {count_of(unclear, 'output')} of {len(outputs)} could not be judged. "
            "Give inputs that move them (--inputs, --samples)."
        )
    return [
        _answer(verification),
        *_coverage_sections(verification.coverage),
        Section(
            "Outputs",
            [_row(output) for output in outputs],
            headings=_HEADINGS,
            right=frozenset({4, 5}),
            judgements=[VERDICTS[output.verdict] for output in outputs],
            note=note,
        ),
        *([] if verification.layers is None else layer_sections(verification.layers, verification.tolerance)),
    ]


_TITLES: Mapping[Verdict, str] = {"equal": "Equal", "differs": "Different", "inconclusive": "Inconclusive"}


def _answer(verification: Verification) -> Section:
    outputs = verification.outputs
    verdict = worst_verdict(output.verdict for output in outputs)
    equal = [output.verdict for output in outputs].count("equal")
    facts = [("equal", f"{equal:,} of {count_of(len(outputs), 'output')}, within {_allowed(verification)}")]
    judgements: list[Judgement] = [VERDICTS[verdict]]
    if worst := max(
        (output for output in outputs if isfinite(output.error)), key=lambda output: output.error, default=None
    ):
        at = f", of {worst.name} in call {worst.call}" if worst.call and worst.error else ""
        told = "" if worst.explained is None else f"; quantization explains {worst.explained:.2g}"
        facts.append(("largest error", f"{worst.error:.2g}{at}{told}"))
    of = f", of {verification.samples}" if verification.samples not in {"", "samples"} else ""
    facts.append(("calls", f"{verification.calls}{of}"))
    if verification.limit is not None:
        facts.append(("inputs", f"only integers below {verification.limit}, because others are refused"))
    both = f"{verification.model} and {verification.original}"
    return Section(f"{_TITLES[verdict]}: {both}", facts, judgements=judgements, judgement=VERDICTS[verdict])


def _allowed(verification: Verification) -> str:
    if all(output.explained is None for output in verification.outputs):
        return f"{verification.tolerance:g}"
    return f"{MARGIN:g} times what quantization explains"


def _coverage_sections(coverage: Sequence[Coverage]) -> Iterator[Section]:
    for kind in ("rows", "branches"):
        if counts := [count for count in coverage if count.kind == kind]:
            yield Section(
                f"{kind.capitalize()} covered",
                [(count.signature, count.name, str(count)) for count in counts],
                judgements=["good" if count.complete else "unclear" for count in counts],
            )


def _row(output: OutputVerdict) -> tuple[str, ...]:
    error = "" if output.error == float("inf") else f"{output.error:.2g}"
    if output.explained is not None:
        error += f" ({output.explained:.2g} explained)"
    moved = f"moved in {output.moved} of {count_of(output.comparable, 'call')}" if output.comparable else ""
    return (
        output.signature,
        output.name,
        output.dtype,
        shape_text(output.shape),
        error,
        str(output.call or ""),
        moved,
        output.verdict + (f": {output.problem}" if output.problem else ""),
    )
