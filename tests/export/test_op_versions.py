"""Versions of convolutions whose filters the engine saw as stubs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.export.op_versions import correct_versions
from litefuse.inspection.operators import operators_of
from tests.differences.edited import edited
from tests.runtime.models import Graph, model


def versions(*filters: tuple[int, str], version: int = 6) -> list[int]:
    """The versions of convolutions of 4 channels, whose filters have a number of channels and a dtype, as corrected."""
    graph = Graph()
    x = graph.input("x", (1, 8, 8, 4))
    for number, (channels, dtype) in enumerate(filters):
        kernel = graph.tensor(f"w{number}", (4, 1, 1, channels), dtype, value=np.ones((4, 1, 1, channels)))
        graph.builtin("CONV_2D", [x, kernel, -1], [graph.output(f"y{number}", (1, 8, 8, 4))], strideW=1, strideH=1)
    graph.builtin("NEG", [x], [graph.output("z", (1, 8, 8, 4))])

    def change(loaded: Any) -> None:
        loaded.operatorCodes[0].version = version
        if len(filters) > 1:  # a code of its own for the second one
            loaded.operatorCodes.append(schema.OperatorCodeT())
            loaded.operatorCodes[-1].builtinCode = loaded.operatorCodes[-1].deprecatedBuiltinCode = 3
            loaded.operatorCodes[-1].version = version
            loaded.subgraphs[0].operators[1].opcodeIndex = len(loaded.operatorCodes) - 1

    content = bytearray(edited(model(graph), change))
    correct_versions(content)
    *found, other = operators_of(bytes(content))
    assert other.version == 1
    return [each.version for each in found]


@pytest.mark.parametrize(
    ("filters", "corrected"),
    [
        ([(4, "FLOAT32")], [1]),
        ([(2, "FLOAT32")], [6]),  # it is in groups
        ([(4, "INT8")], [6]),
        ([(4, "FLOAT32"), (2, "FLOAT32")], [1, 6]),
    ],
)
def test_versions_of_convolutions(filters: list[tuple[int, str]], corrected: list[int]) -> None:
    assert versions(*filters) == corrected


def test_other_versions_stay() -> None:
    assert versions((4, "FLOAT32"), version=5) == [5]


def test_a_code_that_both_kinds_share_stays() -> None:
    graph = Graph()
    x = graph.input("x", (1, 8, 8, 4))
    for channels in (4, 2):
        kernel = graph.tensor(f"w{channels}", (4, 1, 1, channels), value=np.ones((4, 1, 1, channels)))
        graph.builtin("CONV_2D", [x, kernel, -1], [graph.output(f"y{channels}", (1, 8, 8, 4))])

    def change(loaded: Any) -> None:
        loaded.operatorCodes[0].version = 6

    content = bytearray(edited(model(graph), change))
    correct_versions(content)
    assert [each.version for each in operators_of(bytes(content))] == [6, 6]
