"""Time and memory limits of the processes that convert."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from litefuse.errors import LimitError, LitefuseError

# The messages of Python, C++, LLVM, the loader and protobuf when memory is exhausted.
_OUT_OF_MEMORY = (
    *("bad_alloc", "out of memory", "cannot allocate memory", "memoryerror", "failed to map segment"),
    "failed to serialize proto",
)


# A year, in seconds: timers have an upper bound.
_LONGEST = 365 * 24 * 3600


def _is_number(value: object, *others: type) -> bool:
    return isinstance(value, (int, *others)) and not isinstance(value, bool)


class ProcessLimits:
    """The limits of the processes of one conversion.

    Attributes:
        timeout: The maximum time in seconds, for all together; None for no limit.
        memory: The maximum memory of each in bytes, without mapped files; None for no limit.
    """

    def __init__(self, timeout: float | None = None, memory: int | None = None) -> None:
        if timeout is not None and not (_is_number(timeout, float) and 0 < timeout <= _LONGEST):
            raise LitefuseError(f"timeout must be a number of seconds above 0 and at most a year, not {timeout!r}")
        if memory is not None and not (_is_number(memory) and 0 < memory < 1 << 63):
            raise LitefuseError(f"memory must be a number of bytes above 0, not {memory!r}")
        if memory is not None and sys.platform != "linux":
            raise LitefuseError(
                "memory can be limited only on Linux: other systems do not enforce limits on a process's memory",
                hint="Leave out memory (on the command line, --memory), or run it in a container with a limit.",
            )
        self.timeout, self.memory = timeout, memory
        self._begun = time.monotonic()

    @property
    def remaining(self) -> float | None:
        """The remaining seconds; None without a limit."""
        return None if self.timeout is None else max(self._begun + self.timeout - time.monotonic(), 0.0)

    def at_most(self, seconds: float) -> ProcessLimits:
        """Returns these limits with no more time than some seconds, from now on."""
        remaining = self.remaining
        return ProcessLimits(seconds if remaining is None else max(min(seconds, remaining), 0.01), self.memory)

    def check_time(self, step: str) -> None:
        """Checks that time is left.

        Raises:
            LimitError: The time is over.
        """
        if self.remaining == 0:
            raise self.out_of_time(step)

    def out_of_time(self, step: str) -> LimitError:
        """Returns the error for a process that was killed because its time was over."""
        return LimitError(
            f"it took longer than the limit timeout ({self.timeout:g} seconds) and was ended in the step {step!r}",
            hint="Pass a larger timeout, or none (on the command line, --timeout SECONDS).",
            limit="timeout",
        )

    def out_of_memory(self, text: str) -> LimitError | None:
        """Returns the error for a process whose last output is ``text``; None if it is not about memory."""
        if self.memory is None or not tells_of_no_memory(text):
            return None
        return LimitError(
            f"it needs more memory than the limit memory ({self.memory:,} bytes)",
            hint="Pass a larger memory, or none (on the command line, --memory BYTES).",
            limit="memory",
        )


_current: ContextVar[ProcessLimits] = ContextVar("process_limits", default=ProcessLimits())  # noqa: B039  nobody changes it


def process_limits() -> ProcessLimits:
    """Returns the limits for processes started now."""
    return _current.get()


def chosen_limits(timeout: float | None, memory: int | None) -> ProcessLimits:
    """Returns the limits that somebody chose, or those that hold already if none is chosen."""
    return process_limits() if timeout is None and memory is None else ProcessLimits(timeout, memory)


@contextmanager
def processes_limited(limits: ProcessLimits) -> Generator[None]:
    """Applies limits to the processes that are started, or get jobs, in the context."""
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)


def tells_of_no_memory(text: str) -> bool:
    """Whether the last output of a process says that memory is exhausted."""
    return any(message in text.lower() for message in _OUT_OF_MEMORY)


@contextmanager
def extra_memory(size: int) -> Generator[None]:
    """Limits this process in the context to some bytes more than it uses now, on Linux; see :func:`limit_memory`."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    given = [_data_bytes() + size, *(limit for limit in (before, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(given), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _data_bytes() -> int:
    """Returns the bytes of private memory of this process."""
    import resource

    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()


def limit_memory(size: int) -> bool:
    """Limits the private memory of this process, on Linux: allocations and anonymous mappings, not mapped files.

    Returns:
        Whether any is left; if not, no limit is set, since the process could not even report that.
    """
    import resource

    if _data_bytes() >= size:
        return False
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    return True
