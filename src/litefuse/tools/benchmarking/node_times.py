"""The time of each node: a clock around the function that the runtime calls to run it.

A delegate may see nodes, and the struct that has their functions is each node's own: its ``invoke`` is replaced by one
that looks at the clock, calls the original, and looks again. So all nodes are timed that the runtime runs, whoever has
the kernel, those in the bodies of loops too, and no kernel is another than without the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.litert.runtime import abi
from litefuse.tools.benchmarking.clocks import new_clock
from litefuse.tools.benchmarking.nodes import Node

if TYPE_CHECKING:
    from typing_extensions import Self


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


class NodeClock:
    """Times nodes, in a ``with`` statement, or from when it is made until :meth:`remove`. There is one at a time.

    Args:
        nodes: The nodes. They must stay where they are: the interpreter is given no more delegates.

    Attributes:
        nodes: Those that have a clock.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = [node for node in nodes if _registration(node).invoke]
        self._originals = [_registration(node).invoke or 0 for node in self.nodes]
        self._clock = new_clock([node.address for node in self.nodes], self._originals)
        self._clock.reset()
        for node, function in zip(self.nodes, self._clock.functions(), strict=True):
            _registration(node).invoke = function

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Gives the nodes their own functions back."""
        for node, original in zip(self.nodes, self._originals, strict=True):
            _registration(node).invoke = original
        self._clock.end()

    def call(self, run: Callable[[], None]) -> TimedCall:
        """Times the nodes while a function calls the model."""
        self._clock.reset()
        begun = time.perf_counter_ns()
        run()
        seconds = (time.perf_counter_ns() - begun) / 1e9
        reading = self._clock.read()
        return TimedCall(seconds, reading.covered / 1e9, reading.times, reading.runs)

    @property
    def running(self) -> Node | None:
        """The node that runs now, the innermost one; None outside of all."""
        position = self._clock.running()
        return None if position < 0 else self.nodes[position]

    def times(self, calls: Sequence[TimedCall]) -> list[NodeTime]:
        """Returns the mean times of all nodes, in their order, without what the clock takes."""
        times: list[NodeTime] = []
        for position, node in enumerate(self.nodes):
            runs = sum(call.runs[position] for call in calls)
            nanoseconds = sum(call.times[position] for call in calls) - runs * self._clock.within
            times.append(NodeTime(node, max(0.0, nanoseconds) / 1e9 / len(calls), runs / len(calls)))
        return times


def undisturbed(seconds: Sequence[float]) -> list[int]:
    """Returns the positions of the calls to count: the shorter half.

    What else the machine does makes some calls many times as long as others, and none shorter.
    """
    ordered = sorted(range(len(seconds)), key=lambda position: seconds[position])
    return ordered[: (len(ordered) + 1) // 2]


def _registration(node: Node) -> abi.TfLiteRegistration:
    return abi.TfLiteRegistration.from_address(node.registration)
