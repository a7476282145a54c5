"""Reading this process's memory where an address may be wrong."""

from __future__ import annotations

import ctypes
import os

from litefuse.litert.runtime.process_memory import c_library, library_of, read_memory


def test_memory_that_is_there_and_memory_that_is_not() -> None:
    buffer = ctypes.create_string_buffer(b"0123456789" * 500)
    address = ctypes.addressof(buffer)
    assert read_memory(address + 3, 4) == b"3456"
    assert read_memory(address, 5000) == b"0123456789" * 500
    assert read_memory(8, 4) is None
    assert read_memory(0, 4) is None


def test_the_library_of_a_function() -> None:
    functions = c_library()
    # Not those that a sanitizer puts its own in the place of.
    first, second = (ctypes.cast(each, ctypes.c_void_p).value or 0 for each in (functions.labs, functions.abs))
    assert library_of(first)
    assert library_of(first) == library_of(second)
    buffer = ctypes.create_string_buffer(64)
    assert library_of(ctypes.addressof(buffer)) is None


def test_memory_is_made_and_freed() -> None:
    address = c_library().malloc(1 << 20)
    ctypes.memset(address, 7, 1 << 20)
    assert read_memory(address + (1 << 20) - 3, 3) == b"\7\7\7"
    c_library().free(address)


def test_reading_leaves_no_files_open() -> None:
    buffer = ctypes.create_string_buffer(b"0123456789")
    address = ctypes.addressof(buffer)
    before = _free_descriptors()
    assert [read_memory(address, 4), read_memory(8, 4)] == [b"0123", None]
    assert _free_descriptors() == before


def _free_descriptors() -> tuple[int, int]:
    """The descriptors that the next two files get: the lowest that are free."""
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    return reader, writer
