"""Child processes and temporary folders on Windows."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from litefuse.errors import EngineCrashError, LimitError, LitefuseError, ModelCrashError
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.support.processes.process import Worker, run_in_worker, run_model

assert sys.platform == "win32"
HERE = "tests.windows.processes_in_wine"

Announce = Callable[[str], None]


def echo(argument: object, announce: Announce) -> tuple[object, int]:
    announce("one")
    return argument, os.getpid()


def crash(_: object, announce: Announce) -> None:
    announce("calling")
    # A thread of which Python knows nothing begins at an address with nothing behind it.
    ctypes.WinDLL("kernel32").CreateThread(None, 0, ctypes.c_void_p(8), None, 0, None)
    time.sleep(60)


def leave(code: int, _: Announce) -> None:
    os._exit(code)


def sleep(seconds: float, announce: Announce) -> None:
    announce("sleeping")
    time.sleep(seconds)


def tell(text: str, _: Announce) -> None:
    print(text, flush=True)


def start_sleeper(_: object, __: Announce) -> int:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid


def is_alive(pid: int) -> bool:
    query, still_active = 0x1000, 259
    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle: int | None = kernel.OpenProcess(query, False, pid)
    if not handle:
        return False
    code = ctypes.c_uint32()
    kernel.GetExitCodeProcess(ctypes.c_void_p(handle), ctypes.byref(code))
    kernel.CloseHandle(ctypes.c_void_p(handle))
    return code.value == still_active


def test_a_process_serves_many_jobs_and_large_ones() -> None:
    steps: list[str] = []
    first, one = run_in_worker(f"{HERE}:echo", {"a": [1, 2]}, steps.append)
    data = bytes(range(256)) * 100_000
    second, two = run_in_worker(f"{HERE}:echo", data)
    assert (first, second == data, steps, one) == ({"a": [1, 2]}, True, ["one"], two)
    assert one != os.getpid()


@pytest.mark.parametrize("job", [("crash", 0), ("leave", 3)], ids=["crash", "exit"])
def test_a_process_that_dies_is_an_error(job: tuple[str, int]) -> None:
    with pytest.raises(EngineCrashError, match=r"exit code (0xc0000005|3)\)") as error:
        run_in_worker(f"{HERE}:{job[0]}", job[1])
    assert error.value.step == ("calling" if job[0] == "crash" else "start")
    assert run_in_worker(f"{HERE}:echo", 1)[0] == 1


def test_a_process_that_died_while_it_was_idle_is_replaced() -> None:
    _, before = run_in_worker(f"{HERE}:echo", 1)
    subprocess.run(["taskkill", "/F", "/PID", str(before)], check=True, stdout=subprocess.DEVNULL)
    while is_alive(before):
        time.sleep(0.05)
    _, after = run_in_worker(f"{HERE}:echo", 1)
    assert after != before


def test_a_model_that_crashes_is_an_error() -> None:
    with pytest.raises(ModelCrashError, match="exit code 0xc0000005"):
        run_model(f"{HERE}:crash", 0, "model.tflite")


def test_kernels_print_where_this_process_prints(capfd: pytest.CaptureFixture[str]) -> None:
    run_model(f"{HERE}:tell", "from a kernel", "model.tflite")
    assert "from a kernel" in capfd.readouterr().out


def test_a_process_is_ended_in_time() -> None:
    with processes_limited(ProcessLimits(timeout=5)), pytest.raises(LimitError, match="'sleeping'"):
        run_in_worker(f"{HERE}:sleep", 600)


def test_memory_is_not_limited_here() -> None:
    with pytest.raises(LitefuseError, match="only on Linux"):
        ProcessLimits(memory=10**9)


def test_a_group_ends_with_all_that_it_started() -> None:
    worker = Worker(group=True)
    pid = worker.run(f"{HERE}:start_sleeper", None, lambda _: None)
    assert is_alive(pid)
    worker.close()
    for _ in range(100):
        if not is_alive(pid):
            return
        time.sleep(0.1)
    pytest.fail("it still runs")


_HOLD = """
import sys, time
from litefuse.support.files.temporary import make_temporary_folder
folder = make_temporary_folder(sys.argv[1])
open(folder.name + "/file", "w").close()
print("made", flush=True)
time.sleep(600)
"""


def test_the_folders_of_processes_that_ended_go_and_those_of_others_stay(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().strip() == b"made"
        mine = subprocess.run(
            [sys.executable, "-c", _HOLD.replace("600", "0"), str(tmp_path)], capture_output=True, check=True
        )
        assert mine.stdout.strip() == b"made"
        (left,) = tmp_path.iterdir()  # of the one that runs
        assert any(left.rglob("file"))
    finally:
        holder.kill()
        holder.wait()
    (tmp_path / ".litefuse-of-a-user").mkdir()
    with make_temporary_folder(tmp_path) as folder:
        assert not left.exists()
        assert Path(folder).is_dir()
    assert [each.name for each in tmp_path.iterdir()] == [".litefuse-of-a-user"]
