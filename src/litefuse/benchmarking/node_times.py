"""The time of each node: a clock around the function that the runtime calls to run it.

A delegate may see nodes, and the struct that has their functions is each node's own: its ``invoke`` is replaced by one
that looks at the clock, calls the original, and looks again. So all nodes are timed that the runtime runs, whoever has
the kernel, those in the bodies of loops too, and no kernel is another than without the clock.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from ctypes import c_int, c_void_p
from dataclasses import dataclass
from typing import Any, NamedTuple

from litefuse.benchmarking.nodes import Node
from litefuse.runtime import abi

__all__ = ["NodeClock", "NodeTime", "TimedCall", "undisturbed"]

# Kernels may wait for other threads, so that the lock of Python is released meanwhile.
_INVOKE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_CALIBRATION = 2000
_now = time.perf_counter_ns


class TimedCall(NamedTuple):
    """The nodes in one call of a model.

    Attributes:
        seconds: How long the call took, with the clocks.
        covered: How long the nodes of the outermost subgraph took, with the clocks around them.
        times: The nanoseconds of each node, all its runs together, without those of the nodes of the subgraphs that it
            runs.
        runs: How often each node ran.
    """

    seconds: float
    covered: float
    times: list[int]
    runs: list[int]


class NodeTime(NamedTuple):
    """The time of a node in a call, on average.

    Attributes:
        node: The node.
        seconds: Its time without that of the nodes of the subgraphs that it runs.
        runs: How often it ran.
    """

    node: Node
    seconds: float
    runs: float


@dataclass
class _Frame:
    """A node that runs now.

    Attributes:
        node: Its position.
        inside: How many nanoseconds the nodes in its subgraphs have taken, with the clocks around them.
    """

    node: int
    inside: int = 0


class NodeClock:
    """Times nodes, from when it is made until :meth:`remove`.

    Args:
        nodes: The nodes. They must stay where they are: the interpreter is given no more delegates.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        #: The nodes that have a clock.
        self.nodes = [node for node in nodes if _registration(node).invoke]
        self._times = [0] * len(self.nodes)
        self._runs = [0] * len(self.nodes)
        self._stack: list[_Frame] = [_Frame(-1)]
        self._between, self._around = _calibrated()
        self._originals = [_registration(node).invoke or 0 for node in self.nodes]
        self._callbacks: list[Any] = []
        for position, node in enumerate(self.nodes):
            callback = abi.CALLBACK(self._timed(position, self._originals[position], node.address))
            self._callbacks.append(callback)
            _registration(node).invoke = abi.address_of(callback)

    def remove(self) -> None:
        """Gives the nodes their own functions back."""
        for node, original in zip(self.nodes, self._originals, strict=True):
            _registration(node).invoke = original

    def call(self, run: Callable[[], None]) -> TimedCall:
        """Times the nodes while a function calls the model."""
        self._times[:] = [0] * len(self._times)
        self._runs[:] = [0] * len(self._runs)
        self._stack[0].inside = 0
        begun = _now()
        run()
        seconds = (_now() - begun) / 1e9
        return TimedCall(seconds, self._stack[0].inside / 1e9, self._times[:], self._runs[:])

    @property
    def running(self) -> Node | None:
        """The node that runs now, the innermost one; None outside of all."""
        position = self._stack[-1].node
        return None if position < 0 else self.nodes[position]

    def times(self, calls: Sequence[TimedCall]) -> list[NodeTime]:
        """Returns the mean times of all nodes, in their order, without what the clock takes."""
        found: list[NodeTime] = []
        for position, node in enumerate(self.nodes):
            runs = sum(call.runs[position] for call in calls)
            nanoseconds = sum(call.times[position] for call in calls) - runs * self._between
            found.append(NodeTime(node, max(0.0, nanoseconds) / 1e9 / len(calls), runs / len(calls)))
        return found

    def _timed(self, position: int, original: int, address: int) -> Callable[[int], int]:
        call = _INVOKE(original)
        stack, times, runs, around, now = self._stack, self._times, self._runs, round(self._around), _now

        def invoke(context: int) -> int:
            entered = now()
            frame = _Frame(position)
            stack.append(frame)
            begun = now()
            status = call(context, address)
            ended = now()
            stack.pop()
            times[position] += ended - begun - frame.inside
            runs[position] += 1
            stack[-1].inside += now() - entered + around
            return status

        return invoke


def undisturbed(seconds: Sequence[float]) -> list[int]:
    """Returns the positions of the calls to count: not the longest quarter, which something else has disturbed."""
    ordered = sorted(range(len(seconds)), key=lambda position: seconds[position])
    return ordered[: max(1, len(ordered) * 3 // 4)]


def _calibrated() -> tuple[float, float]:
    """Measures what the clock itself takes, in nanoseconds.

    Returns:
        The time that a node seems to take whose function does nothing, and how long it is from the call of a node with
        a clock to its first line, and back from its last.
    """
    function = ctypes.CDLL(None).abs
    original: int = ctypes.cast(function, c_void_p).value or 0
    call = _INVOKE(original)
    within: list[int] = []
    whole: list[int] = []
    total: list[int] = []

    def invoke(context: int) -> int:
        entered = _now()
        frame = _Frame(0)
        begun = _now()
        status = call(context, 0)
        ended = _now()
        frame.inside += ended - begun
        within.append(ended - begun)
        whole.append(_now() - entered)
        return status

    callback = abi.CALLBACK(invoke)
    clocked = _INVOKE(abi.address_of(callback))
    direct: list[int] = []
    for _ in range(_CALIBRATION):
        begun = _now()
        clocked(0, 0)
        total.append(_now() - begun)
        begun = _now()
        call(0, 0)
        direct.append(_now() - begun)
    between = statistics.median(within)
    around = statistics.median(total) - statistics.median(whole) - statistics.median(direct)
    return between, max(0.0, around)


def _registration(node: Node) -> abi.TfLiteRegistration:
    return abi.TfLiteRegistration.from_address(node.registration)
