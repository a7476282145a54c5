"""Whether values of inputs decide about sizes at an op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.verify.written_file import values_decide
from litefuse.litert.runtime.model_reader import Model
from tests.litert.runtime.models import Graph, model

#: Which operands of an op say how large something is, or have to fit sizes, and how many operands it has.
OPERANDS = """
FILL 0 of 2, TRANSPOSE_CONV 0 of 3, CONV_3D_TRANSPOSE 0 of 3, WHERE 0 of 1, UNIQUE 0 of 1, RANDOM_UNIFORM 0 of 1
RANDOM_STANDARD_NORMAL 0 of 1, RESHAPE 1 of 2, BROADCAST_TO 1 of 2, TILE 1 of 2, PAD 1 of 2, PADV2 1 of 3
MIRROR_PAD 1 of 2, TRANSPOSE 1 of 2, EXPAND_DIMS 1 of 2, RESIZE_BILINEAR 1 of 2, RESIZE_NEAREST_NEIGHBOR 1 of 2
SPLIT_V 1 of 3, ONE_HOT 1 of 4, TOPK_V2 1 of 2, MULTINOMIAL 1 of 2, SEGMENT_SUM 1 of 2, REDUCE_WINDOW 1 of 5
SLICE 12 of 3, SPACE_TO_BATCH_ND 12 of 3, BATCH_TO_SPACE_ND 12 of 3, UNSORTED_SEGMENT_SUM 2 of 3
UNSORTED_SEGMENT_PROD 2 of 3, UNSORTED_SEGMENT_MIN 2 of 3, UNSORTED_SEGMENT_MAX 2 of 3, NON_MAX_SUPPRESSION_V4 2 of 5
NON_MAX_SUPPRESSION_V5 2 of 6, SCATTER_ND 2 of 3, SPARSE_TO_DENSE 1 of 4, STRIDED_SLICE 123 of 4, RANGE 012 of 3
ADD  of 2, GATHER  of 2, CONCATENATION  of 2
"""


def decide(*graphs: Graph, graph: int = 0, position: int = 0) -> bool:
    return values_decide(Model(model(*graphs)), graph, position)


def test_the_operands_that_sizes_follow_from() -> None:
    for entry in OPERANDS.strip().replace("\n", ", ").split(", "):
        name, places, _, count = entry.split(" ")
        for given in range(int(count)):
            graph = Graph()
            operands = [
                (graph.input if place == given else graph.tensor)(f"x{place}", [4]) for place in range(int(count))
            ]
            graph.builtin(name, operands, [graph.output("y", [4])])
            assert decide(graph) == (str(given) in places), (name, given)


@pytest.mark.parametrize(("between", "expected"), [("NEG", True), ("SHAPE", False), ("RANK", False)])
def test_values_behind_other_ops(between: str, *, expected: bool) -> None:
    """Sizes of inputs are no values: they are those that were tried."""
    graph = Graph()
    x, sizes, data = graph.input("x", [4]), graph.tensor("sizes", [4]), graph.input("data", [4])
    graph.builtin(between, [x], [sizes])
    graph.builtin("RESHAPE", [data, sizes], [graph.output("y", [4])])
    graph.builtin("ADD", [graph.outputs[0], data], [graph.output("z", [4])])
    assert decide(graph, position=1) is expected
    assert decide(graph, position=2) is expected
    assert not decide(graph, position=0)


@pytest.mark.parametrize(
    ("operand", "result", "expected"), [([4], [-1], True), ([-1], [-1], False), ([4], [4], False), ([-1], [4], False)]
)
def test_an_op_that_may_make_sizes_of_values(operand: Sequence[int], result: Sequence[int], *, expected: bool) -> None:
    graph = Graph()
    x, made = graph.input("x", [4], signature=operand), graph.tensor("made", [4], signature=result)
    graph.custom("Anything", [x, -1], [made])
    graph.builtin("NEG", [made], [graph.output("y", [4])])
    assert decide(graph, position=1) is expected


@pytest.mark.parametrize("shifted", [False, True])
def test_values_that_a_branch_is_given(*, shifted: bool) -> None:
    """The first operand of IF is its condition, and no input of a branch."""
    graph, branch = Graph(), Graph()
    names = ["data", "sizes"] if shifted else ["sizes", "data"]
    inner = {name: branch.input(name, [4]) for name in names}
    branch.builtin("RESHAPE", [inner["data"], inner["sizes"]], [branch.output("y", [4])])
    operands = [(graph.input if name == "sizes" else graph.tensor)(name, [4]) for name in ("condition", *names)]
    graph.builtin("IF", operands, [graph.output("z", [4])])
    options = graph.operators[-1][0].builtinOptions
    options.thenSubgraphIndex = options.elseSubgraphIndex = 1
    assert decide(graph, branch, graph=1)
    graph.inputs[:] = [operands[0], operands[1 + names.index("data")]]
    assert not decide(graph, branch, graph=1)
    assert isinstance(options, schema.IfOptionsT)


@pytest.mark.parametrize(("operands", "callee_inputs"), [(1, 2), (2, 1)])
def test_operands_that_a_callee_does_not_get(operands: int, callee_inputs: int) -> None:
    """A comparator of STABLEHLO_SORT has two inputs for each operand. The first tensor is an operand like others."""
    graph, callee = Graph(), Graph()
    given = [graph.input(f"x{number}", [4]) for number in range(operands)]
    inner = [callee.input(f"a{number}", [4]) for number in range(callee_inputs)]
    callee.builtin("RESHAPE", [callee.tensor("data", [4]), inner[-1]], [callee.output("y", [4])])
    graph.builtin("WHILE", given, [graph.output("z", [4])], condSubgraphIndex=1, bodySubgraphIndex=1)
    assert decide(graph, callee, graph=1) == (callee_inputs == 1)
    graph.operators[0][0].inputs = [-1] * operands
    assert not decide(graph, callee, graph=1)


@pytest.mark.parametrize("operands", [1, 2])
def test_sizes_that_are_an_option(operands: int) -> None:
    graph = Graph()
    graph.builtin("RESHAPE", [graph.input("x", [4]), -1][:operands], [graph.output("y", [4])])
    assert not decide(graph)


@pytest.mark.parametrize(
    ("op", "operands", "results", "expected"),
    [
        ("Anything", [[4]], [[4], [-1]], True),
        ("Anything", [[4], [-1]], [[-1]], False),
        ("IF", [[1], [4]], [[-1]], True),
        ("WHILE", [[4]], [[-1]], True),
        ("ADD", [[4], [4]], [[-1]], False),
    ],
)
def test_ops_that_may_make_sizes_of_values(op: str, operands: Any, results: Any, *, expected: bool) -> None:
    graph = Graph()
    given = [graph.input(f"x{number}", [4], signature=shape) for number, shape in enumerate(operands)]
    made = [graph.output(f"y{number}", [4], signature=shape) for number, shape in enumerate(results)]
    (graph.builtin if op.isupper() else graph.custom)(op, given, made)
    for index in ("then", "else", "cond", "body") if op in {"IF", "WHILE"} else ():
        setattr(graph.operators[0][0].builtinOptions, f"{index}SubgraphIndex", 1)
    assert decide(graph, Graph()) is expected


def test_what_many_ops_share_is_searched_once() -> None:
    graph = Graph()
    value = graph.input("x", [4])
    for number in range(40):
        parts = [graph.tensor(f"{part}{number}", [4]) for part in ("minus", "size", "sum")]
        for op, part in zip(("NEG", "ABS"), parts, strict=False):
            graph.builtin(op, [value], [part])
        graph.builtin("ADD", parts[:2], [parts[2]])
        value = parts[2]
    graph.builtin("RESHAPE", [value, graph.tensor("constant", [1], np.int32, value=[4])], [graph.output("y", [4])])
    assert not decide(graph, position=len(graph.operators) - 1)
