"""Running a function in a process of its own: the engine's death is an exception, and TensorFlow never meets it."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.temporary import make_temporary_file

__all__ = ["prepare_worker", "run_alone", "run_in_worker"]

# A conversion frees what it took, but an allocator keeps some of it: a process is replaced after so many.
_JOBS_PER_WORKER = 200
_STDERR_TAIL = 2000
# OpenBLAS begins with a thread for each core, which takes as long as a third of loading numpy; no conversion uses them.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}

_idle: list[_Worker] = []
_lock = threading.Lock()


class _Worker:
    def __init__(self, environment: Mapping[str, str] | None = None, module: str = "") -> None:
        child_receives, parent_sends = os.pipe()
        parent_receives, child_sends = os.pipe()
        self._stderr = make_temporary_file()
        # The paths of this process let the worker find litefuse and the plug-ins where this process found them.
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from litefuse.processes.worker import main; main({child_receives}, {child_sends}, {module!r})"
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                pass_fds=(child_receives, child_sends),
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                env={**_ENVIRONMENT, **os.environ} if environment is None else {**os.environ, **environment},
            )
        finally:
            os.close(child_receives)
            os.close(child_sends)
        self._requests = os.fdopen(parent_sends, "wb", buffering=0)
        self._answers = os.fdopen(parent_receives, "rb")
        self.jobs = 0
        self.owner = os.getpid()

    def run(self, target: str, argument: object, announce: Callable[[str], None]) -> Any:
        self.jobs += 1
        step = "start"
        request = memoryview(pickle.dumps((target, argument)))
        try:
            while request:
                request = request[self._requests.write(request) :]
            while True:
                kind, value = pickle.load(self._answers)
                if kind == "step":
                    step = value
                    announce(step)
                else:
                    break
        except (EOFError, pickle.UnpicklingError, BrokenPipeError):  # it ended, perhaps within an answer
            raise self._crash(step) from None
        if kind == "failed":
            raise value
        return value

    def close(self) -> None:
        self._requests.close()
        self._answers.close()
        self._process.kill()
        self._process.wait()
        self._stderr.close()

    def _crash(self, step: str) -> EngineCrashError:
        code = self._process.wait()
        how = f"exit code {code}"
        if code < 0:
            how = signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_TAIL))
        output = self._stderr.read().decode(errors="replace").strip()
        message = f"the conversion process died ({how}) in the step {step!r}"
        return EngineCrashError(f"{message}\n{output}" if output else message, step=step)


def prepare_worker(module: str) -> None:
    """Starts the process of the next :func:`run_in_worker` if there is none yet.

    It imports a module while this process does other things.

    Args:
        module: The module; ``sys.path`` must not change any more until it is needed.
    """
    _give_back(_take(module))


def run_in_worker(target: str, argument: object, announce: Callable[[str], None] = lambda _: None) -> Any:
    """Runs a function ``f(argument, announce)`` in a worker process and returns its result.

    A worker is kept for the next call. Argument and result are pickled.

    Args:
        target: The function, as ``package.module:function``; its module need not be imported here.
        argument: What it gets.
        announce: Called here with each step that the function announces there.

    Raises:
        EngineCrashError: The process died; ``step`` says in which step.
        LitefuseError: What the function raises.
    """
    worker = _take(target.partition(":")[0])
    try:
        result = worker.run(target, argument, announce)
    except LitefuseError as error:
        if isinstance(error, EngineCrashError):
            worker.close()
        else:
            _give_back(worker)
        raise
    except BaseException:  # an interrupt may come between request and answer
        worker.close()
        raise
    _give_back(worker)
    return result


def run_alone(target: str, argument: object, *, environment: Mapping[str, str]) -> Any:
    """As :func:`run_in_worker`, in a process that does this alone: what it loads, no conversion meets.

    Args:
        target: The function, as ``package.module:function``; its module need not be imported here.
        argument: What it gets.
        environment: Environment variables to set there.

    Raises:
        EngineCrashError: The process died; ``step`` says in which step.
        LitefuseError: What the function raises.
    """
    worker = _Worker(environment)
    try:
        return worker.run(target, argument, lambda _: None)
    finally:
        worker.close()


def _take(module: str) -> _Worker:
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.owner == os.getpid():  # after a fork, the parent's workers are not ours
                return worker
    return _Worker(module=module)


def _give_back(worker: _Worker) -> None:
    if worker.jobs >= _JOBS_PER_WORKER:
        worker.close()
        return
    with _lock:
        _idle.append(worker)


@atexit.register
def _close_idle() -> None:
    with _lock:
        for worker in _idle:
            if worker.owner == os.getpid():
                worker.close()
        _idle.clear()
