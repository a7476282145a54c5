"""A campaign: many mutants of one target, over some processes, and what became of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from fuzz.outcome import Kind, Outcome
from fuzz.targets import target_class

_ROOT = Path(__file__).resolve().parents[1]
_REQUEST = 100


@dataclass
class Finding:
    """Outcomes of one cause.

    Attributes:
        item: The number, or the file, of the first mutant.
        outcome: Its outcome.
        count: How many there are.
    """

    item: int | str
    outcome: Outcome
    count: int = 1


@dataclass
class Campaign:
    """Tries mutants of consecutive numbers until there were enough of them or the time is over.

    Attributes:
        target: The name of the target.
        seed: The number of the first mutant.
        runs: How many there are; None: as many as the time allows.
        seconds: How long; None: as long as it takes.
        jobs: How many processes.
        found: Called with each finding when its cause is new.
    """

    target: str
    seed: int
    runs: int | None
    seconds: float | None
    jobs: int
    found: Callable[[Finding], None]
    counts: Counter[Kind] = field(default_factory=Counter[Kind])
    groups: dict[tuple[Kind, str], Finding] = field(default_factory=dict[tuple[Kind, str], Finding])
    broken: list[str] = field(default_factory=list[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Does it."""
        until = None if self.seconds is None else time.monotonic() + self.seconds
        threads = [threading.Thread(target=self._work, args=(job, until)) for job in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @property
    def findings(self) -> list[Finding]:
        """The faults, one of each cause."""
        return [finding for (kind, _), finding in self.groups.items() if kind.is_finding]

    def _requests(self, job: int) -> Iterator[dict[str, int]]:
        """What one of the processes is asked: every ``jobs``-th number, so that a run does not depend on the speed."""
        size = min(_REQUEST, target_class(self.target).batch)
        done, mine = 0, None if self.runs is None else len(range(job, self.runs, self.jobs))
        while mine is None or done < mine:
            count = size if mine is None else min(size, mine - done)
            yield {"first": self.seed + job + done * self.jobs, "step": self.jobs, "count": count}
            done += count

    def _work(self, job: int, until: float | None) -> None:
        try:
            with _Zygote(self.target) as zygote:
                for request in self._requests(job):
                    for answer in zygote.ask(request):
                        self._take(answer)
                        if until is not None and time.monotonic() > until:
                            return
        except _ZygoteError as error:
            self.broken.append(str(error))

    def _take(self, answer: dict[str, Any]) -> None:
        outcome = Outcome(Kind(answer["kind"]), answer["group"], answer["detail"])
        with self._lock:
            self.counts[outcome.kind] += 1
            key = outcome.kind, outcome.group
            if key in self.groups:
                self.groups[key].count += 1
                return
            finding = self.groups[key] = Finding(answer["item"], outcome)
            if outcome.kind.is_finding:
                self.found(finding)


def try_files(target: str, files: Sequence[Path], *, sanitized: bool = True) -> list[tuple[Path, Outcome]]:
    """Tries mutants that are kept in files; see ``Target.environment`` for ``sanitized``."""
    with _Zygote(target, sanitized=sanitized) as zygote:
        answers = [*zygote.ask({"files": [str(file) for file in files]})]
    return [(Path(each["item"]), Outcome(Kind(each["kind"]), each["group"], each["detail"])) for each in answers]


class _ZygoteError(Exception):
    """The process that children are forked from ended."""


class _Zygote:
    """The process of ``fuzz.zygote``."""

    def __init__(self, target: str, *, sanitized: bool = True) -> None:
        found = target_class(target)
        # Threads do not survive a fork.
        own = {"OPENBLAS_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        own["PYTHONPATH"] = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.zygote", target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **own, **found.environment(sanitized=sanitized)},
            cwd=_ROOT,
        )

    def __enter__(self) -> _Zygote:  # noqa: PYI034  Self came with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def ask(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        requests, answers = self._pipes()
        try:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
        except BrokenPipeError:
            raise _ZygoteError(f"the fuzzer's process ended with exit code {self._process.wait()}") from None
        for line in answers:
            answer = json.loads(line)
            if not answer:
                return
            yield answer
        raise _ZygoteError(f"the fuzzer's process ended with exit code {self._process.wait()}")

    def _pipes(self) -> tuple[TextIO, TextIO]:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        return requests, answers  # pyright: ignore[reportReturnType]
