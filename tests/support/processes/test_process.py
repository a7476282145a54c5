from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from litefuse.errors import EngineCrashError, LitefuseError, UnsupportedOp, UnsupportedOpsError
from litefuse.support.processes import process
from litefuse.support.processes.process import prepare_worker, run_in_worker


def echo(argument: object, announce: Callable[[str], None]) -> tuple[object, int]:
    announce("one")
    announce("two")
    os.write(1, b"noise on standard output\n")
    return argument, os.getpid()


def die(number: int, announce: Callable[[str], None]) -> None:
    announce("before")
    announce("while dying")
    os.write(2, b"last words\n")
    os.kill(os.getpid(), number)


def leave(code: int, _: Callable[[str], None]) -> None:
    os._exit(code)


def refuse(_: object, __: Callable[[str], None]) -> None:
    op = UnsupportedOp("Erf", "a/erf", "main", ("float32[2]",), ("float32[2]",))
    raise UnsupportedOpsError("no", where="here", hint="do this", ops=[op])


def loaded(name: object, _: Callable[[str], None]) -> bool:
    return name in sys.modules


def run_out(kind: type[Exception], _: Callable[[str], None]) -> None:
    raise kind("in the worker")


def call_exit(code: object, _: Callable[[str], None]) -> None:
    sys.exit(code)  # pyright: ignore[reportArgumentType]


HERE = "tests.support.processes.test_process"


def test_results_and_steps_come_back() -> None:
    steps: list[str] = []
    result, worker = run_in_worker(f"{HERE}:echo", {"a": [1, 2]}, steps.append)
    assert result == {"a": [1, 2]}
    assert worker != os.getpid()
    assert steps == ["one", "two"]


def test_a_worker_is_kept() -> None:
    assert run_in_worker(f"{HERE}:echo", 1)[1] == run_in_worker(f"{HERE}:echo", 2)[1]


def test_a_worker_of_another_import_path_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "installed_later.py").write_text("def job(argument, announce):\n    return argument + 1\n")
    run_in_worker(f"{HERE}:echo", 1)
    monkeypatch.syspath_prepend(tmp_path)
    assert run_in_worker("installed_later:job", 1) == 2


@pytest.fixture
def no_worker() -> None:
    """Ends those that earlier tests left: several, where conversions ran at the same time."""
    process._close_idle()  # pyright: ignore[reportPrivateUsage] # noqa: SLF001


@pytest.mark.usefixtures("no_worker")
def test_a_worker_that_was_prepared_has_its_module() -> None:
    prepare_worker("colorsys")
    assert run_in_worker(f"{HERE}:loaded", "colorsys")


def test_an_idle_worker_that_was_killed_is_replaced() -> None:
    before = run_in_worker(f"{HERE}:echo", 1)[1]
    os.kill(before, signal.SIGKILL)
    result, worker = run_in_worker(f"{HERE}:echo", 2)  # whether it has ended by now or not
    assert result == 2
    assert worker != before


@pytest.mark.usefixtures("no_worker")
def test_a_worker_that_is_killed_before_it_begins_is_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run_in_worker(f"{HERE}:echo", 1)[1]
    os.kill(before, signal.SIGSTOP)  # it gets the job, and does not begin
    usable = process.Worker.is_usable

    def killed_afterwards(worker: Any) -> bool:
        found = usable(worker)
        os.kill(before, signal.SIGKILL)
        return found

    monkeypatch.setattr(process.Worker, "is_usable", killed_afterwards)
    assert run_in_worker(f"{HERE}:echo", 2)[0] == 2


@pytest.mark.usefixtures("no_worker")
def test_a_job_that_always_dies_at_once_is_an_error() -> None:
    run_in_worker(f"{HERE}:echo", 1)
    with pytest.raises(EngineCrashError, match="exit code 7"):
        run_in_worker(f"{HERE}:leave", 7)


def test_an_interrupt_of_everybody_leaves_the_worker_alone() -> None:
    before = run_in_worker(f"{HERE}:echo", 1)[1]
    os.kill(before, signal.SIGINT)
    assert run_in_worker(f"{HERE}:echo", 1)[1] == before


def test_a_worker_that_is_there_need_not_be_prepared() -> None:
    before = run_in_worker(f"{HERE}:echo", 1)[1]
    prepare_worker("colorsys")
    assert run_in_worker(f"{HERE}:echo", 1)[1] == before


@pytest.mark.usefixtures("no_worker")
def test_a_module_that_cannot_be_imported_is_the_error_of_the_job_that_needs_it() -> None:
    prepare_worker("no_such_module")
    assert run_in_worker(f"{HERE}:echo", 1)[0] == 1
    with pytest.raises(LitefuseError, match="no_such_module"):
        run_in_worker("no_such_module:run", None)


@pytest.mark.parametrize("size", [1 << 10, 1 << 22])
def test_what_is_larger_than_a_pipe_comes_whole(size: int) -> None:
    assert run_in_worker(f"{HERE}:echo", b"x" * size)[0] == b"x" * size


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGKILL])
def test_a_death_is_an_error_with_the_step(number: signal.Signals) -> None:
    with pytest.raises(EngineCrashError) as caught:
        run_in_worker(f"{HERE}:die", int(number))
    assert caught.value.step == "while dying"
    assert number.name in caught.value.message
    assert "last words" in caught.value.message
    assert run_in_worker(f"{HERE}:echo", 3)[0] == 3  # the next one gets a new process


def test_an_exit_is_an_error_too() -> None:
    with pytest.raises(EngineCrashError, match="exit code 7"):
        run_in_worker(f"{HERE}:leave", 7)


def test_errors_keep_what_they_say() -> None:
    before = run_in_worker(f"{HERE}:echo", 1)[1]
    with pytest.raises(UnsupportedOpsError) as caught:
        run_in_worker(f"{HERE}:refuse", None)
    assert str(caught.value) == "here: no\ndo this"
    assert caught.value.ops[0].op == "Erf"
    assert run_in_worker(f"{HERE}:echo", 1)[1] == before  # an error is no reason for a new process


@pytest.mark.parametrize("kind", [RecursionError, MemoryError])
def test_exhaustion_is_a_litefuse_error(kind: type[Exception]) -> None:
    with pytest.raises(LitefuseError, match=r"too deeply|out of memory"):
        run_in_worker(f"{HERE}:run_out", kind)


def test_conversion_code_that_would_end_the_process_is_named() -> None:
    with pytest.raises(LitefuseError, match=r"sys.exit\(3\) was called") as caught:
        run_in_worker(f"{HERE}:call_exit", 3)
    assert caught.value.where.endswith(f"test_process.py, line {call_exit.__code__.co_firstlineno + 1}")


def test_a_bug_of_ours_is_reported_as_one() -> None:
    with pytest.raises(LitefuseError, match="ZeroDivisionError") as caught:
        run_in_worker(f"{HERE}:run_out", ZeroDivisionError)
    assert "bug" in caught.value.hint


def test_a_worker_ends_with_its_parent() -> None:
    program = (
        "from litefuse.support.processes.process import run_in_worker; import os; "
        f"print(run_in_worker('{HERE}:echo', None)[1], flush=True); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    worker = int(done.stdout)
    for _ in range(3000):
        if has_ended(worker):
            return
        time.sleep(0.02)
    pytest.fail("the worker outlived its parent")


def has_ended(pid: int) -> bool:
    """Whether it does nothing any more: in a container, nobody may ask for the exit code of one without a parent."""
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except ProcessLookupError:
        return True
    except FileNotFoundError:  # it ended meanwhile, or this system has no such files
        return False


def test_importing_the_api_loads_no_engine() -> None:
    program = "import sys, litefuse; sys.exit('litert_converter' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
