"""The lines that the runtime prints for each interpreter (``INFO: Created TensorFlow Lite XNNPACK delegate for CPU.``).

The least severity that it prints has no setter; it is a variable that the symbol table of its library lists, in ELF and
in Mach-O. Warnings and errors are printed as before.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import struct
from collections.abc import Mapping
from pathlib import Path

from litefuse.litert.runtime.litert_library import file_of_package

_LIBRARIES = ("libpywrap_litert_common.so", "libpywrap_litert_common.dylib")
_SEVERITY = "_ZN6tflite16logging_internal13MinimalLogger21minimum_log_severity_E"
_EXPORTED = "Wrapped_PyInit__pywrap_litert_interpreter_wrapper"
# ``tflite::LogSeverity``.
_INFO, _WARNING = 1, 2


@functools.cache
def silence_start_up_lines() -> bool:
    """Has the runtime print warnings and errors only, in this process.

    Returns:
        Whether it does: a library of another kind, or without its symbols, stays as it is.
    """
    path = file_of_package(_LIBRARIES)
    if path is None:
        return False
    try:
        values = symbols(path, (_SEVERITY, _EXPORTED))
        exported = ctypes.cast(ctypes.CDLL(str(path))[_EXPORTED], ctypes.c_void_p).value or 0
    except (OSError, AttributeError, ValueError, struct.error):
        return False
    if len(values) < 2:
        return False
    severity = ctypes.c_int.from_address(exported - values[_EXPORTED] + values[_SEVERITY])
    if severity.value == _INFO:
        severity.value = _WARNING
    return severity.value == _WARNING


def symbols(path: Path, names: tuple[str, ...]) -> Mapping[str, int]:
    """Returns the addresses of those of some symbols that the table of a 64-bit library has, relative to its base.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is empty.
        struct.error: It is cut off.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content[:5] == b"\x7fELF\x02":
            return _elf_symbols(content, names)
        if content[:4] == b"\xcf\xfa\xed\xfe":
            return _mach_o_symbols(content, tuple(f"_{name}" for name in names))
        return {}


def _elf_symbols(content: mmap.mmap, names: tuple[str, ...]) -> dict[str, int]:
    table, count = *struct.unpack_from("<Q", content, 0x28), *struct.unpack_from("<H", content, 0x3C)
    sections = [struct.unpack_from("<IIQQQQI", content, table + 64 * number) for number in range(count)]
    for _, kind, _, _, start, size, link in sections:
        if kind == 2:  # SHT_SYMTAB
            return _values(content, names, (start, size, 24, 8), sections[link][4:6])
    return {}


def _mach_o_symbols(content: mmap.mmap, names: tuple[str, ...]) -> dict[str, int]:
    (count,), place = struct.unpack_from("<I", content, 16), 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", content, place)
        if command == 2:  # LC_SYMTAB
            start, entries, strings, length = struct.unpack_from("<IIII", content, place + 8)
            values = _values(content, names, (start, entries * 16, 16, 8), (strings, length))
            return {name[1:]: value for name, value in values.items()}
        place += size
    return {}


def _values(
    content: mmap.mmap, names: tuple[str, ...], table: tuple[int, int, int, int], strings: tuple[int, int]
) -> dict[str, int]:
    """Returns the values of symbols in a table, whose entries begin with the place of their names.

    ``table``: the start, the bytes, the bytes of an entry, and the place of the value in it. ``strings``: the start and
    the bytes of the names.
    """
    (start, size, entry, value), (first, length) = table, strings
    values: dict[str, int] = {}
    for name in names:
        place = content.find(b"\0" + name.encode() + b"\0", first, first + length)
        wanted = struct.pack("<I", place + 1 - first) if place >= 0 else b""
        at = content.find(wanted, start, start + size) if wanted else -1
        while at >= 0 and (at - start) % entry:
            at = content.find(wanted, at + 1, start + size)
        if at >= 0:
            (values[name],) = struct.unpack_from("<Q", content, at + value)
    return values
