"""What is recorded of numbers at the edge, and the part of the page of differences that is made of it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.tensorflow.edges.cases import FAMILIES
from tests.tensorflow.edges.measure import Row
from tests.tensorflow.edges.structures import CASES

RECORD = Path(__file__).with_name("edges.json")
# So many inputs with the same results are named.
_NAMED = 5
# What LiteRT's own kernels write in the place of infinities.
_BOUNDED = {("inf", "max"), ("-inf", "-max")}

_TEXT = """\
NaN, infinities, and the largest and smallest floats, as inputs of {count} single ops, in float32 unless stated
otherwise: the results of TensorFlow {tensorflow}, and of LiteRT {litert} with the converted model, by default with
XNNPACK, and with its own kernels. This ran on {processor}; XNNPACK has other code for other processors. Whatever is not
listed is the same: NaN where TensorFlow has NaN, or equal within 1e-4 of its size, 2e-3 for float16. `max` is the
largest float, `tiny` the smallest that is not denormal, 1.18e-38, and `denormal` 1e-40. Rows are 1, 2, 3, 4, 1, ...
with these values in some places. Of several results, the first that differs is shown.

litefuse could match TensorFlow in most of these with a MINIMUM, or a comparison and a SELECT, beside the op. It does
not, because each such op in each model would need one or two more, for numbers that are rare. Where the formulas of
common layers meet them, as with the root of 0 and the softplus of 100, it does (above). NaN in the inputs of a model
need not appear in its outputs.

TensorFlow mostly treats denormal numbers as 0, LiteRT's own kernels as numbers. Results below 1e-37 count as 0 here.

LiteRT's own kernels limit the results of ops that may have a fused activation: they return `max` where XNNPACK and
TensorFlow return `inf` in {bounded}.
"""
_HEAD = """\
| op | inputs | TensorFlow | with XNNPACK | own kernels |
| --- | --- | --- | --- | --- |
"""
_OF_STRUCTURES = """\
The following are shapes, indices and integers at the edge, {count} cases: ties, empty tensors, sizes of 1, indices that
are negative or out of range, windows larger than the image, sizes of resized images and of transposed convolutions, the
smallest and largest integers, float16 below its smallest normal number. These differ:
"""
_HEAD_OF_STRUCTURES = """\
| case | TensorFlow | with XNNPACK | own kernels |
| --- | --- | --- | --- |
"""
_WIDTH = 120


def cases() -> dict[str, list[str]]:
    """The ops and inputs that there are, by their families."""
    return {family.name: [*family.ops, *family.labels] for family in FAMILIES} | {"structures": [*CASES]}


def record(rows: Iterable[Row], versions: Mapping[str, str]) -> None:
    """Writes down what was measured.

    Args:
        rows: The differences.
        versions: The versions of TensorFlow and LiteRT, and the processor, as the page names them.
    """
    told = json.dumps({**versions, "cases": cases()}, ensure_ascii=False).removesuffix("}")
    lines = ",\n".join(json.dumps(vars(row), ensure_ascii=False) for row in rows)
    RECORD.write_text(f'{told},\n"rows": [\n{lines}\n]}}\n')


def recorded() -> tuple[list[Row], dict[str, Any]]:
    """Returns the differences that were measured, and what else was written down."""
    told: dict[str, Any] = json.loads(RECORD.read_text())
    rows: list[dict[str, Any]] = told.pop("rows")
    return [replace(Row(**row), inputs=tuple(row["inputs"])) for row in rows], told


def made() -> str:
    """What is recorded, as a part of docs/explanation/differences.md."""
    rows, told = recorded()
    bounded = sorted({row.op for row in rows if _is_bounded(row)})
    names = {name: told[name] for name in ("tensorflow", "litert", "processor")}
    count = sum(len(family.ops) for family in FAMILIES)
    names |= {"count": str(count), "bounded": ", ".join(f"`{op}`" for op in bounded)}
    paragraphs = [_filled(paragraph) for paragraph in _TEXT.format(**names).split("\n\n")]
    lines = [_line(row) for row in rows if row.inputs and not _is_bounded(row)]
    structures = [_filled(_OF_STRUCTURES.format(count=len(CASES))), _HEAD_OF_STRUCTURES]
    of_structures = "\n\n".join(structures) + "".join(_line(row) for row in rows if not row.inputs)
    return "\n\n".join([*paragraphs, _HEAD]) + "".join(lines) + "\n" + of_structures


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, _WIDTH, break_on_hyphens=False)


def _is_bounded(row: Row) -> bool:
    return row.tensorflow == row.xnnpack and (row.tensorflow, row.plain) in _BOUNDED


def _line(row: Row) -> str:
    cells = (f"`{row.op}`" if row.inputs else row.op, _listed(row.inputs), row.tensorflow, row.xnnpack, row.plain)
    return f"| {' | '.join(cell for cell in cells if cell)} |\n"


def _listed(inputs: Sequence[str]) -> str:
    more = len(inputs) - _NAMED
    return "; ".join(inputs[:_NAMED]) + (f"; {more} more" if more > 0 else "")
