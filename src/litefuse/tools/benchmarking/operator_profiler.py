"""A profiler for XNNPACK: an object of the runtime's C++ class ``tflite::Profiler``, whose methods are in Python.

XNNPACK's delegate counts the time of its operators if the context of the subgraph has a profiler, and hands that the
times after each run. Source of the interface: ``tflite/core/api/profiler.h`` of LiteRT. The object begins with the
address of the table of its virtual methods, in the order of their declaration, behind two for the destructor, as in
the C++ ABI of Linux and macOS (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#vtable).
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int64, c_uint32, c_uint64, c_void_p
from typing import Any, Protocol

from litefuse.litert.runtime import abi

_DESTROY = ctypes.CFUNCTYPE(None, c_void_p)
_BEGIN = ctypes.CFUNCTYPE(c_uint32, c_void_p, c_char_p, c_int, c_int64, c_int64)
_END_WITH_DATA = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_int64, c_int64)
_END = ctypes.CFUNCTYPE(None, c_void_p, c_uint32)
_ADD = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_uint64, c_int64, c_int64)
_ADD_DATA = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_void_p)

# Profiler::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT
_OPERATOR = 1 << 3


class _Add(Protocol):
    """Takes the name of an operator, its microseconds, and its position in the partition."""

    def __call__(self, name: str, microseconds: int, position: int, /) -> None: ...


class OperatorProfiler:
    """Hears of the operators that a delegate has run.

    Args:
        add: Called for each operator, in the order in which they ran.

    Attributes:
        address: The address of the object in C++. It must outlive the interpreters that know it.
    """

    def __init__(self, add: _Add) -> None:
        def operator(_this: int, name: bytes | None, kind: int, metric: int, position: int, _more: int) -> None:
            if kind == _OPERATOR:
                add((name or b"").decode("utf-8", "replace"), metric, position)

        self._methods: tuple[Any, ...] = (
            _DESTROY(_nothing),
            _DESTROY(_nothing),
            _BEGIN(_zero),
            _END_WITH_DATA(_nothing),
            _END(_nothing),
            _ADD(operator),
            _ADD_DATA(_nothing),
        )
        self._table = (c_void_p * len(self._methods))(*map(abi.address_of, self._methods))
        self._object = (c_void_p * 1)(ctypes.addressof(self._table))
        self.address = ctypes.addressof(self._object)


def _nothing(*_: Any) -> None:
    pass


def _zero(*_: Any) -> int:
    return 0
