"""Writes docs/reference/readers.md: which reader takes which form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from suites.readers.campaign import KNOWN, Readings, Records
from suites.readers.files import FORMS, VARIANTS, File
from suites.readers.models import MODELS
from suites.readers.reading import Reading

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "readers.md"

_NAMED = 4
_TEXT = """# Readers

Many programs read `.tflite` files: each release of LiteRT and of TensorFlow Lite before it, OpenVINO, tflite-micro,
vendors' compilers. `.ci/readers` runs {count} small Keras models in every form, with an open batch, in some of these
readers, and compares the results with TensorFlow and with the current LiteRT. `python -m suites.readers --write` wrote
this page.

The readers: {releases}.

The numbers count the files that a reader runs correctly: with an error of at most twice LiteRT's plus one step of an
integer output, or 1e-5 in floating point. Files with larger errors are *wrong*; the others are refused.

{table}

The models: {models}.

## The stock converter's files

The table counts the files, among those that both converters can write, that run with correct results:

{compared}

Refused, although made for this reader:

{known}

## Why files are refused

- **Versions.** A file records the version of each op, the oldest that has its form. Weights with a scale for each
  output channel, as in `dynamic`, need LiteRT 1.0 or TensorFlow Lite 2.17: older runtimes refuse them.
  `--min-runtime 2.14` gives them one scale. `weights`, which are dequantized first, work in older runtimes too.
- **Position of weights.** Below 2 GB, they are inside the flatbuffer. Above, they are behind it, where only LiteRT
  looks.
- **Fused LSTMs.** By default, small LSTMs become UNIDIRECTIONAL_SEQUENCE_LSTM, which OpenVINO, LiteRT's
  `CompiledModel` and LiteRT.js do not support. `--rnn loop` keeps loops; the [targets](../guides/targets.md)
  `openvino`, `litert`, `gpu`, `web` and `intel-npu` avoid the op, too.
- **Loops.** tflite-runtime 2.14 refuses loops whose batch changes between calls. OpenVINO lacks DYNAMIC_UPDATE_SLICE,
  with which loops write their steps: `--target openvino` uses other ops.
- **Composites** (`--composites NAME=keep`) are for LiteRT, and for OpenVINO, which computes their bodies. TensorFlow
  Lite up to 2.16 lacks the op.
- **NPUs.** What the plug-in of LiteRT's compiler does not select splits the file into partitions: Intel's lacks NEG,
  DYNAMIC_UPDATE_SLICE and WHILE, among others. `--target intel-npu` uses other ops. Next to partitions, LiteRT 2.3
  computes garbage from variables.
- **int4.** OpenVINO supports it in matrix products, but not in convolutions.
- **LiteRT 1.2** has no int16 GELU, and crashes on the `dynamic` files of two models, from any converter.
- **Browsers.** LiteRT.js takes neither open sizes nor variable tensors, and as inputs and outputs only float32, int32
  and uint8: convert with `--target web`, and ask a browser with `litefuse check --target web`.
- **Microcontrollers.** tflite-micro has no GELU, and sizes must be known: convert with `--target micro`. If constants
  with a scale for each channel are dequantized, as in `weights`, it would use the first scale for all. To prevent this,
  such files have an empty memory plan, which it refuses with "Nbr of offline buffer offsets (0) in metadata not equal
  nbr tensors": `--granularity tensor` gives them one scale.

LiteRT 2.0 to 2.1.2 computes int8 attention wrong, from any converter. So litefuse requires 2.1.3.
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
        if both:
            rows.append([name, *map(str, (len(both), ours, theirs))])
    return _rows(("reader", "files", "litefuse", "stock converter"), rows)
