"""Which workers of a Dask cluster can do a batch, looked at for as long as it runs."""

from __future__ import annotations

import asyncio
import contextlib
import pkgutil
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.support.logs.events import WARNING, event
from litefuse.support.processes.limits import ProcessLimits
from litefuse.tools.batch_runs import on_workers
from litefuse.tools.batch_runs.records import versions_here
from litefuse.version import __version__

# A function is named, and not sent: neither the scheduler nor a worker without litefuse can read one of litefuse's, and
# the question to such a worker is never answered.
CALL = "__import__('pkgutil').resolve_name(name)(*given, **options)"

# How often workers that come and go are looked for, in seconds.
_LOOK = 1.0
# How long a worker may take to answer, in seconds.
_ANSWER = 30
# Before the end of a lease, it is prolonged so many times.
_BEATS = 5
_SILENT = "it does not answer"


def call(function: Callable[..., Any], *given: object, **options: object) -> dict[str, Any]:
    """Returns the variables with which :data:`CALL` calls a function of litefuse."""
    return {"name": f"{function.__module__}:{function.__qualname__}", "given": given, "options": options}


class ClusterWorkers:
    """The workers of a cluster that have this litefuse, and one version of each package that it works with.

    Each is asked when it appears, and then lets the batch's processes live on, again and again.

    Args:
        client: The client of Dask.
        batch: The name of the batch.
        lease: The seconds that processes on workers live on if they are not asked to.
        with_tensorflow: Whether models are compared with their originals.
    """

    def __init__(self, client: Any, batch: str, lease: float, *, with_tensorflow: bool) -> None:
        self._client = client
        self._batch = batch
        self._lease = lease
        self._with_tensorflow = with_tensorflow
        self._changed = threading.Condition()
        self._following: asyncio.Task[None] | None = None
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._able: dict[str, Mapping[str, str | None]] = {}
        self._unable: dict[str, str] = {}
        self._needed: Mapping[str, str | None] | None = None

    def begin(self, seconds: float) -> Mapping[str, str | None]:
        """Asks the workers that are there; returns the versions that are worked with.

        Args:
            seconds: How long they may take to answer, all together.

        Raises:
            LitefuseError: There are none, or none can do it.
        """
        self._client.sync(self._start)
        there = self._client.nthreads()
        with self._changed:
            self._changed.wait_for(lambda: there.keys() <= self._able.keys() | self._unable.keys(), seconds)
            for worker in there.keys() - self._able.keys() - self._unable.keys():
                self._unable[worker] = f"{_SILENT} within {seconds:g} seconds"
            if not self._able:
                raise self._none()
            own = versions_here(with_tensorflow=self._with_tensorflow)
            kinds = Counter(tuple(sorted(versions.items())) for versions in self._able.values())
            self._needed = dict(max(kinds, key=lambda kind: (kinds[kind], dict(kind) == own)))
            for worker, answer in [*self._unable.items(), *self._able.items()]:
                self._judge(worker, answer)
        return self._needed

    def threads(self) -> dict[str, int]:
        """Returns how many threads each worker has that can do it."""
        return {worker: count for worker, count in self._client.nthreads().items() if worker in self._able}

    def are_there(self, workers: list[str]) -> bool:
        """Whether some of these workers can still do it."""
        with self._changed:
            return not self._able.keys().isdisjoint(workers)

    def wait(self, limits: ProcessLimits) -> list[str]:
        """Returns the workers that can do it; waits a moment for one, and returns an empty list if none came.

        Raises:
            LimitError: The time is over.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._able, _LOOK)
            if not self._able:
                limits.check_time("waiting for a worker")
            return sorted(self._able)

    def finish(self, function: Callable[..., object], *given: object, seconds: float) -> None:
        """Calls a function on all workers, as far as they answer in time, and looks at them no longer."""

        async def finished() -> None:
            for task in (self._following, *self._followed.values()):
                if task is not None:
                    task.cancel()
            asked = (self._ask(worker, function, *given) for worker in [*self._able])
            await asyncio.gather(*asked, return_exceptions=True)

        with contextlib.suppress(Exception):
            self._client.sync(finished, callback_timeout=seconds)

    def _none(self) -> LitefuseError:
        reasons = [f"{worker}: {reason}" for worker, reason in sorted(self._unable.items())]
        if not reasons:
            hint = "Start some: dask worker ADDRESS."
        elif all(_SILENT in reason for reason in reasons):
            hint = "Start them anew; their logs may say why."
        else:
            hint = f'Where the workers run, install this version: pip install "litefuse=={__version__}".'
        message = "\n".join(["no worker of the cluster can do it", *reasons])
        address = self._client.scheduler.address
        return LitefuseError(message if reasons else "the cluster has no workers", where=address, hint=hint)

    async def _start(self) -> None:
        self._following = asyncio.create_task(self._follow_all())

    async def _follow_all(self) -> None:
        """Follows each worker that comes, and forgets those that go, until the client is closed."""
        while self._client.status != "closed":
            there: set[str] = {*self._followed}
            try:
                there = {*await asyncio.wait_for(self._client.nthreads(), _ANSWER)}
            except Exception:  # noqa: BLE001  the scheduler is busy, or the connection to it is lost
                if self._client.status != "running":
                    there = set()
            for worker in self._followed.keys() - there:
                self._followed.pop(worker).cancel()
                with self._changed:
                    self._able.pop(worker, None)
                    self._unable.pop(worker, None)
            for worker in there - self._followed.keys():
                self._followed[worker] = asyncio.create_task(self._follow(worker))
            await asyncio.sleep(_LOOK)
        for task in self._followed.values():
            task.cancel()

    async def _follow(self, worker: str) -> None:
        """Asks a worker whether it can do it, and then to let the processes live on, until it or the client is gone."""
        while True:
            try:
                answer = await self._versions(worker)
                is_answered = True
            except Exception as error:  # noqa: BLE001  whatever keeps it from answering
                if self._client.status in {"closing", "closed"}:
                    return
                answer = f"{_SILENT}: {type(error).__name__}: {error}".removesuffix(": ")
                is_answered = False
            with self._changed:
                self._judge(worker, answer)
                if is_answered and worker not in self._able:
                    return
            with contextlib.suppress(Exception):
                while worker in self._able:
                    await asyncio.sleep(self._lease / _BEATS)
                    await self._ask(worker, on_workers.keep, self._batch, self._lease)
            await asyncio.sleep(_LOOK)

    async def _versions(self, worker: str) -> Mapping[str, str | None] | str:
        """Returns the versions on a worker; or why it cannot do it."""
        name = "litefuse.version:__version__"
        version = await self._run(worker, pkgutil.resolve_name, name)
        if isinstance(version, ModuleNotFoundError) and version.name == "litefuse":
            return "litefuse is not installed"
        if isinstance(version, Exception):
            return f"litefuse cannot be imported: {type(version).__name__}: {version}"
        if version != __version__:
            return f"it has litefuse {version}, not {__version__}"
        return await self._ask(worker, on_workers.versions, with_tensorflow=self._with_tensorflow)

    def _judge(self, worker: str, answer: Mapping[str, str | None] | str) -> None:
        """Keeps what a worker answered."""
        if not isinstance(answer, str) and self._needed is not None:
            others = {name for name, version in self._needed.items() if answer.get(name) != version}
            told = (f"{name} {answer.get(name)}, not {self._needed[name]}" for name in sorted(others))
            answer = f"it has {', '.join(told)}" if others else answer
        if isinstance(answer, str):
            self._able.pop(worker, None)
            self._unable[worker] = answer
            if self._needed is not None:  # else the error says it, or what follows
                message = f"the worker {worker} is left out: {answer}"
                event("batch_runs", WARNING, message, event="worker left out", worker=worker, reason=answer)
        else:
            self._unable.pop(worker, None)
            self._able[worker] = answer
        self._changed.notify_all()

    async def _ask(self, worker: str, function: Callable[..., Any], *given: object, **options: object) -> Any:
        answer = await self._run(worker, eval, CALL, call(function, *given, **options))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _run(self, worker: str, function: Callable[..., Any], *given: object) -> Any:
        """Runs a function on a worker, in time; returns its result, or the exception that it raised.

        Raises:
            TimeoutError: The worker does not answer; other exceptions likewise.
        """
        answers = await asyncio.wait_for(
            self._client.run(function, *given, workers=[worker], on_error="return"), _ANSWER
        )
        return answers[worker]
