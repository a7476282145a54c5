"""How child processes end, and are ended, on POSIX systems and on Windows."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any

__all__ = ["ending", "is_crash", "kill_group", "own_group"]

# The codes of exceptions that the system ends a process for begin here: STATUS_SEVERITY_ERROR of ntstatus.h.
_EXCEPTIONS = 0xC0000000


def own_group(group: bool) -> dict[str, Any]:
    """Returns the arguments of ``subprocess.Popen`` that give a process a group of its own.

    Args:
        group: Whether it needs one, to be ended with all that it started. On Windows it always gets one, and sees no
            interrupts.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": group}


def kill_group(pid: int) -> None:
    """Ends a process that has a group of its own, with all that it started."""
    if sys.platform == "win32":
        command = ["taskkill", "/F", "/T", "/PID", str(pid)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # on macOS, of zombies alone
        os.killpg(pid, signal.SIGKILL)


def is_crash(code: int) -> bool:
    """Whether the system ended the process that returned a code."""
    return code < 0 or (sys.platform == "win32" and code >= _EXCEPTIONS)


def ending(code: int) -> str:
    """Returns how the process ended that returned a code: a signal's name or an exit code."""
    if code < 0:
        return signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
    return f"exit code {code:#x}" if is_crash(code) else f"exit code {code}"
