"""How child processes end, and are ended, on POSIX systems and on Windows."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any

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


class ProcessGroup:
    """A process with all that it starts: a group of processes on POSIX systems, a job object on Windows.

    Args:
        process: The process, which :func:`own_group` gave a group of its own.

    Raises:
        OSError: Windows refuses it.
    """

    def __init__(self, process: subprocess.Popen[Any]) -> None:
        self._pid = process.pid
        if sys.platform == "win32":
            kernel = _kernel()
            self._job = kernel.CreateJobObjectW(None, None)
            if not self._job or not kernel.AssignProcessToJobObject(self._job, int(vars(process)["_handle"])):
                raise ctypes.WinError(ctypes.get_last_error())

    def kill(self) -> None:
        """Has the system end all of them."""
        if sys.platform == "win32":
            _kernel().TerminateJobObject(self._job, 1)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # on macOS, of zombies alone
            os.killpg(self._pid, signal.SIGKILL)


if sys.platform == "win32":
    import ctypes
    from ctypes import c_int, c_uint, c_void_p

    def _kernel() -> ctypes.WinDLL:
        """Functions of ``jobapi2.h``."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = c_void_p
        kernel.CreateJobObjectW.argtypes = (c_void_p, c_void_p)
        kernel.AssignProcessToJobObject.restype = kernel.TerminateJobObject.restype = c_int
        kernel.AssignProcessToJobObject.argtypes = (c_void_p, c_void_p)
        kernel.TerminateJobObject.argtypes = (c_void_p, c_uint)
        return kernel


def is_crash(code: int) -> bool:
    """Whether the system ended the process that returned a code."""
    return code < 0 or (sys.platform == "win32" and code >= _EXCEPTIONS)


def ending(code: int) -> str:
    """Returns how the process ended that returned a code: a signal's name or an exit code."""
    if code < 0:
        return signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
    return f"exit code {code:#x}" if is_crash(code) else f"exit code {code}"
