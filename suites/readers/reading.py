"""Asks readers for what becomes of files, and judges what they answer."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from suites.cases import read_calls
from suites.readers.files import FIXED_CALLS, File, input_order, step_of

_PROGRAM = Path(__file__).with_name("reader.py")

#: How much larger than the reference's a reader's error may be, and what it may be besides where numbers are floating
#: point, in units of the output's largest element; where they are integers, one step of these.
_TIMES, _FLOOR = 2.0, 1e-5
#: The largest error of the reference itself, by form: more says nothing about readers.
_REFERENCE = {"float": 1e-5, "float16": 0.01, "weights": 0.1, "int16": 0.1, "dynamic": 0.1, "int8": 0.2, "int4": 0.7}
#: The kinds of readers that take open dimensions for 1.
_FIXED = frozenset({"intel-npu", "tflite-micro", "tvm", "web"})
# numpy reads headers by Python's parser, which in 3.11 does not bear two threads.
_LOADING = threading.Lock()


@dataclass(frozen=True)
class Reading:
    """What becomes of a file in a reader.

    Attributes:
        verdict: ``right``, ``wrong``, ``refuses`` or ``dies``; ``runs`` until it is judged.
        errors: The largest difference from TensorFlow in each call, in units of the largest element of the output; none
            if it is not run.
        message: Why it is not right.
    """

    verdict: str
    errors: tuple[float, ...] = ()
    message: str = ""

    @property
    def error(self) -> float:
        """The largest difference in any call."""
        return max(self.errors, default=float("nan"))

    @property
    def cell(self) -> str:
        """The verdict and the error, for records."""
        return f"{self.verdict} {self.error:.1e}" if self.errors else self.verdict


class Reader:
    """A reader in an environment of its own.

    Args:
        name: Its name in tables.
        kind: Its kind, of ``suites.readers.reader``.
        python: The Python of its environment.

    Attributes:
        name: Its name.
        kind: Its kind.
        version: The version of its package.

    Raises:
        RuntimeError: It does not start.
    """

    def __init__(self, name: str, kind: str, python: str) -> None:
        self.name, self.kind = name, kind
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the reader
        self._process = subprocess.Popen(
            [python, "-I", str(_PROGRAM), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )
        self.version: str = self._answer()["version"]

    def __enter__(self) -> Reader:  # noqa: PYI034  Python 3.10 has no Self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        self._log.close()

    def ask(self, model: Path, calls: Sequence[Path], outputs: Path) -> dict[str, str]:
        """Has it make calls of a model; returns the verdict and the message, and writes the outputs."""
        request = {
            "model": str(model),
            "inputs": input_order(model),
            "calls": [str(path) for path in calls],
            "outputs": str(outputs),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, str]:
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return json.loads(line)
        self._process.wait()
        self._log.seek(0)
        raise RuntimeError(f"{self.name} does not start: {self._log.read().decode(errors='replace')[-2000:]}")


def read(reader: Reader, file: File) -> Reading:
    """Returns what becomes of a file in a reader, not judged yet.

    Raises:
        ValueError: There is no file.
    """
    if file.path is None:
        raise ValueError(f"{file.name}: there is no file")
    number = FIXED_CALLS if reader.kind in _FIXED else file.calls
    outputs = file.path.with_name(f"{file.path.name}.{reader.name}.npz")
    answer = reader.ask(file.path, [file.case / f"inputs_{each}.npz" for each in range(number)], outputs)
    if answer["verdict"] != "runs":
        return Reading(answer["verdict"], message=answer["message"])
    with _LOADING, np.load(outputs) as stored:
        pairs = zip(range(number), _expected(file), strict=False)
        return Reading("runs", tuple(_error(stored[f"{each}.0"], expected) for each, expected in pairs))


def judged(reading: Reading, reference: Reading, file: File) -> Reading:
    """Returns the verdict on what became of a file, by what becomes of it in the current LiteRT."""
    if not reading.errors or file.path is None:
        return reading
    if not reference.errors:
        return replace(reading, verdict="wrong", message=f"LiteRT does not run it: {reference.message}")
    theirs = max(reference.errors[: len(reading.errors)])
    if not theirs <= (most := _REFERENCE[file.form]):
        return replace(reading, verdict="wrong", message=f"LiteRT is off by {theirs:.2g}, more than {most}")
    largest = min(float(np.abs(expected).max()) for expected in _expected(file))
    if reading.error <= _TIMES * theirs + max(_FLOOR, step_of(file.path) / largest):
        return replace(reading, verdict="right")
    return replace(reading, verdict="wrong", message=f"off by {reading.error:.2g}, LiteRT by {theirs:.2g}")


def _expected(file: File) -> list[npt.NDArray[Any]]:
    return [outputs["y"] for _, outputs in read_calls(file.case)]


def _error(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """Returns the largest difference, in units of the largest element; infinite for another shape or no number."""
    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max() / np.abs(expected).max())
