"""All cases, and what was recorded of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.in_part import ALL
from tests.tensorflow.op_suite import (
    algebra,
    arrays,
    computed,
    elementwise,
    gradients,
    networks,
    open_shapes,
    sparse,
    strings,
)
from tests.tensorflow.op_suite.case import Case
from tests.tensorflow.op_suite.halves import cases_of_halves

_CASES: tuple[Case, ...] = (
    *elementwise.CASES,
    *arrays.CASES,
    *networks.CASES,
    *gradients.CASES,
    *sparse.CASES,
    *algebra.CASES,
    *open_shapes.CASES,
    *computed.CASES,
    *strings.CASES,
)
CASES = (*_CASES, *cases_of_halves(_CASES))
"""Every case."""

SIDES = ("litefuse", "stock")
"""Who converts: litefuse, and TensorFlow's TFLiteConverter."""

CHUNK = 24
"""How many cases share a SavedModel."""


# Of the cases of an op, the first and each that is so much further on.
_STEP = 6


def chunks(cases: Sequence[Case]) -> list[Sequence[Case]]:
    """The cases, a SavedModel's worth at a time."""
    return [cases[start : start + CHUNK] for start in range(0, len(cases), CHUNK)]


def name_of(cases: Sequence[Case]) -> str:
    """What a SavedModel's worth of cases is called."""
    return f"{cases[0].op}-{cases[-1].op}"


def selected() -> list[Case]:
    """The cases to test: every one with ``LITEFUSE_TESTS=all``, else at least one of each op."""
    if ALL:
        return list(CASES)
    counts = Counter[str]()
    chosen: list[Case] = []
    for case in CASES:
        if counts[case.op] % _STEP == 0:
            chosen.append(case)
        counts[case.op] += 1
    return chosen


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
