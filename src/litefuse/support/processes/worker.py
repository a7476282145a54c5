"""Entry point of the child process that runs conversions or a model.

It serves jobs from a connection until that closes. Each request has the name of a function
(``package.module:function``), its argument, and the level of the log records that are wanted; during the work, the
process sends ``("step", name)``, ``("log", record)`` and ``("said", line)``, of what plug-ins print; at the end
``("done", result)`` or ``("failed", exception)``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import pkgutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from litefuse.errors import LitefuseError
from litefuse.support.processes.inherited_pipes import open_descriptor
from litefuse.support.processes.limits import limit_memory
from litefuse.support.processes.voices import give_voice, speaker

# The exit code of a fork that has sent its answer: one that a model makes exit has another.
_ANSWERED = 111
_MAPPINGS = Path("/proc/self/smaps")  # proc_pid_smaps(5)
_SMALLEST = 1 << 20


def main(receives: int, sends: int, module: str, shown: bool, memory: int = 0) -> None:
    """Serves jobs.

    Args:
        receives: The inherited end of the pipe for requests, as ``inherited_pipes`` numbers it.
        sends: The same of the pipe for answers.
        module: The module to import before the first job.
        shown: Whether it shares the standard streams of the parent process, to run a model with user kernels;
            otherwise it runs conversions.
        memory: The limit of its private memory in bytes, set after the import; 0 for no limit.
    """
    _leave_interrupts()
    receive_fd, send_fd = open_descriptor(receives, os.O_RDONLY), open_descriptor(sends, os.O_WRONLY)
    if not shown:
        gc.disable()  # imported objects stay, and a job makes few cycles: collecting them takes 5% of its time
    if module:
        with contextlib.suppress(Exception):  # the job that needs it reports what is wrong
            importlib.import_module(module)
        if not shown:
            gc.freeze()
            release_library_pages()
    has_memory = not memory or limit_memory(memory)
    modules = len(sys.modules)
    sending = threading.Lock()  # plug-ins may print in threads
    with os.fdopen(receive_fd, "rb") as requests, os.fdopen(send_fd, "wb") as answers:

        def send(kind: str, value: Any) -> None:
            told = pickle.dumps((kind, value))
            with sending:
                answers.write(told)
                answers.flush()

        def tell(stream: str, plug_in: str, line: str) -> None:
            send("said", (stream, plug_in, line))

        end_lines = (lambda: None) if shown else give_voice(tell)
        while True:
            try:
                target, argument, level = pickle.load(requests)
            except EOFError:
                return
            if not has_memory:
                send("failed", LitefuseError("out of memory"))
                continue
            answer = _run(target, argument, level, send)
            end_lines()
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(AttributeError, OSError, ValueError):  # None, full or closed by a kernel
                    stream.flush()  # before the parent process prints
            send(*answer)
            del answer
            if not shown:
                gc.collect()  # frees the MLIR context, which owns the weights, before the next conversion
                if len(sys.modules) != modules:  # what a job has imported stays: looking at it takes 7 ms each time
                    modules = len(sys.modules)
                    gc.freeze()


def _leave_interrupts() -> None:
    """Leaves interrupts to the parent process, which ends this one: a terminal interrupts both."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


def serve_forks(receive_fd: int, send_fd: int, module: str) -> None:
    """Serves jobs, each in a fork of this process, which has imported a module that takes long; on Linux alone.

    A request has the environment variables and the working directory of the parent process as well. If a fork dies,
    this process dies in the same way, so that the parent process sees what it would see without the fork.

    Args:
        receive_fd: The inherited end of the pipe for requests.
        send_fd: The inherited end of the pipe for answers.
        module: The module. It must start no thread.
    """
    assert sys.platform != "win32"
    _leave_interrupts()
    with contextlib.suppress(Exception):  # the job that needs it reports what is wrong
        importlib.import_module(module)
    gc.disable()
    gc.freeze()
    with os.fdopen(receive_fd, "rb") as requests:
        while True:
            try:
                target, argument, level, environment, folder = pickle.load(requests)
            except EOFError:
                return
            if (fork := os.fork()) == 0:
                _serve_fork(send_fd, target, argument, level, environment, folder)
            _, status = os.waitpid(fork, 0)
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                with contextlib.suppress(OSError):  # SIGKILL has no handler
                    signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            if code != _ANSWERED:
                os._exit(code)


def _serve_fork(
    send_fd: int, target: str, argument: Any, level: int | None, environment: dict[str, str], folder: str
) -> NoReturn:
    """Runs a job and ends the process."""
    _end_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    with contextlib.suppress(OSError):  # it is gone, as the job will find
        os.chdir(folder)
    with os.fdopen(send_fd, "wb") as answers:

        def send(kind: str, value: Any) -> None:
            answers.write(pickle.dumps((kind, value)))
            answers.flush()

        send(*_run(target, argument, level, send))
    os._exit(_ANSWERED)


def _end_with_parent() -> None:
    """Has the system kill this process when its parent dies: the parent is killed when the time is over."""
    assert sys.platform != "win32"
    import ctypes

    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _run(target: str, argument: Any, level: int | None, send: Callable[[str, Any], None]) -> tuple[str, Any]:
    if level is None:  # nobody listens to records, and logging need not be imported
        return _answer(target, argument, send)
    from litefuse.support.logs.records import forwarded

    with forwarded(level, lambda told: send("log", told), speaker):
        return _answer(target, argument, send)


def _answer(target: str, argument: Any, send: Callable[[str, Any], None]) -> tuple[str, Any]:
    def announce(step: str) -> None:
        send("step", step)

    try:
        return "done", pkgutil.resolve_name(target)(argument, announce)
    except LitefuseError as error:
        return "failed", _sendable(error)
    except RecursionError:
        return "failed", LitefuseError("the model nests functions or data too deeply", hint="Simplify the model.")
    except MemoryError:
        return "failed", LitefuseError("out of memory")
    except SystemExit as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return "failed", LitefuseError(
            f"sys.exit({error.code!r}) was called, which would end the process that works",
            where=f"{frame.filename}, line {frame.lineno}",
            hint="Raise an exception in its place; litefuse.LitefuseError is shown as it is.",
        )
    except OSError as error:
        return "failed", LitefuseError(f"{error.strerror or error}", where=str(error.filename or ""))
    except Exception as error:  # noqa: BLE001  any other error is a bug, whose traceback would be lost in this process
        trace = "".join(traceback.format_exception(error))
        return "failed", LitefuseError(
            f"{type(error).__name__}: {error}", hint=f"This is a bug in litefuse; please report it:\n{trace}"
        )


def _sendable(error: LitefuseError) -> LitefuseError:
    """Converts an error to a class that the parent process has, with its traceback as text."""
    trace = "".join(traceback.format_exception(error))
    if not type(error).__module__.startswith("litefuse."):  # from a user's file, which only this process has imported
        kind = next(base for base in type(error).__mro__ if base.__module__.startswith("litefuse."))
        texts = [getattr(error, name, "") for name in ("message", "where", "hint")]
        error = kind(texts[0] or "".join(traceback.format_exception_only(error)).strip(), where=texts[1], hint=texts[2])
    error.trace = trace
    return error.with_traceback(None)


def release_library_pages() -> None:
    """Drops the pages of all large read-only mappings that are unchanged from their files; only on Linux.

    Loading the engine's library reads its symbols and relocations and runs its initializers, and the system maps the
    pages around each access: 60 MB, of which a conversion needs a third again. They are mapped again when accessed.
    """
    if sys.platform != "linux" or not _MAPPINGS.exists():
        return
    import ctypes
    import mmap

    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for first, end in unwritten_mappings(_MAPPINGS.read_text()):
        if end - first >= _SMALLEST:
            madvise(first, end - first, mmap.MADV_DONTNEED)


def unwritten_mappings(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each private mapping of a file that is not writable and has no anonymous pages.

    Args:
        text: The contents of ``/proc/PID/smaps``.
    """
    addresses = permissions = inode = ""
    for line in text.splitlines():
        words = line.split()
        if not words[0].endswith(":"):  # a new mapping: addresses, permissions, offset, device, inode, path
            addresses, permissions, inode = words[0], words[1], words[4]
        elif words[:2] == ["Anonymous:", "0"] and inode != "0" and permissions.endswith("p") and "w" not in permissions:
            first, _, end = addresses.partition("-")
            yield int(first, 16), int(end, 16)
