"""A benchmark as sections of a report."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Judgement, Section, count_of, shape_text, time_text
from litefuse.tools.benchmarking.measurement import Benchmark, Latency, Measurement, OpTime, Partition, Ratio

_TOP = 10
# The most characters of a name; tables have to fit a terminal of 80 columns.
_NAME = 40
# Models that differ by less are as fast as each other.
_SAME = 0.03
_INPUTS = 4
_WIDTH = 76
# A smaller share of a call is not told.
_SHARE = 0.005


def benchmark_sections(benchmark: Benchmark, top: int | None = _TOP, *, details: bool = False) -> list[Section]:
    """Returns the sections of a benchmark: the answer, and one table of the slowest ops, or of several models.

    Args:
        benchmark: The benchmark.
        top: How many ops, kinds and layers are listed; None for all.
        details: Whether to tell all that was measured: also the time by kind, layer and partition.
    """
    several = len(benchmark.measurements) > 1
    answer = Section(_answer(benchmark), machine_rows(benchmark))
    sections = [answer, *([_overview(benchmark)] if several else [])]
    if not details:
        first = benchmark.measurements[0]
        timed = _timed(first)
        if not several and first.profiled and timed:
            sections.append(_slowest(timed, first.profiled, top))
        notes = dict.fromkeys(note for measurement in benchmark.measurements for note in measurement.notes)
        sections[0] = replace(
            answer, rows=[*answer.rows, *([] if several else _short_facts(first))], note=_lines(notes)
        )
        return sections
    for measurement in benchmark.measurements:
        sections += _of_model(measurement, top, named=several)
    return sections


def _high(latency: Latency) -> str:
    """Tells a time that most calls did not exceed: the first of those that are known."""
    known = {"p90": latency.p90, "p95": latency.p95, "max": latency.maximum}
    return next(f"{name} {time_text(value)}" for name, value in known.items() if value is not None)


def _answer(benchmark: Benchmark) -> str:
    first, latency = benchmark.measurements[0], _latencies(benchmark)[0]
    text = f"{time_text(latency.p50)} a call ({_high(latency)})"
    if first.signature is not None and any(
        _is_other_signature(first, measurement) for measurement in benchmark.measurements
    ):
        text += f" of {_shown(first.signature, 24)}"
    ratio = next(iter(benchmark.ratios.values()), None)
    if ratio is None:
        return text
    other = next(
        measurement
        for measurement in reversed(benchmark.measurements)
        if measurement.model != first.model or measurement is not first
    )
    return f"{text}, {_comparison(ratio)} {_shown(other.model)}"


def _latencies(benchmark: Benchmark) -> list[Latency]:
    """Returns the times of calls of each measurement: where two models were compared, those of the comparison."""
    compared = [(ratio.first, ratio.second) for ratio in benchmark.ratios.values()]
    if len(compared) == 1 and len(benchmark.measurements) == 2:  # of signatures that may have different keys
        return [*compared[0]]
    waiting = {key: [ratio.first, ratio.second] for key, ratio in benchmark.ratios.items()}
    return [
        waiting[key].pop(0) if (key := measurement.signature or "") in waiting else measurement.warm
        for measurement in benchmark.measurements
    ]


def _is_other_signature(one: Measurement, other: Measurement) -> bool:
    return one.model == other.model and one.signature != other.signature


def _comparison(ratio: Ratio) -> str:
    if abs(ratio.median - 1) < _SAME or ratio.low <= 1 <= ratio.high:
        return "as fast as"
    return f"{ratio.median:.2f}x as fast as"


def machine_rows(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Returns the device, the processor and the versions as rows."""
    threads = benchmark.measurements[0].threads
    where = [("device", benchmark.device)] if benchmark.device else []
    processor = [("processor", f"{_shown(benchmark.cpu)}, {count_of(threads, 'thread')} of {benchmark.cores}")]
    kept = {name: value for name, value in benchmark.versions.items() if name in {"ai-edge-litert", "litefuse"}}
    versions = [("versions", ", ".join(f"{name} {value}" for name, value in kept.items()))] if kept else []
    return [*where, *(processor if benchmark.cpu else []), *versions]


def _overview(benchmark: Benchmark) -> Section:
    rows = [
        (
            _shown(measurement.model, 30),
            _shown(measurement.signature or "", 16),
            time_text(latency.p50),
            _high(latency).removeprefix("p90 "),
            _bytes(measurement.memory.peak),
        )
        for measurement, latency in zip(benchmark.measurements, _latencies(benchmark), strict=True)
    ]
    notes = [
        f"Called alternately{f' ({_shown(key)})' if len(benchmark.ratios) > 1 else ''}: {ratio.median:.2f} times as "
        f"fast, in {count_of(ratio.pairs, 'pair')} of calls (in 80% of them, {ratio.low:.2f} to {ratio.high:.2f})"
        for key, ratio in benchmark.ratios.items()
    ]
    if not notes and any(
        measurement.model != benchmark.measurements[0].model for measurement in benchmark.measurements
    ):
        notes = ["Not called alternately: the models have no signature of the same name."]
    return Section(
        "Models",
        rows,
        headings=("model", "signature", "a call", "p90", "memory"),
        right=frozenset({2, 3, 4}),
        note=_lines(notes),
    )


def _of_model(measurement: Measurement, top: int | None, *, named: bool) -> list[Section]:
    title = _shown(measurement.model) if named or measurement.signature is None else ""
    signature = f"signature {_shown(measurement.signature, 24)}" if measurement.signature is not None else ""
    sections = [
        Section(", ".join(filter(None, (title, signature))), _facts(measurement), note=_lines(measurement.notes))
    ]
    timed = _timed(measurement)
    if not measurement.profiled:
        return sections
    whole = measurement.profiled
    sections.append(_grouped("Time by kind of op", timed, whole, lambda op: op.kind, top))
    if len({op.layer for op in timed} - {""}) > 1:
        sections.append(_grouped("Time by layer", timed, whole, lambda op: op.layer, top))
    sections.append(_slowest(timed, whole, top))
    if measurement.partitions:
        sections.append(_partitions(measurement.partitions, whole, top))
    return [section for section in sections if section.rows or section.note]


def _timed(measurement: Measurement) -> list[OpTime]:
    return [op for op in measurement.ops if op.seconds is not None and op.runs]


def _short_facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Returns the rows that most readers look for, from all facts."""
    return [row for row in _facts(measurement) if row[0] in {"load", "first call", "memory", "explained"}]


def _facts(measurement: Measurement) -> list[tuple[str, str]]:
    warm, memory = measurement.warm, measurement.memory
    inputs = [f"{_shown(input_.name, 30)} {input_.dtype} {shape_text(input_.shape)}" for input_ in measurement.inputs]
    shown = [*inputs[:_INPUTS], *([f"and {len(inputs) - _INPUTS} more"] if len(inputs) > _INPUTS else [])]
    names = ("drawn inputs" if measurement.drawn else "inputs", *[""] * len(shown))
    most = f"{time_text(warm.maximum)} (the longest)" if warm.p99 is None else f"{time_text(warm.p99)} (p99)"
    median = f"{time_text(warm.p50)} (median), {time_text(warm.minimum)} to {most}"
    rows = [
        *zip(names, shown, strict=False),
        ("load", time_text(measurement.load)),
        ("first call", time_text(measurement.cold)),
        (count_of(warm.count, "call"), median),
        ("", f"mean {time_text(warm.mean)}, standard deviation {time_text(warm.std)}"),
        ("memory", f"{_bytes(memory.peak)} at most, {_bytes(memory.private)} of it not of files"),
    ]
    if memory.arena is not None:
        rows.append(("", f"{_bytes(memory.arena)} planned for values between ops"))
    rows.append(("file", _bytes(memory.file)))
    if not measurement.xnnpack:
        rows.append(("XNNPACK", "not allowed"))
    by_op, whole = measurement.explained_by_op, measurement.explained
    if by_op is not None and whole is not None:
        more = f", {whole:.0%} with partitions" if whole - by_op >= _SHARE else ""
        rows.append(("explained", f"{by_op:.0%} of a call by single ops{more}"))
    return rows


def _grouped(title: str, ops: Iterable[OpTime], whole: float, key: Callable[[OpTime], str], top: int | None) -> Section:
    groups: dict[str, list[float]] = {}
    for op in ops:
        groups.setdefault(key(op), []).append(op.seconds or 0.0)
    ordered = sorted(groups.items(), key=lambda item: -sum(item[1]))
    shown = ordered[:top]
    rows = [(_shown(name) or "(none)", str(len(times)), *_time(sum(times), whole)) for name, times in shown]
    left = ordered[len(shown) :]
    if left:
        count, time = sum(len(times) for _, times in left), sum(sum(times) for _, times in left)
        rows.append((f"{len(left)} more", str(count), *_time(time, whole)))
    return Section(title, rows, headings=("", "ops", "a call", "share"), right=frozenset({1, 2, 3}))


def _slowest(ops: Sequence[OpTime], whole: float, top: int | None) -> Section:
    ordered = sorted(ops, key=lambda op: -(op.seconds or 0.0))[:top]
    columns = [
        ("op", [f"{op.subgraph}:{op.op}" if op.subgraph else str(op.op) for op in ordered]),
        ("kind", [_shown(op.kind, 20) for op in ordered]),
        ("output", [op.name for op in ordered]),
        ("by", ["" if op.kernel == "LiteRT" else _shown(op.kernel, 10) for op in ordered]),
        ("runs", ["" if op.runs == 1 else f"{op.runs:.3g}" for op in ordered]),
        ("a call", [time_text(op.seconds or 0.0) for op in ordered]),
        ("share", [f"{(op.seconds or 0.0) / whole:.1%}" for op in ordered]),
    ]
    used = [(heading, cells) for heading, cells in columns if any(cells)]
    left = _WIDTH - sum(2 + max(map(len, (heading, *cells))) for heading, cells in used if heading != "output")
    shown = [
        (heading, [_shown(cell, left) for cell in cells] if heading == "output" else cells) for heading, cells in used
    ]
    title = f"Slowest ops, {len(ordered)} of {len(ops)}" if len(ordered) < len(ops) else f"Ops, {len(ops)}"
    headings = [heading for heading, _ in shown]
    right = frozenset(place for place, heading in enumerate(headings) if heading not in {"kind", "output", "by"})
    return Section(title, [*zip(*(cells for _, cells in shown), strict=True)], headings=headings, right=right)


def _partitions(partitions: Sequence[Partition], whole: float, top: int | None) -> Section:
    ordered = sorted(partitions, key=lambda partition: -partition.seconds)
    shown = ordered[:top]
    rows = [
        (
            str(partition.index),
            _shown(partition.delegate, 20),
            _span(partition),
            str(len(partition.ops)),
            *_time(partition.seconds, whole),
            ""
            if partition.split
            else "partly split"
            if any(owner.ops for owner in partition.operators)
            else "not split",
        )
        for partition in shown
    ]
    judgements: list[Judgement] = [None if partition.split else "unclear" for partition in shown]
    more = [f"{len(ordered) - len(shown)} more, of {len(ordered)}."] if len(shown) < len(ordered) else []
    reasons = dict.fromkeys(partition.reason for partition in partitions if partition.reason and partition.runs)
    return Section(
        "Time by partition",
        rows,
        headings=("", "delegate", "ops", "count", "a call", "share", ""),
        right=frozenset({0, 3, 4, 5}),
        judgements=judgements,
        note=_lines([*more, *(f"Not split: {reason}." for reason in reasons)]),
    )


def _span(partition: Partition) -> str:
    ops = [op for _, op in partition.ops]
    subgraph = f"{partition.subgraph}:" if partition.subgraph else ""
    first, last = min(ops, default=0), max(ops, default=0)
    return f"{subgraph}{first}" if first == last else f"{subgraph}{first} to {last}"


def _lines(notes: Iterable[str]) -> str:
    """Breaks notes into lines that fit a terminal, below a table."""
    return "\n".join(line for note in notes for line in textwrap.wrap(one_line(note), _WIDTH))


def _time(seconds: float, whole: float) -> tuple[str, str]:
    """Formats a time and its share of a call."""
    return time_text(seconds), f"{seconds / whole:.1%}"


def _shown(name: str, most: int = _NAME) -> str:
    """Returns a name on one line, shortened in its middle if it is long."""
    return shortened(one_line(name), most)


def _bytes(size: int | None) -> str:
    if size is None:
        return "unknown"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
