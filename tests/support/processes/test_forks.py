"""Jobs in forks of a process that has imported a module."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from litefuse.errors import EngineCrashError, LimitError, LitefuseError
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.support.processes.process import run_alone

HERE = "tests.support.processes.test_forks"
Announce = Callable[[str], None]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


def fork(job: Callable[..., Any], argument: object = None, **environment: str) -> Any:
    return run_alone(f"{HERE}:{job.__name__}", argument, environment=environment, imported="statistics")


def look(_: object, announce: Announce) -> tuple[int, int, bool, str, str]:
    """The parent's and the own process, what was imported, and what the process is told of its surroundings."""
    announce("look")
    return os.getppid(), os.getpid(), "statistics" in sys.modules, os.environ.get("COLOR", ""), str(Path.cwd())


def remember(value: str, _: Announce) -> str:
    before = getattr(sys, "remembered", "")
    sys.remembered = before + value  # type: ignore[attr-defined]
    return before


def end(code: int, announce: Announce) -> None:
    announce("end")
    os.write(2, b"last words")
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


def sleep(path: str, announce: Announce) -> None:
    Path(path).write_text(str(os.getpid()))
    announce("sleep")
    time.sleep(1000)


def refuse(_: object, __: Announce) -> None:
    raise LitefuseError("no")


def test_jobs_are_forks_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fork(look, COLOR="red")
    monkeypatch.chdir(tmp_path)
    second = fork(look, COLOR="blue")
    assert first[0] == second[0] != os.getpid()
    assert first[1] != second[1]
    assert first[2]
    assert (first[3], second[3]) == ("red", "blue")
    assert second[4] == str(tmp_path)
    assert fork(remember, "a") == fork(remember, "b") == ""  # no job sees another one's state


def test_what_is_read_on_import_has_another_process() -> None:
    parent = fork(look)[0]
    assert fork(look, TF_SOMETHING="1")[0] != parent
    assert run_alone(f"{HERE}:look", None, environment={}, imported="fractions")[0] != fork(look)[0]


@pytest.mark.parametrize(
    ("code", "death"), [(-signal.SIGSEGV, "SIGSEGV"), (-signal.SIGKILL, "SIGKILL"), (3, "exit code 3"), (0, "code 0")]
)
def test_a_job_that_dies_is_told_and_the_next_runs(code: int, death: str) -> None:
    with pytest.raises(EngineCrashError, match="'end'") as raised:
        fork(end, code)
    assert death in raised.value.death
    assert "last words" in raised.value.message
    assert fork(look)[2]
    with pytest.raises(LitefuseError, match=r"^no$"):
        fork(refuse)
    with pytest.raises(EngineCrashError) as raised:
        fork(end, 4)
    assert raised.value.message.count("last words") == 1  # nothing of an earlier job


def test_a_job_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    fork(look)
    with processes_limited(ProcessLimits(timeout=2)), pytest.raises(LimitError):
        fork(sleep, str(tmp_path / "pid"))
    pid = int((tmp_path / "pid").read_text())
    for _ in range(600):
        if not Path(f"/proc/{pid}").exists() or "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the fork lives on")
    assert fork(look)[2]


def test_threads_have_processes_of_their_own() -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(fork(look)[1])) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(set(found)) == 4


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert fork(look)[2]
