"""Selections between integers, written as limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.runtime_forms import limit_selections
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

ROWS = 4


def selections(*, scales: int = 1, computed: bool = True) -> Graph:
    """Rows of a mask select between the last result and a constant; one of them is an output, too."""
    graph = Graph()
    if computed:
        ids, zero = graph.input("ids", [ROWS, 3], np.int32), graph.tensor("zero", [], np.int32, value=0)
        mask = graph.tensor("mask", [ROWS, 3], np.bool_)
        graph.builtin("NOT_EQUAL", [ids, zero], [mask])
    else:
        mask = graph.input("ids", [ROWS, 3], np.bool_)
    ones = graph.tensor("ones", [2], np.int32, value=[1, 1])
    last = graph.input("x", [2, 3], np.int8)
    numbers = [last, other := graph.tensor("other", [], np.int8, value=-7)]
    for row in range(ROWS):
        corners = [graph.tensor(f"{name}{row}", [2], np.int32, value=[row + n, 0]) for n, name in enumerate("be")]
        make = graph.output if row == 1 else graph.tensor
        part = make(f"part{row}", [3], np.bool_)
        masks = {"beginMask": 2, "endMask": 2, "shrinkAxisMask": 1}
        graph.builtin("STRIDED_SLICE", [mask, *corners, ones], [part], **masks)
        make = graph.output if row == ROWS - 1 else graph.tensor
        numbers.append(result := make(f"y{row}", [2, 3], np.int8))
        graph.builtin("SELECT_V2", [part, *((last, other) if row % 2 else (other, last))], [result])
        last = result
    for place, number in enumerate(numbers):
        parameters: Any = schema.QuantizationParametersT()
        parameters.scale, parameters.zeroPoint = [0.5 + place % scales], [3]
        graph.tensors[number][0].quantization = parameters
    return graph


def results(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    runner = Interpreter(path).get_signature_runner()
    runner(**{name: np.zeros_like(each) for name, each in values.items()})
    return runner(**values)


@pytest.mark.parametrize("computed", [True, False])
def test_limits_give_the_same(tmp_path: Path, *, computed: bool) -> None:
    before, after = (saved(tmp_path / f"{name}.tflite", selections(computed=computed)) for name in ("before", "after"))
    assert edit_file(after, limit_selections)
    counts = inspect_litert_model(after).op_counts
    assert counts["MAXIMUM"] == counts["MINIMUM"] // 2 == ROWS
    assert counts["SELECT_V2"] == 2
    assert counts["STRIDED_SLICE"] == 2 * ROWS + 1  # the part of the mask that is an output
    random = np.random.default_rng(4)
    for _ in range(20):
        values = {
            "ids": random.integers(0, 2, [ROWS, 3]).astype(np.int32 if computed else np.bool_),
            "x": random.integers(-128, 128, [2, 3], np.int8),
        }
        found = results(after, values)
        for name, value in results(before, values).items():
            np.testing.assert_array_equal(found[name], value)


def test_selections_of_several_scales_stay(tmp_path: Path) -> None:
    path = saved(tmp_path / "model.tflite", selections(scales=3))
    before = path.read_bytes()
    assert not edit_file(path, limit_selections)
    assert path.read_bytes() == before
