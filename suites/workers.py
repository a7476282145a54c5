"""Worker processes: they are asked, watched, and started again when they die."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from suites.outcomes import Verdict

REPOSITORY = Path(__file__).resolve().parents[1]
_TAIL = 300


class Worker:
    """A process that answers requests in one role, started when it is asked.

    Args:
        python: The Python that runs it.
        role: The role, of ``suites.worker``.
        timeout: Seconds that an answer may take.
    """

    def __init__(self, python: str, role: str, timeout: float) -> None:
        self._command = [python, "-m", "suites.worker", role]
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the worker

    def __enter__(self) -> Worker:  # noqa: PYI034  Python 3.10 has no Self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self._log.close()

    def ask(self, case: Path, model: Path) -> dict[str, Any]:
        """Asks for what becomes of a case; a death or too long a time is an answer, too."""
        process = self._process or self._start()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is dead, as its answer will say
            process.stdin.write(json.dumps({"case": str(case), "model": str(model)}) + "\n")
            process.stdin.flush()
        try:
            answer = self._answers.get(timeout=self._timeout)
        except queue.Empty:
            self._end()
            return {"verdict": Verdict.TOO_SLOW.value, "message": f"no answer in {self._timeout:.0f} s"}
        if answer:
            return json.loads(answer)
        code = process.wait()
        self._end()
        ending = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return {"verdict": Verdict.DIED.value, "message": f"{ending}: {self._last_words()}"}

    def _start(self) -> subprocess.Popen[str]:
        self._log.truncate(0)
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TF_CPP_MIN_LOG_LEVEL": "3"}
        self._process = process = subprocess.Popen(
            self._command,
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._answers = answers = queue.Queue[str]()

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                answers.put(line)
            answers.put("")

        threading.Thread(target=read, daemon=True).start()
        return process

    def _end(self) -> None:
        """Ends the process with all that it started."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _last_words(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-_TAIL:]
