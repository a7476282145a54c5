"""All cases, and what was recorded of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.tensorflow.op_suite import arrays, elementwise, gradients, networks, sparse
from tests.tensorflow.op_suite.case import Case

__all__ = ["CASES", "CHUNK", "SIDES", "chunks", "record", "recorded", "results_file"]

CASES: tuple[Case, ...] = (
    *elementwise.CASES,
    *arrays.CASES,
    *networks.CASES,
    *gradients.CASES,
    *sparse.CASES,
)
"""Every case."""

SIDES = ("litefuse", "stock")
"""Who converts: litefuse, and TensorFlow's TFLiteConverter."""

CHUNK = 24
"""How many cases share a SavedModel."""


def chunks(cases: Sequence[Case]) -> list[Sequence[Case]]:
    """The cases, a SavedModel's worth at a time."""
    return [cases[start : start + CHUNK] for start in range(0, len(cases), CHUNK)]


def results_file(side: str) -> Path:
    """Where the verdicts of one side are; ``scripts/measure_ops.py`` writes it."""
    return Path(__file__).with_name(f"{side}.json")


def recorded(side: str) -> dict[str, str]:
    """The verdicts of one side, by the text of the case."""
    path = results_file(side)
    return json.loads(path.read_text()) if path.exists() else {}


def record(side: str, verdicts: Mapping[str, str]) -> None:
    """Writes the verdicts of one side, in the order of the cases; those of cases that are no more are left out."""
    ordered = {str(case): verdicts[str(case)] for case in CASES if str(case) in verdicts}
    results_file(side).write_text(json.dumps(ordered, indent=0) + "\n")
