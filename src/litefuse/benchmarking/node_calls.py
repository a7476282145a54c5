"""Entry point of the process that times the nodes of a model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from litefuse.benchmarking.calls import warm_up
from litefuse.benchmarking.file_ops import ops_of_file
from litefuse.benchmarking.job import ModelJob, NodeCalls, ProfiledNode
from litefuse.benchmarking.node_times import NodeClock, TimedCall, undisturbed
from litefuse.benchmarking.nodes import Node, NodeObserver, arena_bytes
from litefuse.benchmarking.opened import OpenedModel, import_kernels, inputs_of
from litefuse.benchmarking.operator_profiler import OperatorProfiler

__all__ = ["NODES", "XNNPACK", "NodeJob", "kernel_of", "kernel_of_name", "time_nodes"]

#: The function to run in the process.
NODES = "litefuse.benchmarking.node_calls:time_nodes"
#: What XNNPACK is called here; the runtime calls its kernel by the other name.
XNNPACK, _KERNEL_OF_XNNPACK = "XNNPACK", "TfLiteXNNPackDelegate"

# The most calls in which ops are timed.
_CALLS = 200

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

    In every second call, XNNPACK reports its operators, which takes time: these calls do not count otherwise.

    Raises:
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    import_kernels(job.model, announce)
    operators = _Operators()
    profiler = OperatorProfiler(operators.add)
    # XNNPACK counts the time of its operators if there is a profiler when it takes the nodes.
    observer = NodeObserver(ops_of_file(job.model.model).tensors, profiler=profiler.address if job.operators else 0)
    model = OpenedModel(job.model, inputs_of(job.model), announce, [observer])
    announce("first call")
    observer.set_profiler(0)
    model.set_inputs()
    model.invoke()
    warm_up(model, job.model)
    arena = sum(arena_bytes(context) for _, context in observer.contexts())
    announce("time the ops")
    clock = operators.clock = NodeClock(observer.nodes())
    kernels = {node: kernel_of(model, node) for node in clock.nodes}
    has_operators = job.operators and XNNPACK in kernels.values()
    calls: list[TimedCall] = []
    end = _now() + job.model.seconds
    try:
        _called(model, clock)  # its own code is in the caches then
        while len(calls) < min(job.model.calls, _CALLS):
            calls.append(_called(model, clock))
            if has_operators:
                operators.begin_call()
                observer.set_profiler(profiler.address)
                _called(model, clock)
                observer.set_profiler(0)
            if _now() >= end:
                break
    finally:
        clock.remove()
    counted = [calls[position] for position in undisturbed([call.seconds for call in calls])]
    times = clock.times(counted)
    rest = sum(max(0.0, call.seconds - call.covered) for call in counted) / len(counted)
    found = operators.found()
    announce("close the model")
    nodes = [
        ProfiledNode(
            each.node.subgraph, each.node.ops, kernels[each.node], each.seconds, each.runs, found.get(each.node, ())
        )
        for each in times
    ]
    return NodeCalls(nodes, len(counted), sum(each.seconds for each in nodes) + rest, arena)


def _called(model: OpenedModel, clock: NodeClock) -> TimedCall:
    model.set_inputs()
    return clock.call(model.invoke)


def kernel_of(model: OpenedModel, node: Node) -> str:
    """Returns what runs a node: ``LiteRT``, ``XNNPACK``, ``litefuse``, ``Python``, or a delegate's name."""
    if not node.delegate:
        return "LiteRT"
    known = model.interpreter.kernels_of_delegate(node.delegate)
    return kernel_of_name(node.name) if known is None else known


def kernel_of_name(name: str) -> str:
    """Returns what a delegate is called here whose kernel has a name in the runtime."""
    return XNNPACK if name == _KERNEL_OF_XNNPACK else name or "delegate"


class _Operators:
    """The operators that XNNPACK has reported.

    Attributes:
        clock: Knows which node runs; None before there is a clock.
    """

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

    def found(self) -> dict[Node, tuple[tuple[str, float], ...]]:
        """Returns the operators of each node, in their order, with the seconds of each in a call, on average."""
        if not self._calls:
            return {}
        counted = [self._calls[each] for each in undisturbed([sum(call.values()) for call in self._calls])]
        totals: dict[Node, dict[tuple[int, str], int]] = {}
        for call in counted:
            for (node, position, name), microseconds in call.items():
                times = totals.setdefault(node, {})
                times[position, name] = times.get((position, name), 0) + microseconds
        return {
            node: tuple((name, total / len(counted) / 1e6) for (_, name), total in sorted(times.items()))
            for node, times in totals.items()
            # Otherwise the runtime has made others meanwhile.
            if [position for position, _ in sorted(times)] == list(range(len(times)))
        }
