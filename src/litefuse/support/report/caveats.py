"""Warnings to read before a model is used: what was not fused, what it requires, what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from litefuse.support.report import Report
from litefuse.support.report.sections import Column, Judgement, Section, listed, table, worst_of

if TYPE_CHECKING:
    from litefuse.support.report.quantized import QuantizationReport

# The difference from quantization above which the report warns.
_FAR = 0.1

# A larger file has its weights behind the flatbuffer.
_LARGEST_FLATBUFFER = 2**31 - 1

# A report is read by people: more than this many similar rows are summarized by their number.
_LISTED = 5

# The names of Keras, and of the layers of TensorFlow 1.
_STATISTICS = ("moving_mean", "moving_variance")
_TRAINING = (
    "Each call updates batch-normalization statistics, as in training. If this is not intended, export the model with "
    "training=False."
)


class _Caveat(NamedTuple):
    name: str
    text: str
    judgement: Judgement = "warn"


def caveat_section(report: Report) -> Section | None:
    """Returns the section of what users have to know, the worst first; None if there is nothing."""
    caveats = sorted(_caveats(report), key=lambda caveat: caveat.judgement != "bad")
    if not caveats:
        return None
    return table(
        "Please note",
        caveats,
        [Column("", lambda caveat: caveat.name), Column("", lambda caveat: caveat.text)],
        judge=lambda caveat: caveat.judgement,
        judgement=worst_of(caveat.judgement for caveat in caveats),
    )


def _caveats(report: Report) -> Iterator[_Caveat]:
    yield from _targets(report)
    if report.quantization is not None:
        yield from _quantization(report.quantization)
    if report.size > _LARGEST_FLATBUFFER:
        yield _Caveat(
            "weights",
            "They follow the flatbuffer, because the file exceeds 2 GB. LiteRT and TensorFlow Lite support that; "
            "OpenVINO, TVM and tflite-micro do not.",
        )
    yield from _not_fused(report)
    yield from _kernels(report)
    for signature in report.left_out:
        if not signature.usable:
            yield _Caveat("left out", f"{signature.signature}: {signature.reason}")
    yield from _training(report)
    yield from _needless(report)


def quantization_is_far(quantization: QuantizationReport) -> bool:
    """Whether quantization changed the outputs by more than is usual."""
    return quantization.error is not None and not quantization.error <= _FAR


def _targets(report: Report) -> Iterator[_Caveat]:
    for check in report.target_checks:
        if check.refused:
            name = f"{check.target} refuses"
            more = len(check.refused) - _LISTED
            texts = [*check.refused[:_LISTED], *([f"and {more} more: litefuse check lists them"] if more > 0 else [])]
            yield _Caveat(name, "\n".join(texts), "warn" if check.verdict == "partly" else "bad")


def _quantization(quantization: QuantizationReport) -> Iterator[_Caveat]:
    if quantization_is_far(quantization):
        yield _Caveat(
            "outputs", f"far from those before quantization: they differ by up to {quantization.error:.1g}", "bad"
        )
    if quantization.moving:
        count = "a range" if len(quantization.moving) == 1 else f"{len(quantization.moving):,} ranges"
        yield _Caveat(
            "samples", f"{quantization.samples:,} are too few: {count} still grew in the last quarter of them"
        )


def _not_fused(report: Report) -> Iterator[_Caveat]:
    reasons = Counter(
        (composite.name, composite.reason or "") for composite in report.composites if composite.outcome != "fused"
    )
    for (name, reason), number in reasons.most_common(_LISTED):
        yield _Caveat("not fused", f"{name if number == 1 else f'{number:,} x {name}'}: {reason}")
    if len(reasons) > _LISTED:
        yield _Caveat("not fused", f"and {len(reasons) - _LISTED:,} more, listed below")


def _kernels(report: Report) -> Iterator[_Caveat]:
    foreign = [name for name in report.custom_ops if name not in {*report.pack_kernels, *report.package_kernels}]
    if foreign:
        yield _Caveat("needs kernels", f"{listed(foreign)}: LiteRT has none for these custom ops")
    if report.pack_kernels:
        python = [name for name in report.pack_kernels if name in report.python_kernels]
        alone = f", in Python only those for {listed(python)}" if python else ""
        yield _Caveat("needs kernels", f"{listed(report.pack_kernels)}: litefuse's pack has them{alone}")


def _training(report: Report) -> Iterator[_Caveat]:
    mutable = [variable for variable in report.variables if variable.verdict == "mutable"]
    if any(variable.name.rpartition("/")[2] in _STATISTICS for variable in mutable):
        yield _Caveat("training", _TRAINING)


def _needless(report: Report) -> Iterator[_Caveat]:
    if report.needless_custom_ops:
        why = "a composite holds it, or it runs functions, or works on variables, tables or lists, or is a constant"
        names = ", ".join(report.needless_custom_ops)
        yield _Caveat("no effect", f"{names}: requested as custom ops, but the output has no such op: {why}")
