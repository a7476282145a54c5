"""Each op alone: converted, run twice, compared with TensorFlow, and what is written down about it.

``LITEFUSE_TESTS=all`` takes every case; without it, at least one of each op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from litefuse.passes.legalize.decomposition import forms_before_engine
from tests.in_part import in_part
from tests.repository import ROOT
from tests.tensorflow.op_suite.composites import outcomes
from tests.tensorflow.op_suite.page import made
from tests.tensorflow.op_suite.suite import CASES, SIDES, chunks, name_of, recorded, selected
from tests.tensorflow.op_suite.verdict import build_cases, verdict_of_litefuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.tensorflow.op_suite.case import Case
    from tests.tensorflow.process import TensorFlow


@pytest.mark.parametrize("cases", chunks(selected()), ids=name_of)
def test_ops(tensorflow: TensorFlow, tmp_path: Path, cases: Sequence[Case]) -> None:
    known = recorded("litefuse")
    changed: list[str] = []
    for built in build_cases(tensorflow, tmp_path / "model", cases):
        verdict = str(verdict_of_litefuse(built))
        before = known[str(built.case)]
        # How a refused model fails is no promise, that it is refused is one.
        same = verdict == before or (verdict.partition(":")[0] == before.partition(":")[0] != "converts")
        if not same:
            changed.append(f"{built.case}: was {before}, is {verdict}")
    assert not changed, "not as written down by scripts/measure_ops.py:\n" + "\n".join(changed)


_REWRITTEN = in_part(chunks([case for case in selected() if case.op in forms_before_engine()]), 2)


@pytest.mark.parametrize("cases", _REWRITTEN, ids=name_of)
def test_composites_of_ops_that_are_rewritten_early_are_checked(
    tensorflow: TensorFlow, tmp_path: Path, cases: Sequence[Case]
) -> None:
    found = outcomes(tensorflow, tmp_path, cases)
    problems = [
        f"{case}: {composite.outcome}, {composite.reason or composite.unchecked}"
        for case, composite in zip(cases, found, strict=True)
        if composite.outcome != "fused" or composite.error is None
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("cases", _REWRITTEN, ids=name_of)
def test_composites_that_differ_in_one_element_are_not_fused(
    tensorflow: TensorFlow, tmp_path: Path, cases: Sequence[Case]
) -> None:
    found = outcomes(tensorflow, tmp_path, cases, off=1)
    problems = [
        f"{case}: {composite.outcome}, {composite.reason or composite.unchecked}, {composite.error}"
        for case, composite in zip(cases, found, strict=True)
        if "it computes something else" not in (composite.reason or "") and not _is_empty(case)
    ]
    assert not problems, "\n".join(problems)


def _is_empty(case: Case) -> bool:
    """Whether a result has no element that could differ."""
    takes_nothing = "StridedSlice(float32[?,3,4,5], int32[4]=[0, 0, 0, 1], int32[4]=[0, 0, 0, 2]"  # 0:0 of an axis
    return any(0 in tensor.shape for tensor in case.inputs) or str(case).startswith(takes_nothing)


def test_the_cases_are_many_and_differ() -> None:
    texts = [str(case) for case in CASES]
    assert len(set(texts)) == len(texts)
    assert len(CASES) >= 600
    assert len({case.op for case in CASES}) >= 150
    assert {case.op for case in selected()} == {case.op for case in CASES}


@pytest.mark.parametrize("side", SIDES)
def test_every_case_has_a_verdict(side: str) -> None:
    assert set(recorded(side)) == {str(case) for case in CASES}


def test_what_tensorflows_converter_converts_converts() -> None:
    ours = recorded("litefuse")
    theirs = [text for text, verdict in recorded("stock").items() if verdict.startswith("converts")]
    assert len(theirs) > 600
    assert [text for text in theirs if not ours[text].startswith("converts")] == []


def test_the_page_is_current() -> None:
    ops = {case.op for case in CASES}
    ours, theirs = (
        sum(verdict.startswith("converts") for verdict in recorded(side).values()) for side in ("litefuse", "stock")
    )
    text = " ".join((ROOT / "docs/reference/ops.md").read_text("utf-8").split())
    assert f"converts {ours:,} of {len(CASES):,} cases of {len(ops)} ops" in text
    assert f"TensorFlow's own converter, without Select TF ops, {theirs:,}." in text
    assert [op for op in ops if made().count(f"\n| `{op}` |") != 1] == []
