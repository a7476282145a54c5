"""Work of a Dask worker for a batch: models, in processes that end when the batch is cancelled."""

from __future__ import annotations

import atexit
import contextlib
import pickle
import threading
import time
from collections.abc import Mapping

from litefuse.errors import LitefuseError
from litefuse.support.files.temporary import remove_abandoned_folders
from litefuse.tools.batch_runs.backend import RunnerPool
from litefuse.tools.batch_runs.outcome import Outcome
from litefuse.tools.batch_runs.records import versions_here
from litefuse.tools.batch_runs.task import Task

# How often a worker looks whether batches are given up, in seconds.
_LOOK = 1.0

_batches: dict[str, _Batch] = {}
_lock = threading.Lock()


class _Batch:
    """The processes of a batch here, their outputs, and when they end unless somebody asks for them again."""

    def __init__(self, retries: int) -> None:
        self.pool = RunnerPool(retries)
        self.until = 0.0
        self.outputs: set[str] = set()


def versions(*, with_tensorflow: bool) -> Mapping[str, str | None]:
    """Returns the versions here of all that decides what becomes of a model."""
    return versions_here(with_tensorflow=with_tensorflow)


def run(batch: str, retries: int, lease: float, pickled: bytes) -> Outcome:
    """Does a task in a process that is kept for the batch.

    Args:
        batch: The name of the batch.
        retries: How often a task is tried again whose process died.
        lease: The seconds that the batch's processes live on if nobody calls :func:`keep`.
        pickled: The task.

    Returns:
        What became of the model; without steps if the batch was ended, or given up.
    """
    task = pickle.loads(pickled)
    assert isinstance(task, Task)
    held = _held(batch, retries, lease)
    held.outputs.add(task.output)
    return held.pool.run(task)


def keep(batch: str, lease: float) -> None:
    """Lets the processes of a batch live on for so many seconds."""
    with _lock:
        if batch in _batches:
            _batches[batch].until = time.monotonic() + lease


def end(batch: str, lease: float) -> None:
    """Ends the processes of a batch, at once; for so many seconds there are none for tasks that come late."""
    _held(batch, 0, lease).pool.end()


def close(batch: str) -> None:
    """Ends the processes of a batch that is done."""
    with _lock:
        held = _batches.pop(batch, None)
    if held is not None:
        held.pool.close()


def _held(batch: str, retries: int, lease: float) -> _Batch:
    with _lock:
        if all(thread.name != _end_abandoned.__name__ for thread in threading.enumerate()):
            threading.Thread(target=_end_abandoned, name=_end_abandoned.__name__, daemon=True).start()
            atexit.register(_end_all)
        held = _batches.setdefault(batch, _Batch(retries))
        held.until = time.monotonic() + lease
        return held


def _end_abandoned() -> None:
    """Ends the processes of batches that nobody asks for any longer, and removes what they left."""
    left: list[_Batch] = []
    while True:
        time.sleep(_LOOK)
        _remove_files(left)  # the processes of the last round are gone by now
        with _lock:
            names = [name for name, held in _batches.items() if held.until < time.monotonic()]
            left = [_batches.pop(name) for name in names]
        for held in left:
            held.pool.end()
            held.pool.close()


def _remove_files(left: list[_Batch]) -> None:
    for place in {None, *(output for held in left for output in held.outputs)} if left else ():
        with contextlib.suppress(LitefuseError, OSError):
            remove_abandoned_folders(place)


def _end_all() -> None:
    with _lock:
        for held in _batches.values():
            held.pool.end()
