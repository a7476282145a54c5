"""Entry point of the process that times the nodes of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from litefuse.tools.benchmarking.calls import warm_up
from litefuse.tools.benchmarking.file_ops import ops_of_file
from litefuse.tools.benchmarking.jobs import Arrays, ModelJob, NodeCalls, ProfiledNode
from litefuse.tools.benchmarking.node_times import NodeClock, NodeTime, TimedCall, undisturbed
from litefuse.tools.benchmarking.nodes import Node, NodeObserver, arena_bytes
from litefuse.tools.benchmarking.opened_model import OpenedModel, import_kernels, inputs_of
from litefuse.tools.benchmarking.operator_profiler import OperatorProfiler

#: The function to run in the process.
NODES = "litefuse.tools.benchmarking.node_calls:time_nodes"
#: What XNNPACK is called here; the runtime calls its kernel by the other name.
XNNPACK, _KERNEL_OF_XNNPACK = "XNNPACK", "TfLiteXNNPackDelegate"

# The most calls in which ops are timed.
_CALLS = 200
_OPERATOR_CALLS = 50

_now = time.perf_counter


class NodeJob(NamedTuple):
    """A model whose nodes are to be timed.

    Attributes:
        model: The model and its signature.
        operators: Whether XNNPACK is asked for the times of its operators as well.
    """

    model: ModelJob
    operators: bool = True


def time_nodes(job: NodeJob, announce: Callable[[str], None]) -> NodeCalls:
    """Loads a model and calls it, with a clock around each node.

    Then it loads it again, with a profiler to which XNNPACK reports its operators: that alone makes XNNPACK slower.

    Raises:
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    import_kernels(job.model, announce)
    tensors, inputs = ops_of_file(job.model.model).tensors, inputs_of(job.model)
    timed, kernels = _timed(job.model, inputs, tensors, announce)
    has_operators = job.operators and any(kernel == XNNPACK and len(node.ops) > 1 for node, kernel in kernels.items())
    operators = _operators(job.model, inputs, tensors, announce) if has_operators else {}
    nodes = [
        ProfiledNode(
            node.node.subgraph,
            node.node.ops,
            kernels[node.node],
            node.seconds,
            node.runs,
            operators.get((node.node.subgraph, node.node.ops), ()),
        )
        for node in timed.nodes
    ]
    return NodeCalls(nodes, timed.calls, sum(node.seconds for node in nodes) + timed.rest, timed.arena)


class _Timed(NamedTuple):
    """The nodes of a model, timed: their times, the number of calls, the seconds between nodes, and the arena."""

    nodes: list[NodeTime]
    calls: int
    rest: float
    arena: int


def _timed(
    job: ModelJob, inputs: Arrays, tensors: Sequence[Sequence[str]], announce: Callable[[str], None]
) -> tuple[_Timed, dict[Node, str]]:
    """Times the nodes; returns what runs each of them, too."""
    observer = NodeObserver(tensors)
    model = OpenedModel(job, inputs, announce, [observer])
    announce("first call")
    model.set_inputs()
    model.invoke()
    warm_up(model, job)
    arena = sum(arena_bytes(context) for _, context in observer.contexts())
    announce("time the ops")
    calls: list[TimedCall] = []
    end = _now() + job.seconds
    with NodeClock(observer.nodes()) as clock:
        _called(model, clock)  # its own code is in the caches then
        while len(calls) < min(job.calls, _CALLS):
            calls.append(_called(model, clock))
            if _now() >= end:
                break
    kernels = {node: kernel_of(model, node) for node in clock.nodes}
    counted = [calls[position] for position in undisturbed([call.seconds for call in calls])]
    rest = sum(max(0.0, call.seconds - call.covered) for call in counted) / len(counted)
    announce("close the model")
    return _Timed(clock.times(counted), len(counted), rest, arena), kernels


def _operators(
    job: ModelJob, inputs: Arrays, tensors: Sequence[Sequence[str]], announce: Callable[[str], None]
) -> dict[tuple[int, tuple[int, ...]], tuple[tuple[str, float], ...]]:
    """Returns the operators of XNNPACK's nodes, by the subgraph and the ops of the node."""
    operators = _Operators()
    profiler = OperatorProfiler(operators.add)
    # XNNPACK counts the time of its operators if there is a profiler when it takes the nodes.
    observer = NodeObserver(tensors, profiler=profiler.address)
    model = OpenedModel(job, inputs, announce, [observer])
    announce("time the operators of XNNPACK")
    end = _now() + job.seconds
    with NodeClock(observer.nodes()) as clock:
        operators.clock = clock
        _called(model, clock)
        for _ in range(min(job.calls, _OPERATOR_CALLS)):
            operators.begin_call()
            _called(model, clock)
            if _now() >= end:
                break
    announce("close the model")
    return operators.found()


def _called(model: OpenedModel, clock: NodeClock) -> TimedCall:
    model.set_inputs()
    return clock.call(model.invoke)


def kernel_of(model: OpenedModel, node: Node) -> str:
    """Returns what runs a node: ``LiteRT``, ``XNNPACK``, ``litefuse``, ``Python``, or a delegate's name."""
    if not node.delegate:
        return "LiteRT"
    known = model.interpreter.kernels_of_delegate(node.delegate)
    if known is not None:
        return known
    return XNNPACK if node.name == _KERNEL_OF_XNNPACK else node.name or "delegate"


class _Operators:
    """The operators that XNNPACK has reported, and the clock that knows which node runs."""

    def __init__(self) -> None:
        self.clock: NodeClock | None = None
        # The microseconds of each call by the node, the position of the operator and its name.
        self._calls: list[dict[tuple[Node, int, str], int]] = []

    def begin_call(self) -> None:
        """Counts what is reported from now on for another call."""
        self._calls.append({})

    def add(self, name: str, microseconds: int, position: int) -> None:
        """Counts an operator for the node that runs now."""
        node = None if self.clock is None else self.clock.running
        if node is not None and self._calls:
            key = node, position, name
            self._calls[-1][key] = self._calls[-1].get(key, 0) + microseconds

    def found(self) -> dict[tuple[int, tuple[int, ...]], tuple[tuple[str, float], ...]]:
        """Returns the operators of each node, in their order, with the seconds of each in a call, on average."""
        if not self._calls:
            return {}
        counted = [self._calls[position] for position in undisturbed([sum(call.values()) for call in self._calls])]
        totals: dict[Node, dict[tuple[int, str], int]] = {}
        for call in counted:
            for (node, position, name), microseconds in call.items():
                times = totals.setdefault(node, {})
                times[position, name] = times.get((position, name), 0) + microseconds
        return {
            (node.subgraph, node.ops): tuple(
                (name, total / len(counted) / 1e6) for (_, name), total in sorted(times.items())
            )
            for node, times in totals.items()
            # Otherwise the runtime has made others meanwhile.
            if [position for position, _ in sorted(times)] == list(range(len(times)))
        }
