"""Numbers at the edge are as the page says. Nothing is asserted of XNNPACK, whose code depends on the processor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.tensorflow.edges.answers import answers, rows_of
from tests.tensorflow.edges.cases import FAMILIES, Family, text
from tests.tensorflow.edges.measure import Row, differences, is_same, measured
from tests.tensorflow.edges.page import cases, made, recorded

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

# Ops whose results do not depend on the processor.
_PART = {
    "unary": ["clip_by_value", "silu", "x ** 3", "softsign"],
    "binary": ["add", "maximum"],
    "float16": ["silu, float16", "softplus, float16"],
    "rows": ["reduce_max", "conv2d", "max_pool2d"],
}


def _of_own_kernels(rows: Iterable[Row]) -> set[tuple[str, ...]]:
    """What LiteRT's own kernels compute otherwise than TensorFlow."""
    return {
        (row.op, label, row.tensorflow, row.plain)
        for row in rows
        for label in row.inputs
        if row.tensorflow != row.plain
    }


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_part_of_what_is_recorded(tensorflow: TensorFlow, family: Family) -> None:
    part = _PART[family.name]
    found = _of_own_kernels(differences(family, measured(tensorflow, family, part)))
    assert found == _of_own_kernels(row for row in recorded()[0] if row.op in part)
    assert {op for op, *_ in found} == {*part}


def test_a_part_of_the_structures_that_are_recorded(tensorflow: TensorFlow) -> None:
    differing = ["unique of NaN", "pow, int32"]
    part = [*differing, "floormod, int32", "floormod, int64", "dense over none", "matmul over none", "top_k of all"]
    results = answers(tensorflow, part)
    assert set(results) == set(part)
    assert [row.op for row in rows_of(results)] == differing
    assert rows_of(results) == [row for row in recorded()[0] if row.op in differing]


def test_what_is_the_same() -> None:
    values = np.array([np.nan, np.inf, 1.0, 0.0, -0.0, 1e-39, 1.0], np.float32)
    others = np.array([np.nan, np.inf, 1.00001, 0.0, -0.0, 0.0, 1.0], np.float32)
    assert is_same(values, others).all()
    assert not is_same(values, np.array([0.0, -np.inf, 1.001, -0.0, 0.0, 1.0, np.nan], np.float32)).any()
    assert [text(value) for value in others] == ["NaN", "inf", "1.00001", "0", "-0", "0", "1"]


def test_all_cases_are_recorded() -> None:
    assert recorded()[1]["cases"] == cases(), "run python -m scripts.measure_edges"


def test_the_page_has_the_differing_ops() -> None:
    text = made()
    differing = {row.op for row in recorded()[0] if row.inputs}
    assert len(differing) > 20
    assert [op for op in differing if f"`{op}`" not in text] == []
