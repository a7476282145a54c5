"""The times of nodes, which are ops of the file wherever they run."""

from __future__ import annotations

import ctypes
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.errors import InterpreterError, KernelError
from litefuse.litert.runtime import abi
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.transfer import kernel_by_value
from litefuse.tools.benchmarking.clocks import NativeClock, PythonClock, Reading, new_clock
from litefuse.tools.benchmarking.file_ops import ops_of_file
from litefuse.tools.benchmarking.jobs import ModelJob, NodeCalls
from litefuse.tools.benchmarking.node_calls import NodeJob, time_nodes
from litefuse.tools.benchmarking.node_times import undisturbed
from litefuse.tools.benchmarking.op_times import Alone, needs_alone, op_times
from litefuse.tools.benchmarking.operators_alone import AloneJob, operators_alone
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import Graph, model
from tests.tools.benchmarking.models import activated, composed, half_weights, loop, several_signatures

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

CALLS = 4


def job(model: bytes, signature: str | None = "serve", *kernels: type[CustomOp]) -> ModelJob:
    return ModelJob(
        model, signature, custom_ops=tuple(map(kernel_by_value, kernels)), warm_up=1, calls=CALLS, seconds=60.0
    )


def timed(asked: ModelJob) -> NodeCalls:
    steps: list[str] = []
    found = time_nodes(NodeJob(asked), steps.append)
    assert steps[-1] == "close the model"
    return found


def places(found: NodeCalls) -> list[tuple[int, tuple[int, ...], str, float]]:
    return [(node.subgraph, node.ops, node.kernel, node.runs) for node in found.nodes]


def test_partitions_and_a_kernel_between_them() -> None:
    found = timed(job(composed(), "serve", Double))
    assert places(found) == [(0, (0, 1), "XNNPACK", 1), (0, (2,), "Python", 1), (0, (3, 4), "XNNPACK", 1)]
    assert [len(node.operators) for node in found.nodes] == [2, 0, 2]
    assert found.nodes[0].operators[1][0] == found.nodes[2].operators[1][0] == "Add (ND)"
    assert found.calls == 2  # the shorter ones of four
    assert 0 < sum(node.seconds for node in found.nodes) <= found.seconds * (1 + 1e-9)
    assert found.arena >= 4 * 8 * 4


def test_without_xnnpack_each_op_is_a_node() -> None:
    found = timed(replace(job(composed(), "serve", Double), xnnpack=False))
    assert [(node.ops, node.kernel) for node in found.nodes] == [
        ((0,), "LiteRT"),
        ((1,), "LiteRT"),
        ((2,), "Python"),
        ((3,), "LiteRT"),
        ((4,), "LiteRT"),
    ]
    assert not any(node.operators for node in found.nodes)


@pytest.fixture(params=[NativeClock, PythonClock])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[NativeClock | PythonClock]:
    """The clock in C++, and the one in Python."""
    if request.param is PythonClock:
        monkeypatch.setattr("litefuse.tools.benchmarking.node_times.new_clock", PythonClock)
    return request.param


def test_each_clock_is_told_what_runs(kind: type[NativeClock | PythonClock]) -> None:
    seen: list[int] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def inner(_context: int, _node: int) -> int:
        seen.append(clock.running())
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def outer(_context: int, _node: int) -> int:
        seen.append(clock.running())
        call(1)
        call(1)
        return 7

    def call(position: int) -> int:
        return prototype(clock.functions()[position])(0, addresses[position])

    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    nodes = (abi.TfLiteNode * 2)()
    addresses = [ctypes.addressof(nodes) + index * ctypes.sizeof(abi.TfLiteNode) for index in range(2)]
    make = PythonClock if kind is PythonClock else new_clock
    clock = make(addresses, [abi.address_of(outer), abi.address_of(inner)])
    assert isinstance(clock, kind)
    clock.reset()
    assert clock.running() == -1
    assert call(0) == 7  # the status of the node
    assert seen == [0, 1, 1]
    assert clock.running() == -1
    reading = clock.read()
    assert reading.runs == [1, 2]
    assert 0 < reading.times[1] < reading.covered
    assert 0 < reading.times[0] < reading.covered
    clock.reset()
    assert clock.read() == Reading([0, 0], [0, 0], 0)
    assert clock.within > 0
    clock.end()


@pytest.mark.usefixtures("kind")
def test_the_ops_in_a_loop_run_as_often_as_it_does() -> None:
    start = {"i": np.array(0, np.int32), "x": np.zeros(3, np.float32)}
    found = timed(replace(job(loop(times=5)), inputs=start))
    runs = {(subgraph, op): count for subgraph, ops, _, count in places(found) for op in ops}
    assert runs == {(0, 0): 1, (1, 0): 6, (2, 0): 5, (2, 1): 5}


class Slow(CustomOp):
    """y = x, after a while."""

    op_name = "Slow"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return x

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        time.sleep(0.01)
        outputs[0] = inputs[0]


class Failing(Double):
    """Raises."""

    def invoke(self, inputs: Any, outputs: Outputs) -> None:
        raise KernelError("has enough")


@pytest.mark.usefixtures("kind")
def test_the_time_of_a_loop_is_without_that_of_its_body() -> None:
    main, cond, body = Graph(), Graph(), Graph()
    main.builtin(
        "WHILE",
        [main.input("i", (1,), np.int32)],
        [main.output("end", (1,), np.int32)],
        condSubgraphIndex=1,
        bodySubgraphIndex=2,
    )
    i = cond.input("i", (1,), np.int32)
    cond.builtin("LESS", [i, cond.tensor("limit", (), np.int32, value=3)], [cond.output("more", (1,), np.bool_)])
    j, k = body.input("i", (1,), np.int32), body.tensor("k", (1,), np.int32)
    body.custom("Slow", [j], [k])
    body.builtin("ADD", [k, body.tensor("one", (), np.int32, value=1)], [body.output("next", (1,), np.int32)])
    asked = replace(job(model(main, cond, body), None, Slow), inputs={"i": np.zeros(1, np.int32)})
    found = {(node.subgraph, node.ops): node.seconds for node in timed(asked).nodes}
    assert found[2, (0,)] >= 0.03  # it sleeps three times
    assert found[0, (0,)] < found[2, (0,)]


def test_a_signature_of_several_and_a_dynamic_shape() -> None:
    found = timed(replace(job(several_signatures(), "double"), size=3))
    assert [(subgraph, ops) for subgraph, ops, _, runs in places(found) if runs] == [(0, (0,))]
    ops, _ = op_times(ops_of_file(several_signatures()), "double", found.nodes, Alone({}))
    assert [(each.subgraph, each.op, each.kind) for each in ops] == [(0, 0, "ADD")]


@pytest.mark.usefixtures("kind")
def test_a_kernel_that_fails_is_the_error_and_the_next_model_is_timed() -> None:
    with pytest.raises(KernelError, match="has enough"):
        timed(job(composed(), "serve", Failing))
    assert len(timed(job(composed(), "serve", Double)).nodes) == 3


def test_inputs_that_a_model_refuses() -> None:
    asked = replace(job(activated()), inputs={"x": np.zeros((2, 2), np.float32)})
    with pytest.raises(InterpreterError, match=r"the input 'x' is float32 \[2, 2\]; the model takes float32 \[4, 8\]"):
        timed(asked)


def test_what_xnnpack_makes_of_ops_alone_and_together() -> None:
    asked = job(activated())
    found = timed(asked)
    assert places(found) == [(0, (0, 1, 2), "XNNPACK", 1)]
    assert needs_alone(found.nodes) == {0: (0, 1, 2)}
    alone = operators_alone(AloneJob(asked, {0: (0, 1, 2)}), lambda _: None)
    names = {op: each.operators for (_, op), each in alone.items()}
    assert [names[op][0].split()[0] for op in range(3)] == ["Add", "Clamp", "TanH"]
    ops, (partition,) = op_times(ops_of_file(activated()), "serve", found.nodes, Alone(alone))
    assert partition.split
    together = [name for name, _ in found.nodes[0].operators]
    assert [name for op in ops for name in op.operators] == together
    assert sum(op.seconds or 0.0 for op in ops) <= partition.seconds * (1 + 1e-9)
    for op in ops:
        assert (op.seconds == 0.0) == (not op.operators)


def test_weights_that_xnnpack_unpacks_for_the_ops_behind() -> None:
    asked = job(half_weights())
    found = timed(asked)
    assert [node.kernel for node in found.nodes] == ["XNNPACK"]
    alone = operators_alone(AloneJob(asked, needs_alone(found.nodes)), lambda _: None)
    ops, (partition,) = op_times(ops_of_file(half_weights()), "serve", found.nodes, Alone(alone))
    assert partition.split
    kinds = {op.kind: (op.seconds == 0.0, op.operators == ()) for op in ops}
    assert kinds == {"DEQUANTIZE": (True, True), "FULLY_CONNECTED": (False, False)}


def test_ops_that_are_not_wanted_or_not_taken_are_left_out() -> None:
    asked = job(composed(), "serve", Double)
    assert [*operators_alone(AloneJob(asked, {0: (1, 2)}), lambda _: None)] == [(0, 1)]


def test_the_shorter_half_of_calls_counts() -> None:
    assert undisturbed([5.0, 1.0, 9.0, 2.0]) == [1, 3]
    assert undisturbed([3.0]) == [0]
    assert undisturbed([3.0, 4.0, 2.0]) == [2, 0]
