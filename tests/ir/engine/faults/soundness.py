"""What the runtime takes for granted of a model, and of kernels."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.delegate import delegate
from tests.ir.engine.faults.graph import run
from tests.ir.engine.faults.reproducer import alone, kills, reproducer
from tests.litert.runtime.models import Graph, model


@kills
def op_without_its_operand() -> None:
    graph = Graph()
    graph.input("x", (2,))
    graph.builtin("SIGN", [-1], [graph.output("y", (2,))])
    run(model(graph), [1, 2])


@alone
def value_of_a_later_op() -> bool:
    """It runs nevertheless, and reads what is where the value will be."""
    graph = Graph()
    x, later = graph.input("x", (2,)), graph.tensor("later", (2,))
    graph.builtin("ADD", [x, later], [graph.output("y", (2,))])
    graph.builtin("ABS", [x], [later])
    run(model(graph), [1, 2], xnnpack=False)
    return True


@kills
def subgraph_that_calls_itself() -> None:
    graph, cond = Graph(), Graph()
    cond.builtin("GREATER", [cond.input("x", (1,))] * 2, [cond.output("more", (1,), np.bool_)])
    x, y = graph.input("x", (1,)), graph.output("y", (1,))
    graph.builtin("WHILE", [x], [y], condSubgraphIndex=1, bodySubgraphIndex=0)
    run(model(graph, cond), [1])


@kills
def strings_beyond_their_tensor() -> None:
    graph = Graph()
    words = graph.tensor("words", (2,), "STRING", value=["one", "two"])
    graph.builtin(
        "TILE", [words, graph.tensor("twice", (1,), np.int32, value=[2])], [graph.output("y", (4,), "STRING")]
    )
    graph.input("x", (1,))
    content = model(graph)
    present, moved = (struct.pack("<iiii", 2, *(begin + each for each in (0, 3, 6))) for begin in (16, 3 << 29))
    assert content.count(present) == 1
    run(content.replace(present, moved), [0])


@reproducer
def name_that_is_no_text() -> bool:
    graph = Graph()
    x = graph.input("given", (2,))
    graph.builtin("ADD", [x, x], [graph.output("sum", (2,))])
    content = model(graph, signatures={"what": 0}).replace(b"given", b"\xff" * 5)
    try:
        Interpreter(model_content=content).get_signature_runner("what")
    except UnicodeDecodeError:
        return True
    return False


class _Pair(CustomOp):
    """Two outputs; notes whether they are the runtime's memory, which arrays of their own are not."""

    op_name = "Pair"
    in_memory: ClassVar[list[bool]] = []

    def prepare(self, x: Any) -> Sequence[TensorSpec]:
        return [TensorSpec(x.shape, x.dtype)] * 2

    def invoke(self, inputs: Any, outputs: Any) -> None:
        for output in outputs:
            output[...] = inputs[0]
        self.in_memory[:] = [output.base is not None for output in outputs]


@reproducer
def unread_output() -> bool:
    graph = Graph()
    x, unread = graph.input("x", (2,)), graph.tensor("unread", (2,))
    graph.custom("Pair", [x], [graph.output("y", (2,)), unread])
    interpreter = Interpreter(model_content=model(graph), experimental_delegates=[delegate(_Pair)])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones(2, np.float32))
    interpreter.invoke()
    return _Pair.in_memory == [True, False]
