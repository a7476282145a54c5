"""What a call of a kernel costs."""

# Kernels take what they are given.

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from litefuse.runtime.custom_op import CustomOp, TensorSpec
from litefuse.runtime.interpreter import Interpreter
from tests.runtime.models import Graph, model

if TYPE_CHECKING:
    from litefuse.runtime.outputs import Outputs


class Nothing(CustomOp):
    """Touches its arrays and leaves them."""

    op_name = "Nothing"

    def prepare(self, x: TensorSpec, *, size: int) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, *, size: int) -> None:
        assert inputs[0].size == outputs[0].size == size


def seconds_per_invoke(nodes: int) -> float:
    """The best of several rounds of calling a chain of that many kernels."""
    graph = Graph()
    last = graph.input("x", (2, 3))
    for index in range(nodes):
        previous, last = last, graph.tensor(f"t{index}", (2, 3))
        graph.custom("Nothing", [previous], [last], {"size": 6})
    graph.outputs.append(last)
    interpreter = Interpreter(model(graph), custom_ops=[Nothing])
    interpreter.allocate_tensors()
    rounds: list[float] = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(20):
            interpreter.invoke()
        rounds.append((time.perf_counter() - start) / 20)
    return min(rounds)


def test_a_call_takes_less_than_thirty_microseconds() -> None:
    per_call = (seconds_per_invoke(101) - seconds_per_invoke(1)) / 100

    assert per_call < 30e-6
