"""Where tasks are done: on a Dask cluster that is there. Its workers do them in processes of their own, as here."""

from __future__ import annotations

import asyncio
import importlib
import pickle
import threading
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from litefuse.errors import LimitError, LitefuseError
from litefuse.support.processes.limits import ProcessLimits
from litefuse.tools.batch_runs import on_workers
from litefuse.tools.batch_runs.cluster_workers import CALL, ClusterWorkers, call
from litefuse.tools.batch_runs.outcome import Outcome, StepOutcome
from litefuse.tools.batch_runs.task import Task, step_outcome

# How long the scheduler may take to answer, and then the workers, in seconds; less if models have less, but not much.
_CONNECT = 30
_LEAST = 5
# How long the connection to it may take to end.
_CLOSE = 5
# How long processes on workers live on if this process is gone, in seconds.
_LEASE = 30
# How often it is looked whether a task is still on a worker, in seconds.
_LOOK = 1.0
# A model whose workers are lost so often may be what ends them.
_LOST = 4


class DaskCluster:
    """A Dask cluster: each task is one of its tasks.

    Args:
        address: The scheduler's address, such as ``tcp://10.0.0.1:8786``.
        retries: How often a task is tried again whose process died.
        with_tensorflow: Whether models are compared with their originals.
        timeout: The seconds that each model may take at most; None for no limit.

    Raises:
        LitefuseError: A package is missing, the scheduler does not answer, or no worker has this litefuse.
    """

    def __init__(self, address: str, retries: int, *, with_tensorflow: bool, timeout: float | None = None) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise LitefuseError(
                "a scheduler requires Dask, which is not installed",
                hint='Install litefuse with the extra cloud: pip install "litefuse[cloud]".',
            ) from None
        self._retries = retries
        self._address = address
        self._batch = uuid.uuid4().hex
        self._is_ended = threading.Event()
        seconds = min(_CONNECT, max(timeout or _CONNECT, _LEAST))
        try:
            self._client: Any = distributed.Client(address, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise LitefuseError(f"the scheduler does not answer: {error}", where=address) from error
        self._workers = ClusterWorkers(self._client, self._batch, _LEASE, with_tensorflow=with_tensorflow)
        try:
            self.versions = self._workers.begin(seconds)
            threads = self._workers.threads()
        except BaseException:
            self._client.close(timeout=_CLOSE)
            raise
        # One more for each worker, so that none waits for its next task.
        self.jobs = sum(threads.values()) + len(threads)
        self.place = f"{len(threads)} workers of {address}"

    def run(self, task: Task, announce: Callable[[str], None]) -> Outcome:
        """Does a task on a worker; again on another one if that is gone, or gave it up."""
        started = time.perf_counter()
        limits = ProcessLimits(task.entry.timeout)
        lost = 0
        while not self._is_ended.is_set():
            self._check_connection()
            try:
                workers = self._workers.wait(limits)
                if not workers:
                    announce("waiting for a worker")
                    continue
                outcome = self._submitted(task, workers)
                lost += outcome is None and self._client.status == "running"
                if lost == _LOST:
                    raise LitefuseError(f"its workers were lost, {lost} times")
            except LimitError as error:
                ended = step_outcome("start", error)
                outcome = Outcome(task.entry.name, task.entry.path, (ended,))
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  whatever Dask says
                if self._client.status != "running" or self._is_ended.is_set():
                    continue
                message = f"the cluster did not do it: {type(error).__name__}: {error}"
                step = StepOutcome("start", "crashed", time.perf_counter() - started, message)
                outcome = Outcome(task.entry.name, task.entry.path, (step,))
            if outcome is not None and outcome.steps:
                return outcome
            limits = ProcessLimits(task.entry.timeout)
        return Outcome(task.entry.name, task.entry.path, attempts=0)

    def _submitted(self, task: Task, workers: list[str]) -> Outcome | None:
        """Returns what became of a task on one of these workers; None if they are gone."""
        given = call(on_workers.run, self._batch, self._retries, _LEASE, pickle.dumps(task))
        key = f"litefuse-{uuid.uuid4().hex}"
        future = self._client.submit(eval, CALL, given, key=key, workers=workers, pure=False)
        is_done = threading.Event()
        future.add_done_callback(partial(_set, is_done))
        while not is_done.wait(_LOOK):
            if self._is_ended.is_set() or self._client.status == "closed" or not self._workers.are_there(workers):
                future.cancel()
                return None
        outcome = future.result()
        assert isinstance(outcome, Outcome)
        return outcome

    def _check_connection(self) -> None:
        if self._client.status == "closed":
            raise LitefuseError(
                "the connection to the scheduler was lost",
                where=self._address,
                hint="Finished work is kept; the same command does the rest.",
            )

    def end(self) -> None:
        """Ends all that runs on the workers."""
        self._is_ended.set()
        self._workers.finish(on_workers.end, self._batch, _LEASE, seconds=_CLOSE)
        self._client.close(timeout=_CLOSE)

    def close(self) -> None:
        """Ends the processes on the workers."""
        self._workers.finish(on_workers.close, self._batch, seconds=_CLOSE)
        self._client.close(timeout=_CLOSE)


def _set(is_done: threading.Event, _: object) -> None:
    is_done.set()
