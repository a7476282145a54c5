"""Warnings to read before a model is used: what was not fused, what it requires, what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from litefuse.support.report import Report
from litefuse.support.report.sections import Judgement, listed

if TYPE_CHECKING:
    from litefuse.support.report.quantized import QuantizationReport

# The difference from quantization above which the report warns.
_FAR = 0.1

# A larger file has its weights behind the flatbuffer.
_LARGEST_FLATBUFFER = 2**31 - 1

# A report is read by people: more than this many similar rows are summarized by their number.
_LISTED = 5

# Keras 2 names the composite of each layer anew.
_UUID = re.compile(r"(?<=_)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# The names of Keras, and of the layers of TensorFlow 1.
_STATISTICS = ("moving_mean", "moving_variance")
_TRAINING = (
    "Each call updates batch-normalization statistics, as in training. If this is not intended, export the model with "
    "training=False."
)


class Caveat(NamedTuple):
    """Something that users have to know before they use a model.

    Attributes:
        name: What it is about.
        text: The text.
        judgement: How bad it is.
    """

    name: str
    text: str
    judgement: Judgement = "warn"


def caveats(report: Report, *, details: bool = False) -> list[Caveat]:
    """Returns what users have to know, the worst first.

    Args:
        report: The report.
        details: Whether to tell all of it; otherwise similar things are counted.
    """
    return sorted(_caveats(report, details=details), key=lambda caveat: caveat.judgement != "bad")


def _caveats(report: Report, *, details: bool) -> Iterator[Caveat]:
    yield from _targets(report, _LISTED if details else 1)
    if report.quantization is not None:
        yield from _quantization(report.quantization)
    if report.size > _LARGEST_FLATBUFFER:
        yield Caveat(
            "weights",
            "They follow the flatbuffer, because the file exceeds 2 GB. LiteRT and TensorFlow Lite support that; "
            "OpenVINO, TVM and tflite-micro do not.",
        )
    yield from _not_fused(report, _LISTED if details else 2)
    yield from _kernels(report)
    for signature in report.left_out:
        if not signature.usable:
            yield Caveat("left out", f"{signature.signature}: {signature.reason}")
    yield from _training(report)
    if _has_unused_ranges(report):
        yield Caveat("ranges", 'It has ranges from training: quantize="qat" (--quantize qat) makes integers of it.')
    yield from _needless(report)


def without_uuids(text: str) -> str:
    """Replaces the UUIDs in Keras 2's names by ``*``, which makes them patterns of composites' names."""
    return _UUID.sub("*", text)


def quantization_is_far(quantization: QuantizationReport) -> bool:
    """Whether quantization changed the outputs by more than is usual."""
    return quantization.error is not None and not quantization.error <= _FAR


def _targets(report: Report, most: int) -> Iterator[Caveat]:
    for check in report.target_checks:
        if check.refused:
            more = len(check.refused) - most
            texts = [*check.refused[:most], *([f"and {more} more: litefuse check lists them"] if more > 0 else [])]
            judgement: Judgement = "warn" if check.verdict == "partly" else "bad"
            yield Caveat(f"{check.target} refuses", "\n".join(texts) if most > 1 else ", ".join(texts), judgement)


def _quantization(quantization: QuantizationReport) -> Iterator[Caveat]:
    if quantization_is_far(quantization):
        yield Caveat(
            "outputs", f"far from those before quantization: they differ by up to {quantization.error:.1g}", "bad"
        )
    if quantization.moving:
        count = "a range" if len(quantization.moving) == 1 else f"{len(quantization.moving):,} ranges"
        yield Caveat("samples", f"{quantization.samples:,} are too few: {count} still grew in the last quarter of them")


def _not_fused(report: Report, most: int) -> Iterator[Caveat]:
    reasons = Counter(
        (without_uuids(composite.name), without_uuids(composite.reason or ""))
        for composite in report.composites
        if composite.outcome != "fused" and not composite.better_inlined
    )
    for (name, reason), number in reasons.most_common(most):
        yield Caveat("not fused", f"{name if number == 1 else f'{number:,} x {name}'}: {reason}")
    if len(reasons) > most:
        yield Caveat("not fused", f"and {len(reasons) - most:,} more")


def _kernels(report: Report) -> Iterator[Caveat]:
    """Says for all custom ops that LiteRT does not run who has the kernels."""
    names: dict[str, list[str]] = {}
    for name in report.custom_ops:
        names.setdefault(_owner(report, name), []).append(name)
    if names:
        text = "; ".join(f"{listed(ops)} ({owner})" for owner, ops in names.items())
        yield Caveat("needs kernels", text)


def ops_without_kernels(report: Report) -> list[str]:
    """Returns the custom ops for which neither litefuse nor an installed package has a kernel."""
    return [name for name in report.custom_ops if name not in {*report.package_kernels, *report.pack_kernels}]


def _owner(report: Report, name: str) -> str:
    if name in report.package_kernels:
        return f"{report.package_kernels[name]} has them"
    if name in ops_without_kernels(report):
        return "yours: LiteRT has none"
    return "in litefuse's pack" + (", in Python only" if name in report.python_kernels else "")


def _training(report: Report) -> Iterator[Caveat]:
    mutable = [variable for variable in report.variables if variable.verdict == "mutable"]
    if any(variable.name.rpartition("/")[2] in _STATISTICS for variable in mutable):
        yield Caveat("training", _TRAINING)


def _has_unused_ranges(report: Report) -> bool:
    """Whether fake quantization stayed: in floating point, or as integers between which ops compute in it."""
    if report.quantization is not None and report.quantization.form == "qat":
        return False
    pairs = report.quantization is None and {"QUANTIZE", "DEQUANTIZE"} <= report.op_counts.keys()
    return pairs or any(lacking.op.startswith("FakeQuant") for lacking in report.lacking_ops)


def _needless(report: Report) -> Iterator[Caveat]:
    if report.needless_custom_ops:
        why = "a composite holds it, or it runs functions, or works on variables, tables or lists, or is a constant"
        names = ", ".join(report.needless_custom_ops)
        yield Caveat("no effect", f"{names}: requested as custom ops, but the output has no such op: {why}")
