"""A verification as sections of a report."""

from __future__ import annotations

from litefuse.report.sections import Section, count_of, shape_text
from litefuse.verify.verification import OutputVerdict, Verification

__all__ = ["verification_sections"]

_HEADINGS = ("signature", "output", "dtype", "shape", "error", "call", "")


def verification_sections(verification: Verification) -> list[Section]:
    """The sections of a verification: each output with its error, and whether all are within the tolerance."""
    good = [verification.accepts(each) for each in verification.outputs]
    differ = good.count(False)
    note = f"The error of each output is at most {verification.tolerance:g}."
    if differ:
        note = f"{count_of(differ, 'output')} of {len(good)} differ by more than {verification.tolerance:g}."
    return [
        Section(
            verification.model,
            [("compared with", verification.original), ("calls", str(verification.calls))],
        ),
        Section(
            "Outputs",
            [_row(each) for each in verification.outputs],
            headings=_HEADINGS,
            right=frozenset({4, 5}),
            judgements=["good" if each else "bad" for each in good],
            note=note,
        ),
    ]


def _row(output: OutputVerdict) -> tuple[str, ...]:
    error = "" if output.error == float("inf") else f"{output.error:.2g}"
    return (
        output.signature,
        output.name,
        output.dtype,
        shape_text(output.shape),
        error,
        str(output.call or ""),
        output.problem,
    )
