"""Where tasks are done: on a Dask cluster that is there. Its workers do them in processes of their own, as here."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import threading
import uuid
from collections.abc import Callable
from typing import Any

from litefuse.batch_runs.backend import RunnerPool
from litefuse.batch_runs.outcome import Outcome, StepOutcome
from litefuse.batch_runs.task import Task
from litefuse.errors import LitefuseError

__all__ = ["DaskCluster", "close_pool", "end_pool", "run_on_cluster"]

# How long the scheduler may take to answer, in seconds.
_CONNECT = 30
# How long the connection to it may take to end.
_CLOSE = 5

_pools: dict[str, RunnerPool] = {}
_lock = threading.Lock()


class DaskCluster:
    """A Dask cluster: each task is one of its tasks.

    Args:
        address: The scheduler's address, such as ``tcp://10.0.0.1:8786``.
        retries: How often a task is tried again whose process died.

    Raises:
        LitefuseError: A package is missing, or the scheduler does not answer or has no workers.
    """

    def __init__(self, address: str, retries: int) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise LitefuseError(
                "a scheduler is one of Dask's, which is not installed",
                hint='Install litefuse with the extra cluster: pip install "litefuse[cluster]".',
            ) from None
        self._retries = retries
        self._address = address
        self._batch = uuid.uuid4().hex
        try:
            self._client: Any = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise LitefuseError(f"the scheduler does not answer: {error}", where=address) from error
        threads: dict[str, int] = self._client.nthreads()
        if not threads:
            self._client.close()
            raise LitefuseError("the cluster has no workers", where=address, hint="Start some: dask worker ADDRESS.")
        # One more for each worker, so that none waits for its next task.
        self.jobs = sum(threads.values()) + len(threads)
        self.place = f"{len(threads)} workers of {address}"

    def run(self, task: Task, announce: Callable[[str], None]) -> Outcome:  # noqa: ARG002  steps stay there
        """Does a task on a worker."""
        try:
            future = self._client.submit(run_on_cluster, self._batch, self._retries, task, pure=False)
            outcome = future.result()
        except Exception as error:
            if self._client.status != "running":
                raise LitefuseError(
                    f"the connection to the scheduler was lost: {error}",
                    where=self._address,
                    hint="What is done stays; the same command goes on with the rest.",
                ) from error
            # A worker died, or has another litefuse.
            message = f"the cluster did not do it: {type(error).__name__}: {error}"
            step = StepOutcome("start", "crashed", message=message)
            return Outcome(task.entry.name, task.entry.path, (step,))
        assert isinstance(outcome, Outcome)
        return outcome

    def end(self) -> None:
        """Ends all that runs on the workers."""
        self._everywhere(end_pool)

    def close(self) -> None:
        """Ends the processes on the workers."""
        self._everywhere(close_pool)

    def _everywhere(self, function: Callable[[str], None]) -> None:
        if self._client.status == "running":  # else there is nobody to ask
            with contextlib.suppress(Exception):  # a worker that does not answer has nothing to end
                self._client.run(function, self._batch, on_error="ignore")
        self._client.close(timeout=_CLOSE)


def run_on_cluster(batch: str, retries: int, task: Task) -> Outcome:
    """Does a task in a process that a worker of a cluster keeps for a batch."""
    with _lock:
        if not _pools:
            atexit.register(_close_all)
        pool = _pools.setdefault(batch, RunnerPool(retries))
    return pool.run(task)


def end_pool(batch: str) -> None:
    """Ends the processes of a batch, in a worker of a cluster."""
    with _lock:
        _pools.setdefault(batch, RunnerPool(0)).end()


def close_pool(batch: str) -> None:
    """Ends the processes of a batch that is done, in a worker of a cluster."""
    with _lock:
        pool = _pools.pop(batch, None)
    if pool is not None:
        pool.close()


def _close_all() -> None:
    with _lock:
        for each in _pools.values():
            each.end()
