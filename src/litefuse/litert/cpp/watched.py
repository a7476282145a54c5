"""Commands that end with the process that started them, with all that they started, and leave no files behind.

A compiler starts others, and puts files between them into the folder for temporary ones. It runs as the child of a
process that watches: this module as a script, whose standard input ends with the process that waits for it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

# Written where the process that waits gives up. Where it has ended, its folders are nobody's.
_GIVEN_UP = b"."


def run_watched(
    command: Sequence[str], environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end.

    If this process ends before, or gives up, the system ends the command and all that it started. If it has ended, its
    temporary folders are removed as well.

    Args:
        command: The command.
        environment: Its environment variables.
        timeout: How many seconds it may take.

    Returns:
        What it printed, and its exit code.

    Raises:
        LitefuseError: No folder for temporary files.
        subprocess.TimeoutExpired: It did not end in time.
    """
    from litefuse.support.files.temporary import folders_of_process, make_temporary_file

    folders = folders_of_process()
    watching = [sys.executable, "-I", "-S", __file__, str(len(folders)), *folders, *command]
    with make_temporary_file() as output, make_temporary_file() as errors:
        process = subprocess.Popen(
            watching,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            env=environment,
            bufsize=0,
            start_new_session=True,  # interrupts from a terminal are for this process, which ends it
        )
        assert process.stdin is not None
        try:
            process.wait(timeout)
        except BaseException:
            process.stdin.write(_GIVEN_UP)
            process.stdin.close()
            process.wait()
            raise
        process.stdin.close()
        texts: list[str] = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return subprocess.CompletedProcess(command, process.returncode, *texts)


def _watch(folders: Sequence[str], command: Sequence[str]) -> int:
    """Runs a command, and ends it where the standard input ends before; returns its exit code."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    is_ending = threading.Event()

    def end() -> None:
        told = sys.stdin.buffer.read()
        is_ending.set()
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for folder in folders if not told else ():
            shutil.rmtree(folder, ignore_errors=True)

    watcher = threading.Thread(target=end, daemon=True)
    watcher.start()
    code = process.wait()
    if is_ending.is_set():
        watcher.join()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    _count = int(sys.argv[1]) + 2
    sys.stdout.flush()
    os._exit(_watch(sys.argv[2:_count], sys.argv[_count:]))
