"""Execution of functions in child processes: an engine crash becomes an exception, and TensorFlow is kept apart."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from litefuse.errors import EngineCrashError, LitefuseError, ModelCrashError
from litefuse.support.logs.events import DEBUG, ERROR, INFO, WARNING, event, is_heard
from litefuse.support.processes.endings import ProcessGroup, ending, is_crash, own_group
from litefuse.support.processes.inherited_pipes import numbers_there, popen_arguments, write_all
from litefuse.support.processes.limits import ProcessLimits, process_limits
from litefuse.support.processes.voices import say

# A conversion frees its memory, but the allocator keeps some of it: a process is replaced after this many jobs.
_JOBS_PER_WORKER = 200
_STDERR_TAIL = 2000
_FIRST_STEP = "start"  # before the function announces one
# OpenBLAS starts a thread per core, which takes a third of the time of loading numpy; no conversion uses them.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}

# Variables that modules read when they are imported, and not later.
_READ_ON_IMPORT = ("TF_", "CUDA_", "OMP_", "OPENBLAS_", "PYTHON", "LD_")

# How long a process may take to exit after its work: user kernels may still have something to write.
_END_SECONDS = 30

_WorkerT = TypeVar("_WorkerT", bound="Worker")


class Worker:
    """A process that serves jobs.

    Args:
        environment: Environment variables to set there; None: those of conversions.
        module: The module that it imports before the first job.
        shown: Whether it shares the standard streams of this process. Otherwise its output is kept for the error
            message of a crash.
        group: Whether it ends with all processes that it started.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        module: str = "",
        *,
        shown: bool = False,
        group: bool = False,
    ) -> None:
        self.limits = process_limits()
        child_receives, parent_sends = os.pipe()
        parent_receives, child_sends = os.pipe()
        self._stderr = None if shown else _new_file()
        # With the import path of this process, the worker finds the same litefuse and plug-ins.
        self._import_path = [*sys.path]
        self._module = module
        self._shown = shown
        program = (
            f"import sys; sys.path[:] = {self._import_path!r}; "
            "from litefuse.support.processes.worker import main, serve_forks; "
            f"{self._entry(*numbers_there(child_receives, child_sends))}"
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=None if shown else subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                env={**_ENVIRONMENT, **os.environ} if environment is None else {**os.environ, **environment},
                **popen_arguments(child_receives, child_sends),
                **own_group(group),
            )
        finally:
            os.close(child_receives)
            os.close(child_sends)
        self._group = ProcessGroup(self._process) if group else None
        event("processes", DEBUG, f"process {self._process.pid} began", event="process began", pid=self._process.pid)
        self._requests = os.fdopen(parent_sends, "wb", buffering=0)
        self._answers = os.fdopen(parent_receives, "rb")
        self.jobs = 0
        self.is_late = False
        self.owner = os.getpid()

    def _entry(self, receives: int, sends: int) -> str:
        """Returns the call that the process is for."""
        return f"main({receives}, {sends}, {self._module!r}, {self._shown!r}, {self.limits.memory or 0})"

    def run(self, target: str, argument: object, announce: Callable[[str], None]) -> Any:
        """Runs a function there, as :func:`run_in_worker` does."""
        return self._served((target, argument, _log_level()), announce)

    def _served(self, request: tuple[object, ...], announce: Callable[[str], None]) -> Any:
        name = "job sent again" if self.jobs else "job sent"
        self.jobs += 1
        pid, job = self._process.pid, str(request[0])
        event("processes", DEBUG, f"process {pid} gets the job {job}", event=name, pid=pid, job=job)
        with self._ended_in_time(process_limits()):
            return self._answer(memoryview(pickle.dumps(request)), announce)

    def _answer(self, request: memoryview, announce: Callable[[str], None]) -> Any:
        step = _FIRST_STEP
        try:
            write_all(self._requests, request)
            while True:
                kind, value = pickle.load(self._answers)
                if kind == "step":
                    step = value
                    announce(step)
                elif kind == "log":
                    _take_record(value)
                elif kind == "said":
                    say(*value)
                else:
                    break
        except (EOFError, pickle.UnpicklingError, BrokenPipeError):  # it ended, perhaps in the middle of an answer
            if self.is_late:
                raise process_limits().out_of_time(step) from None
            raise self._crash(step) from None
        if kind == "failed":
            raise self.limits.out_of_memory(str(value)) or value
        return value

    @contextmanager
    def _ended_in_time(self, limits: ProcessLimits) -> Generator[None]:
        """Kills the process if the time runs out during the context; the reader of its answers then sees the end."""
        if limits.remaining is None:
            yield
            return
        timer = threading.Timer(limits.remaining, self._end_late)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # it must not kill a process that has got its next job

    def _end_late(self) -> None:
        self.is_late = True
        pid = self._process.pid
        event("processes", ERROR, f"process {pid} is out of time", event="process out of time", pid=pid, told=True)
        self.kill()

    def kill(self) -> None:
        """Has the system end it, and its group: whoever waits for its answer sees that it died."""
        if self._group is not None:
            self._group.kill()
        self._process.kill()

    def is_usable(self) -> bool:
        """Whether it is alive, and has the import path that this process has now."""
        return self._process.poll() is None and self._import_path == sys.path

    def end(self) -> None:
        """Lets it exit by itself, as it does when the connection closes."""
        self._requests.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return
        if is_crash(self._process.returncode):
            raise self._crash("end")

    def close(self) -> None:
        self._requests.close()
        self._answers.close()
        self.kill()
        self._process.wait()
        event("processes", DEBUG, f"process {self._process.pid} ended", event="process ended", pid=self._process.pid)
        if self._stderr is not None:
            self._stderr.close()

    def death(self) -> str:
        """Returns how it ended: a signal's name or an exit code."""
        return ending(self._process.wait())

    def _crash(self, step: str) -> LitefuseError:
        death = self.death()
        message = f"the conversion process died ({death}) in the step {step!r}"
        told = f"process {self._process.pid} died ({death}) in the step {step!r}"
        event("processes", ERROR, told, event="process died", pid=self._process.pid, death=death, step=step, told=True)
        output = ""
        if self._stderr is not None:
            size = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, size - _STDERR_TAIL))
            output = self._stderr.read().decode(errors="replace").strip()
        if (error := self.limits.out_of_memory(output)) is not None:
            return error
        hint = "The limit memory may be the cause; try a larger one." if self.limits.memory else ""
        return EngineCrashError(f"{message}\n{output}" if output else message, hint=hint, step=step, death=death)


class _ForkingWorker(Worker):
    """A process that has imported a module, and serves each job in a fork of itself."""

    def __init__(self, environment: Mapping[str, str], module: str) -> None:
        super().__init__(environment, module)
        self._read = _read_on_import(environment)

    def _entry(self, receives: int, sends: int) -> str:
        return f"serve_forks({receives}, {sends}, {self._module!r})"

    def is_usable_for(self, environment: Mapping[str, str], module: str) -> bool:
        """Whether it is alive, and has imported this module as it would be imported now."""
        return self.is_usable() and (self._module, self._read) == (module, _read_on_import(environment))

    def run_in(
        self, environment: Mapping[str, str], target: str, argument: object, announce: Callable[[str], None]
    ) -> Any:
        """Runs a job with environment variables."""
        assert self._stderr is not None
        self._stderr.seek(0)  # here and there, the file has one position
        self._stderr.truncate()
        try:
            folder = str(Path.cwd())
        except FileNotFoundError:  # it was removed
            folder = ""
        return self._served((target, argument, _log_level(), {**os.environ, **environment}, folder), announce)


def _read_on_import(environment: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in {**os.environ, **environment}.items() if key.startswith(_READ_ON_IMPORT)}


def _log_level() -> int | None:
    """Returns the lowest level of the records that child processes are to send; None for none."""
    return next((level for level in (DEBUG, INFO, WARNING, ERROR) if is_heard(level)), None)


def _take_record(told: Mapping[str, Any]) -> None:
    from litefuse.support.logs.records import take_record

    take_record(told)


def _new_file() -> IO[bytes]:
    from litefuse.support.files.temporary import make_temporary_file

    return make_temporary_file()


def prepare_worker(module: str) -> None:
    """Starts the process for the next :func:`run_in_worker` if there is none yet.

    It imports a module in the meantime.
    """
    with _interrupts_wait():
        _give_back(_take(module)[0])


def prepare_model_process(module: str) -> None:
    """Starts the process for the next :func:`run_model`, which imports a module in the meantime."""
    with _interrupts_wait():
        _FOR_MODELS.keep(Worker({}, module, shown=True))


def run_in_worker(target: str, argument: object, announce: Callable[[str], None] = lambda _: None) -> Any:
    """Runs a function ``f(argument, announce)`` in a worker process and returns its result.

    A worker is kept for the next call. Argument and result are pickled.

    Args:
        target: The function, as ``package.module:function``; its module need not be imported here.
        argument: Its argument.
        announce: Called here with each step that the function announces there.

    Raises:
        EngineCrashError: The process died; ``step`` says in which step.
        LimitError: It exceeded a time or memory limit.
        LitefuseError: The error that the function raised.
    """
    worker: Worker | None = None
    try:
        with _interrupts_wait():
            worker, waited = _take(target.partition(":")[0])
        try:
            result = worker.run(target, argument, announce)
        except EngineCrashError as error:
            if not waited or error.step != _FIRST_STEP:
                raise
            # It did not start the job: it was killed while idle, which has nothing to do with this job.
            worker.close()
            with _interrupts_wait():
                worker = Worker(module=target.partition(":")[0])
            result = worker.run(target, argument, announce)
    except BaseException as error:  # an interrupt may come between request and answer
        if worker is not None:
            if isinstance(error, LitefuseError) and not isinstance(error, EngineCrashError):
                _give_back(worker)
            else:
                worker.close()
        raise
    _give_back(worker)
    return result


def run_alone(
    target: str,
    argument: object,
    *,
    environment: Mapping[str, str],
    imported: str = "",
    announce: Callable[[str], None] = lambda _: None,
) -> Any:
    """Runs a function like :func:`run_in_worker`, in a process for this call only, whose modules no conversion sees.

    On Linux, the process may be a fork of one that is kept, and has imported a module that takes long.

    Args:
        target: The function, as ``package.module:function``; its module need not be imported here.
        argument: Its argument.
        environment: Environment variables to set there.
        imported: The module to have imported, such as ``tensorflow``; empty for a new process.
        announce: Called here with each step that the function announces there.

    Raises:
        EngineCrashError: The process died; ``step`` says in which step.
        LitefuseError: The error that the function raised.
    """
    if imported and sys.platform == "linux" and process_limits().memory is None:
        return _run_in_fork(target, argument, environment, imported, announce)
    worker: Worker | None = None
    try:
        with _interrupts_wait():
            worker = Worker(environment)
        return worker.run(target, argument, announce)
    finally:
        if worker is not None:
            worker.close()


def _run_in_fork(
    target: str, argument: object, environment: Mapping[str, str], module: str, announce: Callable[[str], None]
) -> Any:
    worker: _ForkingWorker | None = None
    try:
        with _interrupts_wait():
            worker = _FORKING.take(lambda kept: kept.is_usable_for(environment, module))
            worker = worker or _ForkingWorker(environment, module)
        result = worker.run_in(environment, target, argument, announce)
    except BaseException as error:
        if worker is not None:
            if isinstance(error, LitefuseError) and worker.is_usable():
                _FORKING.keep(worker)
            else:
                worker.close()
        raise
    _FORKING.keep(worker)
    return result


def run_model(
    target: str,
    argument: object,
    where: str,
    announce: Callable[[str], None] = lambda _: None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Any:
    """Runs a function like :func:`run_in_worker` that runs a LiteRT model, whose kernels may crash the process.

    The process is for this call only; kernels print to the standard streams of this process.

    Args:
        target: The function, as ``package.module:function``; its module need not be imported here.
        argument: Its argument.
        where: The model, for the message.
        announce: Called here with each step that the function announces there.
        environment: Environment variables to set there.

    Raises:
        ModelCrashError: The process died; ``step`` says in which step.
        LitefuseError: The error that the function raised.
    """
    worker: Worker | None = None
    try:
        module = target.partition(":")[0]
        with _interrupts_wait():
            kept = None if environment else _FOR_MODELS.take(Worker.is_usable)
            worker = kept or Worker(environment or {}, module, shown=True)
        result = worker.run(target, argument, announce)
        worker.end()
        return result
    except EngineCrashError as error:
        assert worker is not None
        death = worker.death()
        hint = (
            "The system does that to a process when there is not enough memory."
            if death == "SIGKILL"
            else "A kernel or the runtime is at fault; with PYTHONFAULTHANDLER=1 in the environment, Python says where."
        )
        raise ModelCrashError(
            f"the process that runs the model died ({death}) in the step {error.step!r}",
            where=where,
            hint=hint,
            step=error.step,
        ) from None
    finally:
        if worker is not None:
            worker.close()


@contextmanager
def _interrupts_wait() -> Generator[None]:
    """Defers interrupts to the end of the block: otherwise a process could be started and lost.

    Processes started in the block never see interrupts from a terminal: this process does, and ends them.
    """
    if sys.platform == "win32":  # has no masks, and processes of a new group see no interrupts
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _take(module: str) -> tuple[Worker, bool]:
    """Returns a process, and whether it was idle before."""
    # A process with a memory limit is used only once.
    idle = _IDLE.take(Worker.is_usable) if process_limits().memory is None else None
    return idle or Worker(module=module), idle is not None


def _give_back(worker: Worker) -> None:
    if worker.jobs >= _JOBS_PER_WORKER or worker.is_late or worker.limits.memory is not None:
        worker.close()
    else:
        _IDLE.keep(worker)


class _Kept(Generic[_WorkerT]):
    """Processes that wait for their next job."""

    def __init__(self) -> None:
        self._workers: list[_WorkerT] = []
        self._lock = threading.Lock()

    def take(self, fits: Callable[[_WorkerT], bool]) -> _WorkerT | None:
        """Returns the last one that fits, and closes those that were kept after it; None if none fits."""
        with self._lock:
            while self._workers:
                worker = self._workers.pop()
                if worker.owner != os.getpid():  # after a fork, the parent's workers are not ours
                    continue
                if fits(worker):
                    return worker
                worker.close()
        return None

    def keep(self, worker: _WorkerT) -> None:
        with self._lock:
            self._workers.append(worker)

    def close(self) -> None:
        """Ends all of them."""
        with self._lock:
            for worker in self._workers:
                if worker.owner == os.getpid():
                    worker.close()
            self._workers.clear()


_IDLE = _Kept[Worker]()
_FOR_MODELS = _Kept[Worker]()
_FORKING = _Kept[_ForkingWorker]()


@atexit.register
def _close_idle() -> None:
    for kept in (_IDLE, _FOR_MODELS, _FORKING):
        kept.close()
