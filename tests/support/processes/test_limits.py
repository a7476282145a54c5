"""Limits of one job, which the process that is kept for the next does not have."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from litefuse.errors import EngineCrashError, LimitError, LitefuseError
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.support.processes.process import run_alone, run_in_worker

HERE = "tests.support.processes.test_limits"


def sleep(seconds: float, announce: Callable[[str], None]) -> int:
    announce("sleep")
    time.sleep(seconds)
    return os.getpid()


def memory_limit(_: object, __: Callable[[str], None]) -> tuple[int, int]:
    return os.getpid(), resource.getrlimit(resource.RLIMIT_DATA)[0]


def allocate(size: int, announce: Callable[[str], None]) -> int:
    announce("allocate")
    return len(bytearray(size))


def abort(words: str, _: Callable[[str], None]) -> None:
    os.write(2, words.encode())
    os.abort()


def alone(target: str, argument: object) -> Any:
    return run_alone(target, argument, environment={})


RUNNERS = (run_in_worker, alone)


def test_a_job_that_takes_too_long_is_ended_and_the_next_is_not() -> None:
    with processes_limited(ProcessLimits(timeout=1)):
        started = time.monotonic()
        with pytest.raises(LimitError, match=r"timeout \(1 seconds\).*'sleep'") as caught:
            run_in_worker(f"{HERE}:sleep", 1000)
    assert caught.value.limit == "timeout"
    assert time.monotonic() - started < 500
    assert run_in_worker(f"{HERE}:sleep", 0)


def test_the_time_is_that_of_all_processes_together() -> None:
    with processes_limited(ProcessLimits(timeout=0.01)):
        time.sleep(0.02)
        for run in RUNNERS:
            with pytest.raises(LimitError, match="timeout"):
                run(f"{HERE}:sleep", 1000)


def test_a_job_in_time_leaves_the_process_for_the_next() -> None:
    with processes_limited(ProcessLimits(timeout=600)):
        worker = run_in_worker(f"{HERE}:sleep", 0)
    assert run_in_worker(f"{HERE}:sleep", 0) == worker


def test_a_process_whose_memory_is_limited_does_nothing_else() -> None:
    kept, before = run_in_worker(f"{HERE}:memory_limit", None)
    with processes_limited(ProcessLimits(memory=1 << 32)):
        first, limit = run_in_worker(f"{HERE}:memory_limit", None)
        second, _ = run_in_worker(f"{HERE}:memory_limit", None)
    assert limit == 1 << 32 != before
    assert len({kept, first, second}) == 3
    assert run_in_worker(f"{HERE}:memory_limit", None) == (kept, before)


def test_memory_that_is_not_there() -> None:
    with processes_limited(ProcessLimits(memory=1 << 28)):
        assert run_in_worker(f"{HERE}:allocate", 1 << 20) == 1 << 20
        for run in RUNNERS:
            with pytest.raises(LimitError, match=r"memory \(268,435,456 bytes\)") as caught:
                run(f"{HERE}:allocate", 1 << 29)
            assert caught.value.limit == "memory"
    assert run_in_worker(f"{HERE}:allocate", 1 << 29) == 1 << 29


def test_what_a_process_says_that_dies_of_it() -> None:
    with processes_limited(ProcessLimits(memory=1 << 32)):
        with pytest.raises(LimitError, match="memory"):
            run_in_worker(f"{HERE}:abort", "terminate called after throwing an instance of 'std::bad_alloc'")
        with pytest.raises(EngineCrashError, match="SIGABRT") as caught:
            run_in_worker(f"{HERE}:abort", "something else")
    assert "memory may be the cause" in caught.value.hint
    with pytest.raises(EngineCrashError, match="bad_alloc"):  # nobody set a limit
        run_in_worker(f"{HERE}:abort", "std::bad_alloc")


def test_memory_is_limited_on_linux_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(LitefuseError, match="only on Linux"):
        ProcessLimits(memory=1 << 30)
