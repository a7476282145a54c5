"""A comparison of kernels as sections of a report."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from litefuse.conversion.verify.verification import Verdict
from litefuse.support.report.sections import VERDICTS, Judgement, Section
from litefuse.tools.kernel_check.check import CheckedCall, worst

_HEADINGS = ("op", "inputs", "compared with", "calls", "error", "")
_NUMBERS = frozenset({3, 4})


def check_sections(
    library: str, checked: Sequence[CheckedCall], tolerance: float, saved: Sequence[str] = ()
) -> list[Section]:
    """Returns the sections: each call with its error, and the verdict on all."""
    notes: Mapping[Verdict, str] = {
        "equal": f"Equal: the error of each result is at most {tolerance:g}.",
        "differs": f"A kernel crashes or misuses memory, or a result differs by more than {tolerance:g}.",
        "inconclusive": "Inconclusive: some results could not be judged.",
    }
    return [
        Section(
            f"The kernels of {library}",
            [_row(call) for call in checked],
            headings=_HEADINGS,
            right=_NUMBERS,
            judgements=[VERDICTS[call.verdict] for call in checked],
            note="\n".join((notes[worst(checked)], *(_again(path, library) for path in saved))),
        )
    ]


def _again(model: str, library: str) -> str:
    place = model.removesuffix(".tflite")
    model, inputs, expected, kernels = map(
        shlex.quote, (model, f"{place}.inputs.npz", f"{place}.expected.npz", library)
    )
    return f"Again: litefuse verify {model} --inputs {inputs} --expected {expected} --kernels {kernels}"


def call_section(checked: CheckedCall) -> Section:
    """Returns the section of one call with its error and verdict."""
    judgements: list[Judgement] = [VERDICTS[checked.verdict]]
    return Section("A kernel", [_row(checked)], headings=_HEADINGS, right=_NUMBERS, judgements=judgements)


def _row(checked: CheckedCall) -> tuple[str, ...]:
    inputs = ", ".join("absent" if input_ is None else str(input_) for input_ in checked.call.inputs)
    compared = checked.verification
    if compared is None:
        return checked.op, inputs, checked.original, "", "", f"{checked.verdict}: {checked.problem}"
    of_outputs = dict.fromkeys(output.problem for output in compared.outputs)
    problems = "; ".join(filter(None, (*of_outputs, checked.problem, checked.difference)))
    error = "" if compared.error == float("inf") else f"{compared.error:.2g}"
    verdict = checked.verdict + (f": {problems}" if problems else "")
    return checked.op, inputs, checked.original, str(compared.calls), error, verdict
