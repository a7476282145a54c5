"""The tables of docs/reference/models.md, from what was measured."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.architectures.catalog import ARCHITECTURES, Architecture
from benchmarks.architectures.measuring import STAGES, TARGETS
from benchmarks.document import milliseconds, paragraph, table

MEASURED = Path(__file__).with_name("measured")
_TITLES = {"litert": "CompiledModel", "gpu": "GPU", "ethos-u": "Ethos-U", "micro": "micro"}


def made() -> str:
    """What is recorded of all architectures, as Markdown."""
    return "\n".join(page([*ARCHITECTURES.values()], measured(MEASURED)))


def measured(folder: Path) -> dict[str, dict[str, Any]]:
    """The results in a folder, by the architectures' names."""
    return {row["model"]: row for row in map(read, sorted(folder.glob("*.json")))}


def read(file: Path) -> dict[str, Any]:
    """The results of an architecture.

    Raises:
        SystemExit: They are not JSON.
    """
    try:
        return json.loads(file.read_bytes())
    except ValueError as error:
        raise SystemExit(f"{file}: {error}: remove it, and its model is measured again") from error


def page(architectures: Sequence[Architecture], measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The lines of the tables.

    Args:
        architectures: All of them.
        measured: The results of stages, by the architectures' names; those without any are left out.
    """
    known = [each for each in architectures if each.name in measured]
    rows = [measured[each.name] for each in known]
    missing = ", ".join(_one_line(each.name) for each in architectures if each.name not in measured)
    lines = paragraph(_summary(rows))
    if missing:
        lines += paragraph(f"Not measured yet: {missing}.")
    for group in dict.fromkeys(each.group for each in known):
        members = [each for each in known if each.group == group]
        files = [[_one_line(each.name), _one_line(each.about), *_file_cells(measured[each.name])] for each in members]
        uses = [[_one_line(each.name), *_use_cells(measured[each.name])] for each in members]
        lines += [f"## {group}", ""]
        lines += [*table(_FILE_HEADS, files, text=2), "", *table(_USE_HEADS, uses, text=1 + len(TARGETS)), ""]
    if notes := [note for each in known for note in _notes(each.name, measured[each.name])]:
        lines += ["## Refused, failed, or unknown", "", *notes, ""]
    lines += ["## Measured on", "", *paragraph(_NOISE)]
    drivers = sorted({row["gpu"]["facts"]["GPU"] for row in rows if row.get("gpu", {}).get("facts")})
    lines += paragraph(f"GPU: {', '.join(drivers)}.") if drivers else []
    machines = Counter(_machine(row["machine"]) for row in rows)
    lines += [f"- {count} models: {told}" for told, count in machines.most_common()]
    return lines


_FILE_HEADS = [
    "Model",
    "configuration",
    "parameters",
    "nodes",
    "ops",
    "stock",
    "fused",
    "float32",
    "stock",
    "int8",
    "error",
]
_USE_HEADS = ["Model", *(_TITLES[each] for each in TARGETS), "latency", "int8"]


def _file_cells(row: Mapping[str, Any]) -> list[str]:
    converted, compared, stock = (row.get(each, {}) for each in ("converted", "compared", "stock"))
    fused = f"{converted['fused']} of {converted['composites']}" if converted.get("composites") else ""
    return [
        _count(converted, "parameters"),
        _count(converted, "nodes"),
        _count(converted, "ops"),
        _count(stock, "ops"),
        fused,
        _size(converted),
        _size(stock),
        _size(row.get("int8", {})),
        _error(compared),
    ]


def _use_cells(row: Mapping[str, Any]) -> list[str]:
    latency = row.get("latency", {})
    times = [milliseconds(latency[key]) if key in latency else _none(latency) for key in ("seconds", "int8_seconds")]
    return [*(_verdict(row.get(each, {})) for each in TARGETS), *times]


def _count(stage: Mapping[str, Any], key: str) -> str:
    return f"{stage[key]:,}" if key in stage else _none(stage)


def _size(stage: Mapping[str, Any]) -> str:
    return f"{stage['bytes'] / 1e6:,.2f} MB" if "bytes" in stage else _none(stage)


def _none(stage: Mapping[str, Any]) -> str:
    """A failure is told below; what was not measured is empty."""
    return "failed" if any(key.endswith("failure") for key in stage) else ""


def _error(stage: Mapping[str, Any]) -> str:
    if "verdict" not in stage:
        return _none(stage)
    error = _number(stage["error"])
    return error if stage["verdict"] == "equal" else f"{error}, {stage['verdict']}"


def _number(error: float | None) -> str:
    return "infinite" if error is None else f"{error:.1e}"


def _verdict(stage: Mapping[str, Any]) -> str:
    if "verdict" not in stage:
        return _none(stage)
    refused = sum(each["count"] for each in stage["refused"])
    told: dict[str, str] = {
        "accelerated": "all",
        "partly": f"all but {refused} of {stage.get('ops')}",
        "refused": f"refused: {refused}" if refused else "refused",
        "not asked": "",
        "differs": f"differs: {_number(stage['error'])}" if "error" in stage else "differs",
    }
    verdict: str = stage["verdict"]
    cell = told.get(verdict, verdict)
    time: str = stage.get("facts", {}).get("time, by Vela's estimate", "")
    return f"{cell}, {time}" if time else cell


def _notes(name: str, row: Mapping[str, Any]) -> list[str]:
    notes: list[str] = []
    for stage in (each for each in STAGES if each in row):
        found = row[stage]
        for key, failure in found.items():
            if key.endswith("failure"):
                notes.append(f"- {_one_line(name)}, {stage}: {_one_line(failure)}")
        if stage in TARGETS and found.get("refused"):
            told = "; ".join(f"{each['op'] or 'the file'} ({each['reason']})" for each in found["refused"][:3])
            more = len(found["refused"]) - 3
            notes.append(
                f"- {_one_line(name)}, {_TITLES[stage]}: {_one_line(told)}{f'; and {more} more' if more > 0 else ''}"
            )
        if found.get("problem"):
            notes.append(f"- {_one_line(name)}, {stage}: {_one_line(found['problem'])}")
    return notes


def _one_line(text: str) -> str:
    """As one line of a list in Markdown, in which nothing is markup."""
    text = " ".join(text.split()).replace("<", "&lt;")
    return re.sub(r"[\\*_|`\[\]]", r"\\\g<0>", text)


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    converted = [row["converted"] for row in rows if "ops" in row.get("converted", {})]
    equal = sum(row.get("compared", {}).get("verdict") == "equal" for row in rows)
    both = [
        (row["converted"], row["stock"])
        for row in rows
        if "ops" in row.get("stock", {}) and "ops" in row.get("converted", {})
    ]
    fewer = sum(ours["ops"] < stock["ops"] for ours, stock in both)
    more = sum(ours["ops"] > stock["ops"] for ours, stock in both)
    told = f"Of {len(rows)} models, {len(converted)} are converted, and {equal} match TensorFlow's numbers."
    if not (given := sum("stock" in row for row in rows)):
        return told
    return (
        f"{told} The stock converter converts {len(both)} of the {given} that were tried; litefuse's file has "
        f"fewer ops for {fewer} of these, and more for {more}."
    )


def _machine(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items())


_NOISE = """
Each latency is the smallest of three medians. The machine was not idle, which can only have made them longer.
"""
