"""Converts the cases of a folder and runs what comes of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from suites.outcomes import Outcome, outcome_of, read_outcomes, write_outcomes
from suites.workers import Worker

_CONVERSION, _RUN = 300.0, 180.0  # seconds


class Campaign:
    """One converter and the cases of a folder.

    Args:
        converter: ``litefuse`` or ``stock``.
        folder: Where outcomes are written, in ``CONVERTER.jsonl``, and models.
        python: The Python that converts; for the stock converter, of an environment with TensorFlow.
        runs_with: The Python that runs models, of an environment with litefuse.
        say: Called with each outcome.
    """

    def __init__(
        self, converter: str, folder: Path, python: str, runs_with: str, say: Callable[[Outcome], None]
    ) -> None:
        self._converter = converter
        self._pythons = python, runs_with
        self._path = folder / f"{converter}.jsonl"
        self._models = folder / converter
        self._say = say
        self._lock = threading.Lock()
        self._outcomes = read_outcomes(self._path)

    def run(self, cases: Sequence[Path], *, jobs: int = 1, again: bool = False) -> list[Outcome]:
        """Returns the outcomes of cases; those known from an earlier campaign are not tried unless ``again``."""
        self._models.mkdir(parents=True, exist_ok=True)
        todo = [each for each in cases if again or each.name not in self._outcomes]
        shares = [todo[number::jobs] for number in range(jobs)]
        with ThreadPoolExecutor(jobs) as pool:
            for _ in pool.map(self._try_all, [each for each in shares if each]):
                pass
        return [self._outcomes[each.name] for each in cases]

    def _try_all(self, cases: Sequence[Path]) -> None:
        suffix = "-stock" if self._converter == "stock" else ""
        with ExitStack() as stack:
            convert = stack.enter_context(Worker(self._pythons[0], self._converter, _CONVERSION))
            run = stack.enter_context(Worker(self._pythons[1], f"run{suffix}", _RUN))
            for case in cases:
                outcome = self._try_out(case, convert, run)
                with self._lock:
                    self._outcomes[case.name] = outcome
                    write_outcomes(self._path, self._outcomes.values())
                    self._say(outcome)

    def _try_out(self, case: Path, convert: Worker, run: Worker) -> Outcome:
        model = self._models / f"{case.name}.tflite"
        model.unlink(missing_ok=True)
        answer: dict[str, Any] = convert.ask(case, model)
        if "verdict" not in answer:
            answer |= run.ask(case, model)
        return outcome_of({**answer, "case": case.name, "converter": self._converter})
