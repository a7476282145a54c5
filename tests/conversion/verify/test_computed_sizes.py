"""Whether values of inputs decide about sizes at an op."""

from __future__ import annotations

from collections.abc import Sequence

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
    graph.builtin("NEG", [graph.outputs[0]], [graph.output("z", [4])])
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
