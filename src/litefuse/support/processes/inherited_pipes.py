"""The ends of pipes that a child process inherits: descriptors on POSIX systems, handles on Windows."""

from __future__ import annotations

import errno
import os
import sys
from typing import IO, Any


def numbers_there(*descriptors: int) -> list[int]:
    """Returns the numbers that a child process has for descriptors of this one, once it has inherited them."""
    if sys.platform == "win32":
        import msvcrt

        return [msvcrt.get_osfhandle(descriptor) for descriptor in descriptors]
    return [*descriptors]


def popen_arguments(*descriptors: int) -> dict[str, Any]:
    """Returns the arguments of ``subprocess.Popen`` that have a child process inherit descriptors."""
    if sys.platform == "win32":
        import subprocess

        handles = numbers_there(*descriptors)
        for handle in handles:
            os.set_handle_inheritable(handle, True)
        return {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})}
    return {"pass_fds": descriptors}


def open_descriptor(number: int, flags: int) -> int:
    """Returns the descriptor, in the child process, of what it has inherited by a number.

    Args:
        number: One of those that ``numbers_there`` returned in the parent process.
        flags: ``os.O_RDONLY`` or ``os.O_WRONLY``.
    """
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.open_osfhandle(number, flags)
    return number


def write_all(pipe: IO[bytes], data: memoryview) -> None:
    """Writes data to the unbuffered end of a pipe.

    Raises:
        BrokenPipeError: The other process has ended.
    """
    try:
        while data:
            data = data[pipe.write(data) :]
    except OSError as error:
        if sys.platform == "win32" and error.errno == errno.EINVAL:  # what it says of a pipe that nobody reads
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
        raise
