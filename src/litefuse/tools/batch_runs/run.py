"""Public function ``batch()``."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.support.cloud.names import as_url
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import check_there
from litefuse.tools.batch_runs.backend import Backend, LocalProcesses
from litefuse.tools.batch_runs.entry import BatchSettings, Entry
from litefuse.tools.batch_runs.models_file import entries_in, read_models_file
from litefuse.tools.batch_runs.outcome import BatchResult, Outcome
from litefuse.tools.batch_runs.progress import Progress, shown_batch
from litefuse.tools.batch_runs.records import RECORDS, key_of, make_record_folder, read_record, write_record
from litefuse.tools.batch_runs.task import Task, step_outcome

_RETRIES = 1
# How often the thread that waits looks for an interrupt, in seconds.
_LOOK = 0.2


def batch(
    models: str | os.PathLike[str] | Iterable[Any],
    *,
    output: str | os.PathLike[str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    retries: int | None = None,
    again: bool = False,
    progress: bool = False,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> BatchResult:
    """Converts, verifies, checks and quantizes many models.

    Each is done in a process, which does others before and after: litefuse and TensorFlow are loaded once for each
    process. An error of a model, the death of a process, and a limit that is exceeded concern that model alone.

    What is done is recorded in ``output``. A later call does only what is not done, or was done of another content, or
    with other options or another version; also after this process was killed.

    Args:
        models: A file ``models.toml``; a folder of models; or models: paths, URLs, or mappings with ``path``, ``name``
            and the options of such a file.
        output: The folder, which is made if needed, or the URL to write to; None: what the file says.
        defaults: The options of models that do not say otherwise, beside those of the file.
        jobs: How many models at once; None: what the file says, or as many as this machine has cores.
        scheduler: The address of the scheduler of a Dask cluster to do it on (extra ``cluster``).
        retries: How often a model is tried again whose process died; None: what the file says, or 1.
        again: Whether to do what is done already, too.
        progress: Show how far it is on standard error.
        on_outcome: Called with what became of each model, in the order in which they are done.

    Returns:
        What became of each model.

    Raises:
        LitefuseError: An option is unknown or of another kind, no models are given, or ``output`` cannot be written.
    """
    entries, settings = _read(models, defaults)
    settings = BatchSettings(
        output=settings.output if output is None else os.fspath(output),
        jobs=settings.jobs if jobs is None else jobs,
        retries=settings.retries if retries is None else retries,
        scheduler=settings.scheduler if scheduler is None else scheduler,
    )
    return run_batch(entries, settings, again=again, progress=progress, on_outcome=on_outcome)


def _read(
    models: str | os.PathLike[str] | Iterable[Any], defaults: Mapping[str, Any] | None
) -> tuple[list[Entry], BatchSettings]:
    if isinstance(models, str | os.PathLike):
        path = check_there(local(models))
        if not path.is_dir():
            return read_models_file(path, defaults)
        return entries_in(path, defaults), BatchSettings()
    if not isinstance(cast("object", models), Iterable):
        raise LitefuseError(f"models are a file models.toml, a folder, or a list of models, not {models!r}")
    return entries_in(models, defaults), BatchSettings()


def run_batch(
    entries: Sequence[Entry],
    settings: BatchSettings,
    *,
    again: bool = False,
    progress: bool = False,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> BatchResult:
    """Does what is to be done with models; see :func:`batch`."""
    output = _prepared(settings.output)
    retries = _RETRIES if settings.retries is None else settings.retries
    jobs = os.cpu_count() or 1 if settings.jobs is None else settings.jobs
    if jobs < 1 or retries < 0:
        raise LitefuseError(f"jobs must be at least 1, and retries at least 0, not {jobs} and {retries}")
    verified = any(entry.verify is not None for entry in entries)
    backend: Backend
    if settings.scheduler is None:
        backend = LocalProcesses(min(jobs, len(entries)), retries, with_tensorflow=verified)
    else:
        from litefuse.tools.batch_runs.cluster import DaskCluster

        limits = [entry.timeout for entry in entries if entry.timeout is not None]
        timeout = max(limits) if len(limits) == len(entries) else None
        backend = DaskCluster(settings.scheduler, retries, with_tensorflow=verified, timeout=timeout)
    started = time.perf_counter()
    with shown_batch(len(entries), backend.place, show=progress) as display:
        outcomes = _Batch(entries, output, backend, again, display, on_outcome).run()
    return BatchResult(output, tuple(outcomes), time.perf_counter() - started)


def _prepared(output: str | None) -> str:
    """Returns the output folder, which is there and can be written; or URL."""
    if output is None:
        raise LitefuseError(
            "no output folder",
            hint='Pass output (on the command line, --output DIR), or write in models.toml:\n\n[batch]\noutput = "DIR"',
        )
    if as_url(output) is not None:
        from litefuse.support.cloud.file_systems import file_system, is_local

        system, path = file_system(output)
        if not is_local(system):
            for folder in (path.rstrip("/"), f"{path.rstrip('/')}/{RECORDS}"):
                # Where stores have no folders, nothing is to be made; a bucket is not made for a user.
                if "/" in folder.strip("/"):
                    with contextlib.suppress(OSError, NotImplementedError):
                        system.mkdir(folder, create_parents=False)
            return output
        output = path
    try:
        make_record_folder(output)
        reason = "" if os.access(output, os.W_OK) else "it is not writable"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise LitefuseError(f"the files cannot be written: {reason}", where=output)
    return str(Path(output).absolute())


class _Batch:
    """The threads of a batch: each takes one model after the other."""

    def __init__(
        self,
        entries: Sequence[Entry],
        output: str,
        backend: Backend,
        again: bool,
        display: Progress,
        on_outcome: Callable[[Outcome], None],
    ) -> None:
        self._entries = entries
        self._output = output
        self._backend = backend
        self._again = again
        self._display = display
        self._on_outcome = on_outcome
        self._todo: queue.SimpleQueue[tuple[int, Entry]] = queue.SimpleQueue()
        self._found: queue.SimpleQueue[tuple[int, Outcome] | BaseException] = queue.SimpleQueue()

    def run(self) -> list[Outcome]:
        """Returns what became of each model.

        An interrupt ends all that runs before it is raised.
        """
        for numbered in enumerate(self._entries):
            self._todo.put(numbered)
        threads = [
            threading.Thread(target=self._work, name=f"batch-{number}", daemon=True)
            for number in range(self._backend.jobs)
        ]
        outcomes: dict[int, Outcome] = {}
        is_done = False
        try:
            for thread in threads:
                thread.start()
            while len(outcomes) < len(self._entries):
                try:
                    received = self._found.get(timeout=_LOOK)
                except queue.Empty:
                    continue
                if isinstance(received, BaseException):
                    raise received
                number, outcome = received
                outcomes[number] = outcome
                self._display.finished(outcome)
                self._on_outcome(outcome)
            is_done = True
        finally:
            if is_done:
                for thread in threads:
                    thread.join()
                self._backend.close()
            else:
                self._backend.end()
        return [outcomes[number] for number in range(len(self._entries))]

    def _work(self) -> None:
        while True:
            try:
                number, entry = self._todo.get_nowait()
            except queue.Empty:
                return
            try:
                self._found.put((number, self._outcome(entry)))
            except BaseException as error:  # noqa: BLE001  the thread that waits raises it
                self._found.put(error)
                return

    def _outcome(self, entry: Entry) -> Outcome:
        try:
            key = key_of(entry, self._backend.versions)
        except LitefuseError as error:
            return Outcome(entry.name, entry.path, (step_outcome("read", error),))
        if not self._again and (known := read_record(self._output, entry, key)) is not None:
            return replace(known, path=entry.path)
        with self._display.working(entry.name) as announce:
            outcome = self._backend.run(Task(entry, self._output), announce)
        if outcome.steps:
            write_record(self._output, outcome, key)
        return outcome
