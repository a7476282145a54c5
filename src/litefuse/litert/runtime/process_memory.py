"""This process's memory as the system sees it: C's allocator, readable pages, the library that has a function.

Source for Windows: ``memoryapi.h``, ``winnt.h`` and ``psapi.h`` of its SDK.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from ctypes import c_char_p, c_size_t, c_uint32, c_void_p
from typing import NamedTuple

# MEM_IMAGE, and PAGE_EXECUTE with what may be done besides
_OF_LIBRARY, _EXECUTABLE = 0x1000000, 0xF0


@functools.cache
def c_library() -> ctypes.CDLL:
    """The C library of the process, whose ``malloc`` and ``free`` the runtime uses."""
    # On Windows, each C library has a heap of its own; LiteRT and Python have this one.
    loaded = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
    loaded.malloc.restype = c_void_p
    loaded.malloc.argtypes = (c_size_t,)
    loaded.free.restype = None
    loaded.free.argtypes = (c_void_p,)
    return loaded


def read_memory(address: int, size: int) -> bytes | None:
    """Reads memory of this process where an address may be wrong; None if there is nothing."""
    if sys.platform == "win32":
        buffer = ctypes.create_string_buffer(size)
        read = c_size_t()
        kernel = _kernel()
        done = kernel.ReadProcessMemory(kernel.GetCurrentProcess(), address, buffer, size, ctypes.byref(read))
        return buffer.raw if done and read.value == size else None
    # The system refuses to write into a pipe from an address that is not mapped.
    reader, writer = os.pipe()
    try:
        if c_library().write(writer, c_void_p(address), c_size_t(size)) != size:
            return None
        return os.read(reader, size)
    finally:
        os.close(reader)
        os.close(writer)


class _DlInfo(ctypes.Structure):
    fname: bytes
    fbase: int | None

    _fields_ = (("fname", c_char_p), ("fbase", c_void_p), ("sname", c_char_p), ("saddr", c_void_p))


class _Pages(ctypes.Structure):
    """``MEMORY_BASIC_INFORMATION`` of Windows; in the pages of a library, ``library`` is where that begins."""

    library: int | None
    protection: int
    kind: int

    _fields_ = (
        ("base", c_void_p),
        ("library", c_void_p),
        ("first_protection", c_uint32),
        ("partition", c_uint32),
        ("size", c_size_t),
        ("state", c_uint32),
        ("protection", c_uint32),
        ("kind", c_uint32),
    )


def library_of(function: int) -> int | None:
    """Returns the base address of the shared library that holds a function; None if none does."""
    if sys.platform == "win32":
        pages = _Pages()
        size = _kernel().VirtualQuery(function, ctypes.byref(pages), ctypes.sizeof(pages))
        return pages.library if size and pages.kind == _OF_LIBRARY and pages.protection & _EXECUTABLE else None
    info = _DlInfo()
    if not c_library().dladdr(c_void_p(function), ctypes.byref(info)):
        return None
    return info.fbase or 0


class WorkingSet(NamedTuple):
    """The memory of a process on Windows, in bytes.

    Attributes:
        total: What is resident now.
        peak: The most that ever was.
        private: What is this process's alone, resident or not.
    """

    total: int
    peak: int
    private: int


class _Counters(ctypes.Structure):
    """``PROCESS_MEMORY_COUNTERS_EX``."""

    peak: int
    total: int
    private: int

    _fields_ = (
        ("cb", c_uint32),
        ("page_faults", c_uint32),
        ("peak", c_size_t),
        ("total", c_size_t),
        ("pools", c_size_t * 4),
        ("page_file", c_size_t * 2),
        ("private", c_size_t),
    )


def working_set() -> WorkingSet | None:
    """Returns the memory of this process; None on other systems than Windows, and where that does not say."""
    if sys.platform == "win32":
        counters = _Counters(ctypes.sizeof(_Counters))
        kernel = _kernel()
        if kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), ctypes.sizeof(counters)):
            return WorkingSet(counters.total, counters.peak, counters.private)
    return None


if sys.platform == "win32":

    @functools.cache
    def _kernel() -> ctypes.WinDLL:
        """The functions of the system, with the types of their arguments."""
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.restype = c_void_p
        kernel.ReadProcessMemory.argtypes = (c_void_p, c_void_p, c_void_p, c_size_t, ctypes.POINTER(c_size_t))
        kernel.VirtualQuery.argtypes = (c_void_p, ctypes.POINTER(_Pages), c_size_t)
        kernel.VirtualQuery.restype = c_size_t
        kernel.K32GetProcessMemoryInfo.argtypes = (c_void_p, ctypes.POINTER(_Counters), c_uint32)
        return kernel
