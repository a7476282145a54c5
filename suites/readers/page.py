"""Writes docs/reference/readers.md: which reader takes which form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from suites.readers.campaign import KNOWN, Readings, Records
from suites.readers.files import FORMS, VARIANTS, File
from suites.readers.models import MODELS
from suites.readers.reading import Reading

__all__ = ["PAGE", "page", "table"]

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "readers.md"

_NAMED = 4
_TEXT = """# Readers

Many programs read `.tflite` files: each release of LiteRT and of TensorFlow Lite before it, OpenVINO, tflite-micro,
vendors' compilers. `.ci/readers` has some of them read {count} small models of Keras in every form, with an open batch,
and compares what they compute with TensorFlow and with LiteRT's release. `python -m suites.readers --write` wrote this
page.

The readers: {releases}.

A number says how many files a reader runs. Their errors are at most twice LiteRT's and a step of the output's integers,
or 1e-5 in floating point. *Wrong* are those with larger ones, and the others are refused.

{table}

The models: {models}.

## The stock converter's files

So many of the files that both converters make run with the right numbers:

{compared}

Refused, though it is made for this reader:

{known}

## Why files are refused

- **Versions.** A file says the version of each op, which is the least that has its form. Weights with a scale for each
  output channel, which `dynamic` has, need LiteRT 1.0 or TensorFlow Lite 2.17: older runtimes refuse them.
  `--min-runtime 2.14` gives them one scale; `weights`, which become float32 first, are for these as well.
- **Place of weights.** They are inside the flatbuffer below 2 GB. Above, they are behind it, where LiteRT alone looks.
- **Fused LSTMs.** Small LSTMs become UNIDIRECTIONAL_SEQUENCE_LSTM by default, which OpenVINO, LiteRT's `CompiledModel`
  and LiteRT.js do not take. `--rnn loop` keeps loops; the [targets](../guides/targets.md) `openvino`, `litert` and
  `gpu` do without the op, too.
- **Loops.** tflite-runtime 2.14 refuses one whose batch changes between calls. OpenVINO has no DYNAMIC_UPDATE_SLICE, by
  which loops write their steps: with `--target openvino`, other ops do that.
- **Composites** (`--composites NAME=keep`) are for LiteRT, and for OpenVINO, which computes their bodies. TensorFlow
  Lite up to 2.16 has no such op.
- **int4.** OpenVINO takes it in products of matrices, and not in convolutions.
- **LiteRT 1.2** has no GELU in int16, and ends at the `dynamic` files of two models, whoever converted them.
- **Microcontrollers.** tflite-micro has no GELU, and sizes have to be known: convert with `--target micro`. Where
  float32 is made of constants with a scale for each channel, as in `weights`, it would take the first scale for all. So
  such files have an empty plan of its memory, and it says "Nbr of offline buffer offsets (0) in metadata not equal nbr
  tensors": `--granularity tensor` gives them one scale.

LiteRT 2.0 to 2.1.2 computes attention in int8 wrong, whoever converted it. So litefuse requires 2.1.3.
"""


def page(files: Sequence[File], readings: Readings, stock: Records, versions: Mapping[str, str]) -> str:
    """Returns the page.

    Args:
        files: litefuse's files.
        readings: What became of them in each reader.
        stock: What became of the stock converter's.
        versions: The versions of the readers' packages.
    """
    return _TEXT.format(
        count=len(MODELS),
        models=", ".join(MODELS),
        releases=", ".join(f"{name} ({version})" for name, version in versions.items()),
        table="\n".join(table(files, readings)),
        compared="\n".join(_compared(readings, stock)),
        known="\n".join(f"- {each.reader}, {each.file.removeprefix('.*, ')}: {each.why}" for each in KNOWN),
    )


def table(files: Sequence[File], readings: Readings) -> Iterator[str]:
    """Yields the lines of a table: a row for each form, a column for each reader."""
    kinds = [(form, "") for form in FORMS] + [(form, name) for name, each in VARIANTS.items() for form in each.forms]
    rows: list[list[str]] = []
    for form, variant in kinds:
        made = [file for file in files if (file.form, file.variant) == (form, variant) and file.path is not None]
        if made:
            name = f"{form}, `{variant}`" if variant else form
            rows.append([name, str(len(made)), *(_cell(made, readings[reader]) for reader in readings)])
    yield from _rows(("form", "files", *readings), rows)


def _rows(heads: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _cell(files: Sequence[File], readings: Mapping[str, Reading]) -> str:
    """Returns how many of the files are right, and which are not, where these are few."""
    models: dict[str, list[str]] = {}
    for file in files:
        if file.name in readings:
            models.setdefault(readings[file.name].verdict, []).append(file.model)
    right, wrong = models.pop("right", []), models.pop("wrong", [])
    refused = sorted(name for names in models.values() for name in names)
    parts = ["all" if right and not (wrong or refused) else str(len(right) or "none")]
    if right and 0 < len(refused) <= _NAMED:
        parts.append(f"not {', '.join(refused)}")
    if wrong:
        parts.append(f"**wrong: {', '.join(wrong)}**")
    return "; ".join(parts) if right or wrong or refused else ""


def _compared(readings: Readings, stock: Records) -> Iterator[str]:
    rows: list[list[str]] = []
    for name, of_files in readings.items():
        both = {file: stock[name][file] for file in of_files if file in stock.get(name, ())}
        ours, theirs = (
            sum(of_files[file].verdict == "right" for file in both),
            sum(each.startswith("right") for each in both.values()),
        )
        rows.append([name, *map(str, (len(both), ours, theirs))])
    return _rows(("reader", "files", "litefuse", "stock converter"), rows)
