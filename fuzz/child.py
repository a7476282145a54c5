"""A forked child that tries mutants: watched for its death, for the time it takes, and for its memory."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

_TICK = 0.25
_TAIL = 20_000
_FRAME = re.compile(r'File "(?P<file>[^"]*)", line (?P<line>\d+) in (?P<name>\S+)')
# A frame of a report of a sanitizer: "#1 0x7f in Name(args) /file.cc:12" or "#1 0x7f  (/library.so+0x12)".
_NATIVE_FRAME = re.compile(
    r"^\s*#\d+ 0x[0-9a-f]+ (?:in (?P<function>[\w:~<>*& ]+).*? )?\(?(?P<file>/[^\s:+)]+)(?P<place>[:+]\w+)?",
    re.MULTILINE,
)
_REPORT = re.compile(r"ERROR: \w+Sanitizer: (?P<asan>[\w-]+)|runtime error: (?P<ubsan>[^\n]*)|(?P<tsan>data race)")
_SANITIZERS = re.compile(r"lib(asan|ubsan|tsan|stdc\+\+|c|m|gcc_s|pthread)[.-]|sanitizer_common|/libsanitizer/")


class Stop(Enum):
    """Why a child ended before it was done."""

    DEATH = "it died"
    TIME = "it took too long"
    MEMORY = "it took too much memory"


@dataclass(frozen=True)
class Limits:
    """What one mutant may take.

    Attributes:
        timeout: Seconds.
        memory: Bytes of the child and its children.
        slow: Seconds after which ``is_contained`` is asked.
    """

    timeout: float
    memory: int
    slow: float


@dataclass(frozen=True)
class Ending:
    """How a child ended before it was done.

    Attributes:
        stop: Why.
        how: The signal or exit code.
        stderr: The end of what it wrote, with the stack of the Python code, and reports of sanitizers.
    """

    stop: Stop
    how: str
    stderr: str

    @property
    def report(self) -> str:
        """What a sanitizer calls the fault; empty if none reported one."""
        found = _REPORT.search(self.stderr)
        return next((text for text in found.groups() if text), "") if found else ""

    @property
    def native_frame(self) -> tuple[str, str]:
        """The file or library of the innermost frame in a sanitizer's report, and the function in it; may be empty."""
        report = _REPORT.search(self.stderr)
        for frame in _NATIVE_FRAME.finditer(self.stderr, report.start()) if report else ():
            if not _SANITIZERS.search(frame["file"]):
                return frame["file"], (frame["function"] or "").strip()
        return "", ""

    @property
    def python_frame(self) -> tuple[str, str]:
        """The file of the innermost frame of Python code, and its line and function; may be empty."""
        thread = self.stderr.rpartition("Current thread")[2] or self.stderr
        frame = _FRAME.search(thread)
        return (frame["file"], f"{frame['line']} in {frame['name']}") if frame else ("", "")

    @property
    def place(self) -> str:
        """Where it was, in the code that says most."""
        file, where = self.native_frame
        if file:
            return f"{self.report[:80]} in {where or 'a function'} of {Path(file).name}"
        file, where = self.python_frame
        return f"{'/'.join(Path(file).parts[-2:])}:{where}" if file else "an unknown place"


_Item = tuple[Any, Any]


def run_in_child(
    items: Iterator[Any],
    function: Callable[[Any], Any],
    limits: Limits,
    is_contained: Callable[[Ending], bool] = lambda _: False,
) -> Iterator[tuple[Any, Any | Ending]]:
    """Runs a function of each item in one forked child.

    Args:
        items: What to run it on; each can be written as JSON.
        function: Its result can be written as JSON, too.
        limits: What each item may take.
        is_contained: Whether an item that is slow is to be ended at once, given where it is.

    Yields:
        Each item with its result, or with how it ended the child; no item follows that.
    """
    receive, send = os.pipe()
    with tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            os.close(receive)
            _serve(items, function, send, stderr.fileno())
        os.close(send)
        try:
            yield from _watch(child, receive, stderr.fileno(), limits, is_contained)
        finally:
            os.close(receive)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _serve(items: Iterator[Any], function: Callable[[Any], Any], send: int, stderr: int) -> None:
    """What the child does; it does not return."""
    code = 1
    try:
        os.setpgid(0, 0)  # its own children end with it
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(quiet, 1)
        os.dup2(stderr, 2)
        os.set_blocking(2, True)
        sys.stderr = open(2, "w", closefd=False, errors="replace")  # noqa: SIM115
        faulthandler.enable(2)
        faulthandler.register(signal.SIGUSR1, 2, all_threads=True)

        def say(*values: Any) -> None:
            line = memoryview(json.dumps(values).encode() + b"\n")
            while line:
                line = line[os.write(send, line) :]

        for item in items:
            os.ftruncate(2, 0)
            os.lseek(2, 0, os.SEEK_SET)
            say("begin", item)
            say("end", function(item))
        code = 0
    except BaseException:  # noqa: BLE001  a child must not go on with what its parent does
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _watch(
    child: int, receive: int, stderr: int, limits: Limits, is_contained: Callable[[Ending], bool]
) -> Iterator[tuple[Any, Any | Ending]]:
    pending, item, begun, looked = b"", None, time.monotonic(), False
    while True:
        readable, _, _ = select.select([receive], [], [], _TICK)
        if readable:
            data = os.read(receive, 1 << 16)
            if not data:
                _, status = os.waitpid(child, 0)
                code = os.waitstatus_to_exitcode(status)
                if code != 0:
                    yield item, Ending(Stop.DEATH, _how(code), _tail(stderr))
                return
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                kind, value = json.loads(line)
                if kind == "begin":
                    item, begun, looked = value, time.monotonic(), False
                else:
                    yield item, value
            begun = time.monotonic() if lines else begun
            continue
        taken = time.monotonic() - begun
        if _memory(child) > limits.memory:
            yield item, Ending(Stop.MEMORY, "memory", _stack(child, stderr))
            return
        if taken > limits.slow and not looked:
            looked = True
            ending = Ending(Stop.TIME, "time", _stack(child, stderr))
            if is_contained(ending):
                yield item, ending
                return
        if taken > limits.timeout:
            yield item, Ending(Stop.TIME, "time", _stack(child, stderr))
            return


def _how(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
    return f"exit code {code}"


def _stack(child: int, stderr: int) -> str:
    """Where the child is; it says so itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGUSR1)
    time.sleep(_TICK)
    return _tail(stderr)


def _tail(stderr: int) -> str:
    size = os.fstat(stderr).st_size
    return os.pread(stderr, _TAIL, max(0, size - _TAIL)).decode(errors="replace")


def _memory(group: int) -> int:
    """Bytes of memory that the processes of a group hold; 0 where the system does not tell (it has no /proc)."""
    total, page = 0, os.sysconf("SC_PAGE_SIZE")
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = folder.joinpath("stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int(fields[21]) * page
    return total
