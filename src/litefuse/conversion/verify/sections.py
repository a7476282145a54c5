"""A verification as sections of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from litefuse.conversion.verify.coverage import Coverage
from litefuse.conversion.verify.layers.sections import layer_sections
from litefuse.conversion.verify.verification import MARGIN, OutputVerdict, Verdict, Verification, worst_verdict
from litefuse.support.report.sections import VERDICTS, Judgement, Section, count_of, shape_text

__all__ = ["verification_sections"]

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
            "Give inputs that move them (--inputs)."
        )
    return [
        _answer(verification),
        *(_coverage_section(kind, found) for kind in ("rows", "branches") if (found := _of_kind(verification, kind))),
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
    """Returns the section with the verdict on all."""
    outputs = verification.outputs
    verdict = worst_verdict(output.verdict for output in outputs)
    equal = [output.verdict for output in outputs].count("equal")
    facts = [("equal", f"{equal:,} of {count_of(len(outputs), 'output')}, within {_allowed(verification)}")]
    judgements: list[Judgement] = [VERDICTS[verdict]]
    if worst := max(
        (output for output in outputs if isfinite(output.error)), key=lambda each: each.error, default=None
    ):
        at = f", of {worst.name} in call {worst.call}" if worst.call and worst.error else ""
        told = "" if worst.explained is None else f"; quantization explains {worst.explained:.2g}"
        facts.append(("largest error", f"{worst.error:.2g}{at}{told}"))
    facts.append(("calls", str(verification.calls)))
    if verification.limit is not None:
        facts.append(("inputs", f"only integers below {verification.limit}, since others are refused"))
    both = f"{verification.model} and {verification.original}"
    return Section(f"{_TITLES[verdict]}: {both}", facts, judgements=judgements, judgement=VERDICTS[verdict])


def _allowed(verification: Verification) -> str:
    if all(output.explained is None for output in verification.outputs):
        return f"{verification.tolerance:g}"
    return f"{MARGIN:g} times what quantization explains"


def _of_kind(verification: Verification, kind: str) -> list[Coverage]:
    return [each for each in verification.coverage if each.kind == kind]


def _coverage_section(kind: str, coverage: Sequence[Coverage]) -> Section:
    return Section(
        f"{kind.capitalize()} covered",
        [(each.signature, each.name, str(each)) for each in coverage],
        judgements=["good" if each.complete else "unclear" for each in coverage],
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
