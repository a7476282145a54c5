"""The sections of a conversion's report; ``text``, ``console`` and ``html`` format them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

from litefuse.support.report import CompositeReport, Report, VariableReport
from litefuse.support.report.answer import answer_section, fused_of
from litefuse.support.report.caveats import without_uuids
from litefuse.support.report.sections import Column, Judgement, Section, count_of, op_section, shape_text, table

if TYPE_CHECKING:
    from litefuse.support.report.entries import (
        ChainReport,
        LackingOpReport,
        LoopReport,
        RecognizerReport,
        RetypedReport,
    )

# A report is read by people: more than this many similar rows are summarized by their number.
_LISTED = 5


def report_sections(
    report: Report,
    *,
    details: bool = False,
    timings: bool = False,
    written: str = "",
    original: str = "",
    kernels: str = "",
    plug_ins: Sequence[str] = (),
    samples: Sequence[str] = (),
) -> list[Section]:
    """Returns the sections of a conversion's report: the answer with what users have to know, and the details.

    Args:
        report: The report.
        details: Whether to give the details.
        timings: Whether to list the time of every step.
        written: The file that the model was written to; empty if it is not written yet.
        original: The model that was converted, as the user named it.
        kernels: The folder that generated kernels were written to; empty if there are none.
        plug_ins: The code that the user named.
        samples: The options that name the samples.
    """
    named = (written, original, kernels, plug_ins, samples)
    sections = [answer_section(report, *named, details=details)]
    if details:
        sections += _details(report)
    if timings:
        rows = [(step, f"{time * 1000:,.1f}") for step, time in report.timings.items()]
        sections.append(Section("Time by step", rows, headings=("step", "ms"), right=frozenset({1})))
    return sections


def _details(report: Report) -> list[Section]:
    sections = [
        *([_composite_section(report.composites)] if report.composites else []),
        *([_chain_section(report.chains)] if report.chains is not None else []),
        *([_loop_section(report.loops)] if report.loops else []),
        *_recognizer_sections(report.recognizers),
        *([_layer_section(report)] if report.layers or report.near_layers else []),
        *([_renamed_section(report)] if report.renamed else []),
        *([_variable_section(report.variables)] if report.variables else []),
        *([_retyped_section("narrowed", report.narrowed)] if report.narrowed else []),
        *([_retyped_section("widened", report.widened)] if report.widened else []),
        *_quantization_sections(report),
        *_target_sections(report),
        _op_section(report),
    ]
    if report.lacking_ops:
        sections.append(_lacking_section(report.lacking_ops))
    return sections


def _op_section(report: Report) -> Section:
    """Counts the ops, and explains those that no model asks for."""
    notes = [f"LiteRT has the kernels of the custom ops {', '.join(report.runtime_ops)}."] if report.runtime_ops else []
    if report.copies:
        notes.append(
            f"{report.copies:,} of the MAXIMUM copy a value, which they take twice: LiteRT would read it from memory "
            "that was moved or reused."
        )
    return replace(op_section(report.op_counts, "Ops"), note="\n".join(notes))


def _renamed_section(report: Report) -> Section:
    several = len(report.signatures) > 1
    rows = [
        (f"{f'{name.signature}: ' if several else ''}{name.role[:-1]}", name.original, f"is {name.name}")
        for name in report.renamed
    ]
    return Section("Renamed", rows)


def _target_sections(report: Report) -> Iterator[Section]:
    """Yields what the software of targets says, beyond the verdict and the refused ops."""
    for check in report.target_checks:
        if check.facts:
            yield Section(f"Target {check.target}", check.facts)


def _quantization_sections(report: Report) -> list[Section]:
    if report.quantization is None:
        return []
    from litefuse.support.report.quantized_sections import quantization_sections  # few models are quantized

    return quantization_sections(report.quantization, alone=False)


def _outcome(composite: CompositeReport) -> str:
    if composite.outcome != "fused":
        return f"{'by choice' if composite.better_inlined else 'not fused'}: {without_uuids(composite.reason or '')}"
    return f"fused into {composite.fused_into}, {composite.compared}"


_LACKING_OUTCOMES = {
    "rewritten": "rewritten into builtin ops",
    "composite": "composite: runs anywhere, faster with litefuse's kernel",
    "narrowed": "rewritten into builtin ops, its int64 computed in int32",
    "widened": "rewritten into builtin ops of float32, between casts",
    "runtime": "custom op: LiteRT has the kernel",
    "pack": "custom op: needs the kernel of litefuse's pack",
    "custom": "custom op: needs a kernel of yours",
}


def _lacking_section(ops: Sequence[LackingOpReport]) -> Section:
    widened = any(op.outcome == "widened" for op in ops)
    return table(
        f"TensorFlow ops that LiteRT lacks: {sum(op.count for op in ops):,}",
        ops,
        [
            Column("", lambda op: op.op),
            Column("", lambda op: f"{op.count:,}", right=True),
            Column("", _lacking_outcome),
        ],
        judge=lambda op: "warn" if op.outcome in {"pack", "custom"} else "good",
        note="With --dtypes widen, float16 and bfloat16 become float32 throughout, without these casts."
        if widened
        else "",
    )


def _lacking_outcome(op: LackingOpReport) -> str:
    reason = f" (not rewritten: {op.reason})" if op.reason else ""
    return _LACKING_OUTCOMES[op.outcome] + reason


def section_of_composite(composite: CompositeReport) -> Section:
    """Returns the section of one composite."""
    return _composite_section([composite])


def _composite_section(composites: Sequence[CompositeReport]) -> Section:
    """Lists those that are alike together, and those that are not fused first."""
    fused, whole = fused_of(composites)
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    for group in _alike(composites):
        first = group[0]
        outcome = _outcome(max(group, key=lambda composite: composite.error or 0.0))
        judgement: Judgement = None if first.better_inlined else "good" if first.outcome == "fused" else "warn"
        listed = group if len(group) <= _LISTED + 1 else group[:_LISTED]
        rows += [
            (without_uuids(composite.name), composite.function, f"{composite.call_sites:,}", outcome)
            for composite in listed
        ]
        if len(listed) < len(group):
            others = group[len(listed) :]
            calls = sum(other.call_sites for other in others)
            rows.append((without_uuids(first.name), f"and {len(others):,} more functions", f"{calls:,}", outcome))
        judgements.extend(repeat(judgement, len(rows) - len(judgements)))
    return Section(
        f"Composites: {fused:,} of {whole:,} fused",
        rows,
        headings=("name", "function", "calls", "outcome"),
        right=frozenset({2}),
        judgements=judgements,
    )


def _chain_section(chains: Sequence[ChainReport]) -> Section:
    if not chains:
        return Section("Chains of ops: none that a kernel can be generated for")
    return table(
        f"Chains of ops: {sum(chain.kernel is not None for chain in chains):,} of {len(chains):,} with a kernel",
        sorted(chains, key=lambda chain: chain.kernel is None),
        [
            Column("name", lambda chain: chain.name),
            Column("chain", lambda chain: f"{chain.ops:,} ops, {chain.first} to {chain.last} ({chain.layer})"),
            Column("times", lambda chain: f"{chain.count:,}", right=True),
            Column(
                "outcome",
                lambda chain: f"generated kernel: {chain.kernel}" if chain.kernel else f"unchanged: {chain.reason}",
            ),
        ],
        judge=lambda chain: None if chain.kernel is None else "good",
    )


def _loop_section(loops: Sequence[LoopReport]) -> Section:
    rows: list[tuple[str, ...]] = []
    for reason in dict.fromkeys(loop.reason for loop in loops):
        alike = [loop.layer for loop in loops if loop.reason == reason]
        listed = alike if len(alike) <= _LISTED + 1 else alike[:_LISTED]
        rows += [(layer, reason) for layer in listed]
        if len(listed) < len(alike):
            rows.append((f"and {len(alike) - len(listed):,} more", reason))
    return Section(f"Loops: {len(loops):,}", rows)


def _recognizer_sections(recognizers: Sequence[RecognizerReport]) -> Iterator[Section]:
    """Yields the recognizers that found something, or nearly: most models have nothing for most of them."""
    rows = [
        (one.name, f"found {count_of(one.found, 'time')}" if one.found else f"not found; closest: {one.closest}")
        for one in recognizers
        if one.found or one.closest
    ]
    if rows:
        yield Section(f"Recognizers: {len(rows):,}", rows)


def _layer_section(report: Report) -> Section:
    """Counts the layers of each kind, and lists what is nearly one."""
    counts = Counter((layer.kind, layer.name, layer.became) for layer in report.layers)
    rows = [(kind, f"{count:,}", name, became) for (kind, name, became), count in counts.items()]
    near = [f"{layer.layer} is not a {layer.kind}: {layer.reason}" for layer in report.near_layers]
    more = f"; and {len(near) - _LISTED:,} more like it" if len(near) > _LISTED else ""
    return Section(
        f"Layers known by name: {len(report.layers):,}",
        rows,
        headings=("layer", "times", "name", "became") if rows else (),
        right=frozenset({1}),
        note="\n".join(near[:_LISTED]) + more,
    )


def _alike(composites: Iterable[CompositeReport]) -> list[list[CompositeReport]]:
    """Groups composites by name and outcome; those that were not fused come first."""
    groups: dict[tuple[object, ...], list[CompositeReport]] = {}
    for composite in composites:
        # Checked and unchecked composites must not be grouped.
        key = (
            without_uuids(composite.name),
            composite.outcome,
            composite.fused_into,
            without_uuids(composite.reason or ""),
            composite.error is None,
            composite.unchecked,
            composite.note,
            composite.kernel,
        )
        groups.setdefault(key, []).append(composite)
    return sorted(groups.values(), key=lambda group: (group[0].outcome == "fused", group[0].name))


def _retyped_section(how: str, retyped: Sequence[RetypedReport]) -> Section:
    """Lists inputs and outputs by name, since callers need to know; counts the others."""
    rows = [
        (value.what, value.name, f"{value.dtype}, now {value.new_dtype}")
        for value in retyped
        if value.what in {"input", "output"}
    ]
    counts = Counter[str]()
    for value in retyped:
        counts[value.what] += value.count
    rest = [count_of(counts[what], what) for what in ("variable", "table", "op") if counts[what]]
    note = f"Also {how}: {', '.join(rest)}." if rest else ""
    if counts["op"] and len(rest) == 1 and not rows:
        dtypes = next(f"{op.dtype}, computed in {op.new_dtype}" for op in retyped)
        note = f"Ops of {dtypes}: {', '.join(sorted({op.name for op in retyped}))}."
    return Section(how.capitalize(), rows, note=note)


def _variable_section(variables: Sequence[VariableReport]) -> Section:
    counts = Counter(variable.verdict for variable in variables)
    return table(
        f"Variables: {counts['frozen']:,} frozen, {counts['mutable']:,} mutable",
        [variable for variable in variables if variable.verdict == "mutable"],
        [
            Column("", lambda variable: variable.name),
            Column("", lambda variable: f"{variable.dtype} {shape_text(variable.shape)}"),
            Column("", lambda variable: f"written by {variable.writer}"),
        ],
    )
