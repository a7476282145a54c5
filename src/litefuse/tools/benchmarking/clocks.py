"""The clocks that time nodes: in C++, or in Python where litefuse was installed without its native kernels.

Each has a function that is put in the place of a node's own ``invoke``. It looks at the clock, calls the original,
looks again, and adds up the time without that of the nodes in the subgraphs that the node runs.
"""

from __future__ import annotations

import ctypes
import functools
import statistics
import time
from collections.abc import Callable, Sequence
from ctypes import c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, NamedTuple, Protocol

from litefuse.litert.runtime import abi
from litefuse.litert.runtime.kernel_pack import native_library
from litefuse.litert.runtime.process_memory import c_library


class Reading(NamedTuple):
    """Counts of a clock since its last reset.

    Attributes:
        times: The nanoseconds of each node, with what the clock itself adds to each run.
        runs: How often each node ran.
        covered: How many nanoseconds the nodes of the outermost subgraph took, with the clocks around them.
    """

    times: list[int]
    runs: list[int]
    covered: int


class Clock(Protocol):
    """A clock around nodes."""

    #: How many nanoseconds a run seems to take of a node that does nothing.
    within: float

    def functions(self) -> Sequence[int]:
        """Returns the address of the function for each node."""
        ...

    def reset(self) -> None:
        """Begins to count."""
        ...

    def read(self) -> Reading:
        """Returns what was counted."""
        ...

    def running(self) -> int:
        """Returns the position of the node that runs now, the innermost one; -1 outside of all."""
        ...

    def end(self) -> None:
        """Ends it; the nodes must have their own functions again."""
        ...


def new_clock(nodes: Sequence[int], originals: Sequence[int]) -> Clock:
    """Makes a clock, the only one at that time."""
    library = _library()
    return PythonClock(nodes, originals) if library is None else NativeClock(library, nodes, originals)


@functools.cache
def _library() -> ctypes.CDLL | None:
    """Loads the native kernels' library; None if there is none, or an older one."""
    path = native_library()
    if path is None:
        return None
    try:
        library = ctypes.CDLL(str(path))
        library.litefuse_clock_invoke.restype = c_void_p
        library.litefuse_clock_read.restype = c_int64
        library.litefuse_clock_running.restype = c_int32
    except (OSError, AttributeError):
        return None
    return library


class NativeClock:
    """The clock of ``native/clock/node_clock.cc``."""

    def __init__(self, library: ctypes.CDLL, nodes: Sequence[int], originals: Sequence[int]) -> None:
        self._library = library
        self._count = len(nodes)
        within, around = c_double(), c_double()
        library.litefuse_clock_overhead(ctypes.byref(within), ctypes.byref(around))
        self.within = within.value
        self._around = max(0, round(around.value))
        addresses = c_void_p * self._count
        library.litefuse_clock_begin(c_size_t(self._count), addresses(*nodes), addresses(*originals))

    def functions(self) -> Sequence[int]:
        return [self._library.litefuse_clock_invoke()] * self._count

    def reset(self) -> None:
        self._library.litefuse_clock_reset(c_int64(self._around))

    def read(self) -> Reading:
        times, runs = (c_int64 * self._count)(), (c_int64 * self._count)()
        covered: int = self._library.litefuse_clock_read(times, runs)
        return Reading([*times], [*runs], covered)

    def running(self) -> int:
        return self._library.litefuse_clock_running()

    def end(self) -> None:
        self._library.litefuse_clock_end()


# Kernels may wait for other threads, so that the lock of Python is released meanwhile.
_INVOKE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_CALIBRATION = 2000
_now = time.perf_counter_ns


class _Frame:
    """A node that runs now: its position, and how long the nodes in its subgraphs took, with the clocks around them."""

    __slots__ = ("inside", "node")

    def __init__(self, node: int) -> None:
        self.node = node
        self.inside = 0


class PythonClock:
    """A clock whose functions are in Python, which takes a microsecond for each run of a node."""

    def __init__(self, nodes: Sequence[int], originals: Sequence[int]) -> None:
        self._times, self._runs = [0] * len(nodes), [0] * len(nodes)
        self._stack = [_Frame(-1)]
        self.within, self._around = _calibrated()
        self._callbacks: list[Any] = [
            abi.CALLBACK(self._timed(position, original, node))
            for position, (node, original) in enumerate(zip(nodes, originals, strict=True))
        ]

    def functions(self) -> Sequence[int]:
        return [abi.address_of(callback) for callback in self._callbacks]

    def reset(self) -> None:
        self._times[:], self._runs[:] = [0] * len(self._times), [0] * len(self._runs)
        self._stack[:] = [_Frame(-1)]

    def read(self) -> Reading:
        return Reading(self._times[:], self._runs[:], self._stack[0].inside)

    def running(self) -> int:
        return self._stack[-1].node

    def end(self) -> None:
        """Keeps the callbacks, which belong to this object."""

    def _timed(self, position: int, original: int, node: int) -> Callable[[int], int]:
        call = _INVOKE(original)
        stack, times, runs, around, now = self._stack, self._times, self._runs, self._around, _now

        def invoke(context: int) -> int:
            entered = now()
            frame = _Frame(position)
            stack.append(frame)
            begun = now()
            status = call(context, node)
            ended = now()
            stack.pop()
            times[position] += ended - begun - frame.inside
            runs[position] += 1
            stack[-1].inside += now() - entered + around
            return status

        return invoke


@functools.cache
def _calibrated() -> tuple[float, int]:
    """Measures how many nanoseconds a node seems to take that does nothing, and the way to its clock and back."""
    original: int = ctypes.cast(c_library().abs, c_void_p).value or 0
    call = _INVOKE(original)
    within: list[int] = []
    whole: list[int] = []
    total: list[int] = []
    direct: list[int] = []

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
    for _ in range(_CALIBRATION):
        begun = _now()
        clocked(0, 0)
        total.append(_now() - begun)
        begun = _now()
        call(0, 0)
        direct.append(_now() - begun)
    around = statistics.median(total) - statistics.median(whole) - statistics.median(direct)
    return statistics.median(within), max(0, round(around))
